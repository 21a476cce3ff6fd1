package engine

import (
	"context"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
)

func TestEnd(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		r, err := w.do(core.Command{Kind: core.CommandEnd, Session: id})
		if err != nil {
			t.Fatal(err)
		}
		if r.End == nil || !r.End.Ended || r.End.WindowClosed == nil || !*r.End.WindowClosed {
			t.Errorf("result %+v %+v", r, r.End)
		}
		if got := w.sent(); len(got) != 1 || got[0] != syscall.SIGTERM {
			t.Errorf("signals %v, want one SIGTERM", got)
		}
		w.want("s", core.StatusKilled, "ended by you")
		if w.row("s").Busy != "" || w.e.claims.Len() != 0 {
			t.Error("the claim is still there")
		}
		w.pass(20 * time.Second) // polls do not make it anything else
		w.want("s", core.StatusKilled, "ended by you")
		intents, err := w.e.db.Intents(context.Background(), 5)
		if err != nil || len(intents) != 1 || intents[0].Outcome != core.IntentDone || intents[0].AskedBy != "test" {
			t.Errorf("intents %+v, %v", intents, err)
		}
		w.stop() // nor does a restart
		w.start()
		w.pass(20 * time.Second)
		w.want("s", core.StatusKilled, "ended by you")
	})
}

// TestEndOfADeafOne: what did not end is live again, and only force is stronger.
func TestEndOfADeafOne(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		w.deaf = true
		began := time.Now()
		r, err := w.do(core.Command{Kind: core.CommandEnd, Session: id})
		if err != nil || r.End == nil || r.End.Ended || !strings.Contains(r.Said, "by force") {
			t.Fatalf("%+v, %v", r, err)
		}
		if took := time.Since(began); took < toDie || took > toDie+time.Second {
			t.Errorf("took %v, want about %v", took, toDie)
		}
		w.pass(6 * time.Second)
		w.want("s", core.StatusLive, "")
		if w.e.claims.Len() != 0 {
			t.Error("the claim is still there")
		}
		r, err = w.do(core.Command{Kind: core.CommandEnd, Session: id, Force: true})
		if err != nil || !r.End.Ended {
			t.Fatalf("%+v, %v", r, err)
		}
		if got := w.sent(); len(got) != 2 || got[1] != syscall.SIGKILL {
			t.Errorf("signals %v", got)
		}
		w.want("s", core.StatusKilled, "ended by you")
	})
}

// TestEndIsWrittenFirst: when the ledger takes nothing, nothing is signalled, and the row is as it was.
func TestEndIsWrittenFirst(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		w.sql("CREATE TRIGGER full BEFORE INSERT ON intents BEGIN SELECT abs(-9223372036854775808); END")
		_, err := w.do(core.Command{Kind: core.CommandEnd, Session: id})
		if err == nil {
			t.Fatal("ended without being written down")
		}
		if n := len(w.sent()); n != 0 {
			t.Errorf("%d signals", n)
		}
		w.pass(6 * time.Second)
		w.want("s", core.StatusLive, "")
	})
}

// TestProofIsMadeAgain: a process that became another between the proof and the signal gets none.
func TestProofIsMadeAgain(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		table := w.e.o.Table
		reads := 0
		w.e.o.Table = func() (core.Table, error) {
			if reads++; reads == 2 { // after the kill was written
				w.table.Put(adaptertest.RecordedProc{Proc: core.Proc{PID: agentPID, PPID: 1, Start: 9999}, Exe: "/opt/fake/fake-agent", Args: []string{"fake-agent"}})
			}
			return table()
		}
		_, err := w.do(core.Command{Kind: core.CommandEnd, Session: id})
		if err == nil {
			t.Fatal("not refused")
		}
		if n := len(w.sent()); n != 0 {
			t.Errorf("%d signals", n)
		}
	})
}

// TestDoubleClick: two ENDs at the same time are one END and one refusal.
func TestDoubleClick(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		w.deaf = true // so that the first is still at it
		var wg sync.WaitGroup
		results := make([]core.Result, 2)
		errs := make([]error, 2)
		for i := range 2 {
			wg.Go(func() { results[i], errs[i] = w.do(core.Command{Kind: core.CommandEnd, Session: id}) })
			w.pass(100 * time.Millisecond)
			if i == 0 && w.row("s").Busy != "ending" {
				t.Errorf("the row is %q, want ending", w.row("s").Busy)
			}
		}
		wg.Wait()
		if errs[0] != nil {
			t.Error(errs[0])
		}
		w.refused(errs[1], "Not ended.")
		if n := len(w.sent()); n != 1 {
			t.Errorf("%d signals, want 1", n)
		}
	})
}

// TestKillOfAFormerTower: a tower that died between writing and signalling leaves a session that reads
// as ended and runs; the next one takes that back.
func TestKillOfAFormerTower(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		err := w.e.post(context.Background(), func(ctx context.Context) error {
			s := w.e.picture.Session(id)
			if err := w.e.take(core.Event{Kind: core.EventKill, At: core.InstantOf(time.Now()), Agent: s.Agent, Native: s.Native}); err != nil {
				return err
			}
			return w.e.commit(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		w.stop()
		w.start()
		w.pass(5 * time.Second)
		w.want("s", core.StatusKilled, "ended by you") // it may still be dying
		w.pass(15 * time.Second)
		w.want("s", core.StatusLive, "")
	})
}
