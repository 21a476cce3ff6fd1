package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
)

const (
	a = "aaaa-1"
	b = "bbbb-2"
)

func say(s string) adaptertest.FakeHook {
	return adaptertest.FakeHook{Session: s, CWD: "/home/dev/proj"}
}

func (w *world) register(name string, p core.Process, state string, sessions ...string) {
	w.t.Helper()
	r := adaptertest.FakeRecord{PID: p.PID, Start: p.Start, Final: true}
	for _, s := range sessions {
		r.Threads = append(r.Threads, adaptertest.FakeThread{Session: s, State: state})
	}
	if err := w.fake.Register(name, r); err != nil {
		w.t.Fatal(err)
	}
}

func TestOneSessionTwoRuns(t *testing.T) {
	inBubble(t, func(w *world) {
		p, q := w.proc(100), w.proc(200)
		w.hook("start", p, say(a))
		w.pass(3 * time.Second)
		w.want(a, core.StatusLive, "")
		h := say(a)
		h.Reason = "other"
		w.hook("end", p, h)
		w.table.Drop(100)
		w.pass(3 * time.Second)
		w.want(a, core.StatusEnded, "other")
		h.Source = "resume"
		w.hook("start", q, h)
		w.register("q", q, "idle", a)
		w.pass(8 * time.Second)
		w.want(a, core.StatusLive, "")
		runs := w.runs(a)
		if len(runs) != 2 || runs[0].Proc != p || runs[0].EndedAt == 0 || runs[1].Proc != q || runs[1].EndedAt != 0 {
			t.Errorf("runs = %+v", runs)
		}
	})
}

func TestCrashBecomesLost(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.hook("start", p, say(a))
		w.register("p", p, "working", a)
		w.pass(3 * time.Second)
		w.want(a, core.StatusLive, "")
		w.pass(time.Minute)
		w.table.Drop(100)
		w.pass(5 * time.Second)
		r := w.want(a, core.StatusLost, "process gone")
		if since := time.Since(r.EndedAt.Time()); since < time.Minute {
			t.Errorf("it ended at the poll (%v ago), not at its last activity", since)
		}
		h := say(a)
		h.Reason = "other"
		w.hook("end", p, h) // late
		w.pass(3 * time.Second)
		w.want(a, core.StatusLost, "other")
	})
}

func TestGoodbyeBeforeVanishing(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.hook("start", p, say(a))
		w.register("p", p, "idle", a)
		w.pass(6 * time.Second)
		h := say(a)
		h.Reason = "other"
		w.table.Drop(100)
		w.hook("end", p, h)
		w.pass(6 * time.Second)
		w.want(a, core.StatusEnded, "other")
	})
}

func TestDuplicateEventChangesNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		env := w.hook("start", p, say(a))
		w.register("p", p, "idle", a)
		w.pass(6 * time.Second)
		w.hook("end", p, say(a))
		w.table.Drop(100)
		w.pass(3 * time.Second)
		before := w.want(a, core.StatusEnded, "")
		w.write(env)
		w.pass(6 * time.Second)
		if after := w.want(a, core.StatusEnded, ""); after.LastSeen != before.LastSeen {
			t.Error("a duplicate moved the last activity")
		}
		if n := files(t, w.home.Inbox()); n != 0 {
			t.Errorf("%d files left in the inbox", n)
		}
	})
}

func TestStopBeforeStartIsOneRow(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.register("p", p, "idle", a)
		early := func(e *core.Envelope) { e.TS -= 500 }
		w.hook("stop", p, say(a), early)
		w.hook("start", p, say(a))
		w.pass(6 * time.Second)
		w.want(a, core.StatusLive, "")
		if n := w.e.Snapshot().Counts.All; n != 1 {
			t.Errorf("%d rows", n)
		}
		if runs := w.runs(a); len(runs) != 1 {
			t.Errorf("runs = %+v", runs)
		}
	})
}

func TestClearedAndSwitched(t *testing.T) {
	for name, told := range map[string]bool{"told by hooks": true, "seen by evidence alone": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				p := w.proc(100)
				w.hook("start", p, say(a))
				w.register("p", p, "idle", a)
				w.pass(6 * time.Second)
				reason := "replaced"
				if told {
					h := say(a)
					h.Reason, reason = "clear", "clear"
					w.hook("end", p, h)
					n := say(b)
					n.Source = "clear"
					w.hook("start", p, n, func(e *core.Envelope) { e.TS += 500 })
				}
				w.register("p", p, "idle", b)
				w.pass(6 * time.Second)
				first := w.want(a, core.StatusEnded, reason)
				if second := w.want(b, core.StatusLive, ""); second.Follows != first.ID {
					t.Errorf("second follows %q", second.Follows)
				}
			})
		})
	}
}

func TestNestedIsHidden(t *testing.T) {
	inBubble(t, func(w *world) {
		outer, inner := w.proc(100), w.proc(200)
		w.hook("start", inner, say(a), func(e *core.Envelope) {
			e.Ancestors = append(e.Ancestors,
				core.Ancestor{PID: 150, PPID: 100, Created: 1, Exe: "/bin/bash"},
				core.Ancestor{PID: outer.PID, PPID: 1, Created: outer.Start, Exe: "/opt/fake/fake-agent"})
		})
		w.register("i", inner, "working", a)
		w.pass(6 * time.Second)
		if r := w.want(a, core.StatusLive, ""); r.Hidden != core.HiddenNested {
			t.Errorf("hidden because %q", r.Hidden)
		}
		if c := w.e.Snapshot().Counts; c.Live != 0 || c.Hidden != 1 || c.All != 1 {
			t.Errorf("counts = %+v", c)
		}
	})
}

func TestRecycledPid(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.hook("start", p, say(a))
		w.register("p", p, "idle", a)
		w.pass(6 * time.Second)
		w.table.Drop(100)
		again := adaptertest.RecordedProc{Proc: core.Proc{PID: 100, PPID: 1, Start: 99999, State: 'S', Comm: "vim"}, Exe: "/usr/bin/vim"}
		w.table.Put(again)
		w.pass(6 * time.Second)
		w.want(a, core.StatusLost, "process gone")
		w.hook("stop", p, say(a))
		w.pass(20 * time.Second)
		w.want(a, core.StatusLost, "process gone")
	})
}

func TestAWholeSessionWithTheTowerDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.proc(100)
		for i, event := range []string{"start", "prompt", "stop", "end"} {
			h := say(a)
			h.Text, h.Reason = "do it", "other"
			w.hook(event, p, h, func(e *core.Envelope) { e.TS += core.Instant(i * 1000) })
		}
		w.table.Drop(100)
		w.start()
		defer func() { w.stop() }()
		w.pass(3 * time.Second)
		r := w.want(a, core.StatusEnded, "other")
		if r.FirstMessage != "do it" || len(w.runs(a)) != 1 {
			t.Errorf("row = %+v, runs %+v", r.Session, w.runs(a))
		}
		if n := files(t, w.home.Processed()); n != 4 {
			t.Errorf("%d files archived, want 4", n)
		}
	})
}

// A session that said goodbye stays ended by its own reason although its process and the record of it
// are there for some moments more, also when the tower is restarted in between.
func TestGoodbyeAcrossARestart(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.hook("start", p, say(a))
		w.register("p", p, "working", a)
		w.pass(6 * time.Second)
		h := say(a)
		h.Reason = "logout"
		w.hook("end", p, h)
		w.pass(3 * time.Second)
		w.want(a, core.StatusEnded, "logout")
		w.stop()
		w.start()
		w.pass(4 * time.Second)
		w.want(a, core.StatusEnded, "logout")
		w.table.Drop(100)
		w.pass(12 * time.Second)
		w.want(a, core.StatusEnded, "logout")
		if runs := w.runs(a); len(runs) != 1 {
			t.Errorf("runs = %+v, want one", runs)
		}
	})
}

func TestStateSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.start()
		p, q := w.proc(100), w.proc(200)
		w.hook("start", p, say(a))
		w.hook("start", q, say(b))
		w.register("p", p, "working", a)
		w.register("q", q, "working", b)
		w.pass(6 * time.Second)
		w.stop()
		w.table.Drop(200)
		w.start()
		defer func() { w.stop() }()
		w.pass(6 * time.Second)
		if r := w.want(a, core.StatusLive, ""); r.Live == nil || r.Live.Pill != core.PillWorking || !r.Live.Proven {
			t.Errorf("live = %+v", r.Live)
		}
		w.want(b, core.StatusLost, "process gone")
	})
}

func TestHostileFilesStopNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		for name, text := range map[string]string{
			"1700000000000-11111111-1111-4111-8111-111111111111.json": `{"v":1,"event_id":`,
			"1700000000001-11111111-1111-4111-8111-111111111112.json": `{"v":99,"event_id":"11111111-1111-4111-8111-111111111112"}`,
			"1700000000002-11111111-1111-4111-8111-111111111113.json": ``,
			"1700000000003-11111111-1111-4111-8111-111111111114.json": `[1,2]`,
		} {
			if err := os.WriteFile(filepath.Join(w.home.Inbox(), name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p := w.proc(100)
		w.register("p", p, "idle", a)
		w.hook("start", p, say(a))
		w.pass(10 * time.Second)
		w.want(a, core.StatusLive, "")
		s := w.e.Snapshot()
		if s.Health.BadFiles != 4 || files(t, w.home.Bad()) != 4 || files(t, w.home.Inbox()) != 0 {
			t.Errorf("bad files: %d told, %d moved, %d left", s.Health.BadFiles, files(t, w.home.Bad()), files(t, w.home.Inbox()))
		}
		if n := strings.Count(w.log.String(), "event file moved aside"); n != 4 {
			t.Errorf("%d log lines for 4 files", n)
		}
	})
}

// While nothing happens the revision stands still, whatever the loops do.
func TestRevisionRestsWhenNothingHappens(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.hook("start", p, say(a))
		w.register("p", p, "idle", a)
		w.pass(time.Minute)
		before := w.e.Snapshot().Revision
		w.pass(10 * time.Minute)
		if after := w.e.Snapshot().Revision; after != before {
			t.Errorf("revision went from %d to %d in ten idle minutes", before, after)
		}
	})
}

// A launch by evidence of a shared process: each thread ends by its own evidence.
func TestSharedThreads(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		record := func(sessions ...string) {
			r := adaptertest.FakeRecord{PID: p.PID, Start: p.Start, Shared: true, Final: true}
			for _, s := range sessions {
				r.Threads = append(r.Threads, adaptertest.FakeThread{Session: s, State: "idle"})
			}
			if err := w.fake.Register("daemon", r); err != nil {
				t.Fatal(err)
			}
		}
		record(a, b)
		w.pass(16 * time.Second)
		w.want(a, core.StatusLive, "")
		w.want(b, core.StatusLive, "")
		record(b)
		w.pass(6 * time.Second)
		w.want(a, core.StatusEnded, "unloaded")
		w.want(b, core.StatusLive, "")
		w.table.Drop(100)
		w.pass(6 * time.Second)
		w.want(b, core.StatusLost, "process gone")
	})
}

type panicking struct{ *adaptertest.Fake }

func (panicking) Evidence(context.Context, core.Table) ([]core.Sighting, error) { panic("no luck") }

func TestALoopThatPanicsIsSickAndTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancel(context.Background())
		o := w.options()
		o.Adapters = []core.Adapter{panicking{w.fake}}
		e, err := New(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		w.e = e
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		p := w.proc(100)
		w.hook("start", p, say(a))
		w.pass(6 * time.Second)
		for _, l := range e.Snapshot().Health.Loops {
			if l.Name == "poll" && !strings.Contains(l.Error, "no luck") {
				t.Errorf("poll says %q", l.Error)
			}
		}
		w.want(a, core.StatusLive, "") // the drain goes on, and unknown is not dead
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
