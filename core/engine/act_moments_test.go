package engine

import (
	"strings"
	"testing"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
	"tower/core/launch"
	"tower/core/term"
)

// TestLaunchAndAnOlderTable: a process that reports while a poll is under way is not called ended for
// want of a row in a table that was read before it began, nor is its launch forgotten.
func TestLaunchAndAnOlderTable(t *testing.T) {
	for _, preset := range []string{"", "n1"} {
		acting(t, func(t *testing.T, w *actWorld) {
			w.agent.preset = preset
			var argv []string
			table := w.e.o.Table
			w.e.o.Table = func() (core.Table, error) {
				if argv == nil {
					return table()
				}
				older := adaptertest.NewTable(boot)
				w.becomes(argv)
				argv = nil
				time.Sleep(10 * time.Millisecond) // other processes are read
				return older, nil
			}
			w.desk.report = func(s term.Spec) {
				argv = s.Argv
				wake(w.e.wakes.poll)
			}
			r, err := w.do(core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir})
			if err != nil {
				t.Fatal(err)
			}
			w.begins(r.Launch.Token, "n1")
			w.pass(6 * time.Second)
			w.want("n1", core.StatusLive, "")
			if got := w.runs("n1"); len(got) != 1 || got[0].LaunchToken != r.Launch.Token {
				t.Errorf("preset %q: runs %+v, want one of launch %s", preset, got, r.Launch.Token)
			}
		})
	}
}

// TestLauncherRunOnceMore: "it has been started before" is what the second run of a launcher says, and
// nothing about the first, which runs.
func TestLauncherRunOnceMore(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		r, err := w.do(core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir})
		if err != nil {
			t.Fatal(err)
		}
		again := w.proc(888)
		w.reports(launch.Report{Token: r.Launch.Token, Proc: again}, "This launch has been started before.")
		w.pass(time.Second)
		if l := w.e.Snapshot().Launches; len(l) != 1 || l[0].State != core.LaunchStarted {
			t.Errorf("launches %+v", l)
		}
		w.reports(launch.Report{Token: r.Launch.Token, Proc: r.Launch.Proc}, "It cannot be run.")
		w.pass(time.Second)
		if l := w.e.Snapshot().Launches; len(l) != 1 || l[0].State != core.LaunchFailed || l[0].Text != "It cannot be run." {
			t.Errorf("launches %+v", l)
		}
	})
}

// TestEndOfOneOfTwo: a session that two processes have open goes on in the other one. It stays on the
// list as what it is, so that it can be ended, too.
func TestEndOfOneOfTwo(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		other := w.proc(777)
		if err := w.fake.Register("b", adaptertest.FakeRecord{PID: 777, Start: other.Start, Final: true,
			Threads: []adaptertest.FakeThread{{Session: "s", State: "idle", CWD: w.dir}}}); err != nil {
			t.Fatal(err)
		}
		w.pass(6 * time.Second)
		shown := w.row("s").Live.Proc
		r, err := w.do(core.Command{Kind: core.CommandEnd, Session: id})
		if err != nil || r.End == nil || r.End.Ended || !strings.Contains(r.Said, "has the session open as well") {
			t.Fatalf("%+v, %v", r, err)
		}
		if core.Alive(w.table, shown) {
			t.Errorf("ended another process than %v, the one that is shown", shown)
		}
		w.pass(6 * time.Second)
		row := w.want("s", core.StatusLive, "")
		if row.Live == nil || !core.Alive(w.table, row.Live.Proc) {
			t.Errorf("live %+v", row.Live)
		}
		r, err = w.do(core.Command{Kind: core.CommandEnd, Session: id})
		if err != nil || !r.End.Ended {
			t.Fatalf("the other one: %+v, %v", r, err)
		}
		w.pass(6 * time.Second)
		w.want("s", core.StatusKilled, "ended by you")
	})
}
