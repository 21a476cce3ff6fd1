package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tower/core"
)

// A ledger that refuses writes makes its loop sick; nothing is lost and all of it is caught up.
func TestLedgerCatchesUp(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.register("p", p, "idle", a)
		w.pass(time.Second)
		w.sql("CREATE TRIGGER refuse BEFORE INSERT ON sessions BEGIN SELECT abs(-9223372036854775808); END")
		w.hook("start", p, say(a))
		w.pass(8 * time.Second)
		sick := func() string {
			for _, l := range w.e.Snapshot().Health.Loops {
				if l.Name == "ledger" {
					return l.Error
				}
			}
			return ""
		}
		if sick() == "" {
			t.Error("the refused write shows nowhere")
		}
		w.want(a, core.StatusLive, "") // faces know it all the same
		if n := files(t, w.home.Inbox()); n != 1 {
			t.Errorf("%d files in the inbox while the ledger refuses, want 1", n)
		}
		w.sql("DROP TRIGGER refuse")
		w.pass(8 * time.Second)
		if s := sick(); s != "" {
			t.Errorf("still sick: %s", s)
		}
		if runs := w.runs(a); len(runs) != 1 || files(t, w.home.Inbox()) != 0 {
			t.Errorf("runs %+v, %d files left", runs, files(t, w.home.Inbox()))
		}
	})
}

// A write that can never be kept is told and left out; it holds up no other.
func TestRefusedWriteHoldsUpNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		w.pass(time.Second)
		w.sql("CREATE TRIGGER refuse BEFORE INSERT ON sessions WHEN NEW.agent_session_id = '" + a + "' BEGIN SELECT RAISE(FAIL, 'never'); END")
		p, q := w.proc(100), w.proc(200)
		w.register("p", p, "idle", a)
		w.register("q", q, "idle", b)
		w.hook("start", p, say(a))
		w.hook("start", q, say(b))
		w.pass(8 * time.Second)
		if runs := w.runs(b); len(runs) != 1 || files(t, w.home.Inbox()) != 0 {
			t.Errorf("runs of the other session: %+v, %d files left", runs, files(t, w.home.Inbox()))
		}
		told := false
		for _, x := range w.e.Snapshot().Health.Problems {
			told = told || x.ID == "refused write" && strings.Contains(x.Text, "never")
		}
		if !told {
			t.Errorf("problems = %+v", w.e.Snapshot().Health.Problems)
		}
	})
}

// What the ledger refused is kept in memory, tried once more at the end, and not lost by a stop.
func TestStopWithWritesPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.start()
		w.pass(time.Second)
		w.sql("CREATE TRIGGER refuse BEFORE INSERT ON sessions BEGIN SELECT abs(-9223372036854775808); END")
		p := w.proc(100)
		w.register("p", p, "idle", a)
		w.hook("start", p, say(a))
		w.pass(3 * time.Second)
		w.want(a, core.StatusLive, "")
		w.sql("DROP TRIGGER refuse")
		w.stop()
		w.start()
		defer func() { w.stop() }()
		w.want(a, core.StatusLive, "") // from the ledger, before any loop ran
		w.pass(6 * time.Second)
		if runs := w.runs(a); len(runs) != 1 || files(t, w.home.Inbox()) != 0 {
			t.Errorf("runs %+v, %d files left", runs, files(t, w.home.Inbox()))
		}
	})
}
