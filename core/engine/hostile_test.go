package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
)

// with runs a test with the engine up over an adapter made from the fake.
func with(t *testing.T, wrap func(*adaptertest.Fake) core.Adapter, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.adapters = []core.Adapter{wrap(w.fake)}
		w.start()
		defer func() { w.stop() }()
		f(w)
	})
}

func at(year int) core.Instant {
	return core.InstantOf(time.Date(year, 12, 31, 23, 59, 59, 0, time.UTC))
}

// An instant that no honest clock tells moves nothing: neither first nor last activity, nor a day of
// the heat map.
func TestIncredibleInstants(t *testing.T) {
	for _, year := range []int{1, 1970, 2031, 9999, 250_000} {
		inBubble(t, func(w *world) {
			began := core.InstantOf(time.Now())
			p := w.proc(100)
			w.hook("start", p, say(a), func(e *core.Envelope) { e.TS = at(year) })
			r := adaptertest.FakeRecord{PID: p.PID, Start: p.Start, Final: true,
				Threads: []adaptertest.FakeThread{{Session: a, State: "working", Since: at(year)}}}
			if err := w.fake.Register("p", r); err != nil {
				t.Fatal(err)
			}
			w.pass(6 * time.Second)
			if s := w.row(a); s.LastSeen > core.InstantOf(time.Now()) || s.StartedAt < began {
				t.Errorf("year %d by a hook: from %v to %v", year, s.StartedAt, s.LastSeen)
			}
			err := w.fake.Write(
				adaptertest.FakeLine{Session: b, Type: "open", At: at(year), CWD: "/home/dev/proj"},
				adaptertest.FakeLine{Session: b, Type: "prompt", At: at(year), UID: "u1", Text: "x"},
				adaptertest.FakeLine{Session: b, Type: "prompt", At: began, UID: "u2", Text: "y"},
			)
			if err != nil {
				t.Fatal(err)
			}
			// The file is of the machine's time, which the fake clock of the test is far behind.
			touch(t, w.fake.Store(), time.Now())
			w.pass(16 * time.Minute)
			s := w.row(b)
			if s.LastSeen > core.InstantOf(time.Now()) || s.StartedAt != 0 && s.StartedAt < began {
				t.Errorf("year %d by a transcript: from %v to %v", year, s.StartedAt, s.LastSeen)
			}
			if s.Turns == nil || *s.Turns != 2 {
				t.Errorf("turns = %v, want 2: they happened, whenever that was", s.Turns)
			}
			if h := w.e.Heat(); len(h) != 1 || h[0].Turns != 1 || h[0].Day != began.String()[:10] {
				t.Errorf("year %d: heat = %+v", year, h)
			}
		})
	}
}

// A machine whose clock was wound back believes the dates of the files that were written before.
func TestClockWoundBack(t *testing.T) {
	inBubble(t, func(w *world) {
		then := core.InstantOf(time.Now().AddDate(3, 0, 0))
		if err := w.fake.Write(adaptertest.FakeLine{Session: b, Type: "open", At: then}, adaptertest.FakeLine{Session: b, Type: "prompt", At: then, UID: "u"},
			adaptertest.FakeLine{Session: b, Type: "prompt", At: then, UID: "v"}); err != nil {
			t.Fatal(err)
		}
		touch(t, w.fake.Store(), then.Time())
		w.pass(16 * time.Minute)
		if s := w.row(b); s.LastSeen != then || len(w.e.Heat()) != 1 {
			t.Errorf("last activity = %v, heat = %v, want %v", s.LastSeen, w.e.Heat(), then)
		}
	})
}

// What no agent's adapter understands is neither lost nor in the way.
func TestEventsNobodyUnderstands(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.hook("start", p, say(""))
		w.hook("start", p, say(b), func(e *core.Envelope) { e.Agent = "nobody" })
		w.hook("start", p, say(strings.Repeat("x", 10_000)))
		w.hook("start", p, say(a))
		w.pass(6 * time.Second)
		w.want(a, core.StatusLive, "")
		if n := w.e.Snapshot().Health.BadFiles; n != 3 || files(t, w.home.Bad()) != 3 || files(t, w.home.Inbox()) != 0 {
			t.Errorf("bad files: %d told, %d moved, %d left", n, files(t, w.home.Bad()), files(t, w.home.Inbox()))
		}
		if n := len(w.e.Snapshot().Rows); n != 1 {
			t.Errorf("%d sessions, want 1", n)
		}
	})
}

// A tower that is told to end in the middle of its first import has nothing to complain of.
func TestAnOrderlyEndIsNoSickness(t *testing.T) {
	for i := range 20 {
		inBubble(t, func(w *world) {
			w.hook("start", w.proc(100), say(a))
			time.Sleep(time.Duration(i) * time.Microsecond)
			w.stop()
			if strings.Contains(w.log.String(), "sick") {
				t.Errorf("the log says %s", w.log)
			}
		})
	}
}

// What faces show of a session is bounded, whatever told it.
func TestForeignWordsAreBounded(t *testing.T) {
	inBubble(t, func(w *world) {
		long := strings.Repeat("ä\x1b[2J\n", 100_000)
		h := say(a)
		h.CWD, h.Model = "/"+long, long
		w.hook("start", w.proc(100), h)
		h.Text = long
		w.hook("prompt", w.proc(100), h)
		w.pass(6 * time.Second)
		s := w.row(a).Session
		if s.CWD != "" {
			t.Errorf("a folder of %d bytes", len(s.CWD))
		}
		if len(s.Model) > maxWord || strings.ContainsAny(s.Model, "\x1b\n") || len(s.FirstMessage) > maxText || s.FirstMessage == "" {
			t.Errorf("model of %d bytes, first message of %d", len(s.Model), len(s.FirstMessage))
		}
	})
}

// Who changed a session and looks at once sees the change, also while an import moves everything.
func TestAChangeIsSeenAtOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.hook("start", p, say(a))
		w.pass(6 * time.Second)
		w.e.health.setProgress(core.Progress{Running: true})
		for _, name := range []string{"one", "two", "three"} {
			if _, err := w.e.Do(context.Background(), core.Command{Kind: core.CommandRename, Session: core.NewSessionID(adaptertest.FakeName, a), Text: name}); err != nil {
				t.Fatal(err)
			}
			if got := w.row(a).Name; got != name {
				t.Errorf("renamed to %q, the next look says %q", name, got)
			}
		}
	})
}

// poison decodes an event that the reducer cannot take.
type poison struct{ *adaptertest.Fake }

func (p poison) Decode(env core.Envelope) (core.Event, error) {
	e, err := p.Fake.Decode(env)
	if env.Event == "poison" {
		e.Kind = core.EventSeen // without a sighting
	}
	return e, err
}

func TestAPoisonousEventIsPutAside(t *testing.T) {
	with(t, func(f *adaptertest.Fake) core.Adapter { return poison{f} }, func(w *world) {
		p := w.proc(100)
		w.hook("poison", p, say(b))
		w.hook("start", p, say(a))
		w.pass(6 * time.Second)
		w.want(a, core.StatusLive, "")
		if n := files(t, w.home.Bad()); n != 1 || files(t, w.home.Inbox()) != 0 {
			t.Errorf("%d files put aside, %d left\n%s", n, files(t, w.home.Inbox()), w.log)
		}
	})
}

// A panic in the owner is that of the loop whose errand it was.
func TestThePanicOfAnErrandIsThePosters(t *testing.T) {
	inBubble(t, func(w *world) {
		err := guarded(context.Background(), func(ctx context.Context) error {
			return w.e.post(ctx, func(context.Context) error { panic("no luck") })
		})
		if err == nil || !strings.Contains(err.Error(), "no luck") {
			t.Errorf("posted panic = %v", err)
		}
		w.hook("start", w.proc(100), say(a))
		w.pass(6 * time.Second)
		w.want(a, core.StatusLive, "")
	})
}

// hanging never comes back from a look, whatever its context says, until the test lets it go.
type hanging struct {
	*adaptertest.Fake
	gate chan struct{}
}

func (h hanging) Evidence(context.Context, core.Table) ([]core.Sighting, error) {
	<-h.gate
	return nil, errors.New("let go")
}

func TestALoopThatHangsIsToldAndLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, gate := newWorld(t), make(chan struct{})
		w.adapters = []core.Adapter{hanging{w.fake, gate}}
		ctx, cancel := context.WithCancel(context.Background())
		e, err := New(ctx, w.options())
		if err != nil {
			t.Fatal(err)
		}
		w.e = e
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		w.hook("start", w.proc(100), say(a))
		w.pass(2 * time.Minute)
		w.want(a, core.StatusLive, "")
		for _, l := range e.Snapshot().Health.Loops {
			if hangs := l.Name == "poll"; hangs != strings.Contains(l.Behind, "waits for an answer") {
				t.Errorf("loop %s is behind: %q", l.Name, l.Behind)
			}
		}
		cancel()
		if err := <-done; err == nil || !strings.Contains(err.Error(), "poll did not come back") {
			t.Errorf("Run = %v", err)
		}
		close(gate)
	})
}

// While the ledger refuses, nothing is read that could only wait in memory.
func TestWhatWaitsForTheLedgerIsBounded(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		turn := func() {
			now := core.InstantOf(time.Now())
			r := adaptertest.FakeRecord{PID: p.PID, Start: p.Start, Final: true,
				Threads: []adaptertest.FakeThread{{Session: a, State: "idle", Since: now}}}
			line := adaptertest.FakeLine{Session: a, Type: "prompt", At: now, UID: core.UUID4()}
			if err := errors.Join(w.fake.Register("p", r), w.fake.Write(line)); err != nil {
				t.Fatal(err)
			}
		}
		turn()
		w.pass(16 * time.Minute)
		w.sql("CREATE TRIGGER refuse BEFORE INSERT ON sessions BEGIN SELECT abs(-9223372036854775808); END")
		for range 199 {
			turn()
			w.pass(31 * time.Second)
		}
		var sessions, turns int
		err := w.e.post(context.Background(), func(context.Context) error {
			sessions, turns = len(w.e.pending.Sessions), len(w.e.pending.Turns)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if sessions > 1 || turns > 1 {
			t.Errorf("%d sessions and %d batches of turns wait, want one of each at the most", sessions, turns)
		}
		w.sql("DROP TRIGGER refuse")
		w.pass(31 * time.Minute)
		if s := w.row(a); s.Turns == nil || *s.Turns != 200 {
			t.Errorf("turns = %v, want 200", s.Turns)
		}
	})
}
