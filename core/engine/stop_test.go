package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tower/core"
)

// Whoever asks a stopped engine is told so; nobody waits for an owner who is gone. Under a fake clock
// a call that never returned would be a deadlock.
func TestAskingAStoppedEngine(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.hook("start", p, say(a))
		w.pass(3 * time.Second)
		id := w.row(a).ID
		w.stop()
		ctx := context.Background()
		if _, err := w.e.Do(ctx, core.Command{Kind: core.CommandRename, Session: id, Text: "x"}); !errors.Is(err, errStopped) {
			t.Errorf("rename: %v", err)
		}
		_, _ = w.e.Do(ctx, core.Command{Kind: core.CommandImport}) // returns, which is all
		if err := w.e.Set("k", "v"); !errors.Is(err, errStopped) {
			t.Errorf("set: %v", err)
		}
		if _, err := w.e.Detail(ctx, id); err == nil {
			t.Error("detail: no error")
		}
	})
}

// Before Run nobody serves either: a setting gives up instead of waiting for ever.
func TestSetBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		e, err := New(context.Background(), w.options())
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Set("k", "v"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("set: %v", err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What panics on the owner is the asker's error, and the owner serves the next.
func TestAPanicIsTheAskersError(t *testing.T) {
	inBubble(t, func(w *world) {
		ctx := context.Background()
		if err := w.e.post(ctx, func(context.Context) error { panic("no luck") }); err == nil || !strings.Contains(err.Error(), "no luck") {
			t.Errorf("post = %v", err)
		}
		if err := w.e.Set("k", "v"); err != nil {
			t.Errorf("after a panic: %v", err)
		}
	})
}

// A stop does not wait for an import, nor for who waits for that import.
func TestStopInTheMiddleOfAnImport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		l := newLibrary(w)
		l.slow = time.Minute
		for i := range 50 {
			l.put(fmt.Sprint(i), 10, told(fmt.Sprint(i), 2))
		}
		w.start()
		w.pass(90 * time.Second)
		if p := w.e.Snapshot().Import; !p.Running || !p.First || p.Total != 50 || p.Done == 0 {
			t.Errorf("progress = %+v", p)
		}
		second := make(chan error, 1)
		go func() {
			_, err := w.e.Do(context.Background(), core.Command{Kind: core.CommandImport})
			second <- err
		}()
		synctest.Wait()
		before := time.Now()
		w.stop()
		if took := time.Since(before); took > time.Second {
			t.Errorf("the stop took %v", took)
		}
		if err := <-second; err == nil {
			t.Error("an import during the stop claims to be done")
		}
		if w.e.Snapshot().Import.Running {
			t.Error("the import still shows")
		}
		l.slow = 0
		w.start()
		defer func() { w.stop() }()
		w.pass(3 * time.Second)
		if n := w.e.Snapshot().Counts.All; n != 50 {
			t.Errorf("%d sessions after the next start, want 50", n)
		}
	})
}

func TestWaitAndMoved(t *testing.T) {
	inBubble(t, func(w *world) {
		w.pass(3 * time.Second)
		first := w.e.Snapshot().Revision
		if s := w.e.Wait(context.Background(), first-1); s.Revision != first {
			t.Errorf("Wait for what is there returned revision %d, want %d", s.Revision, first)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if s := w.e.Wait(ctx, first); s.Revision != first || ctx.Err() == nil {
			t.Errorf("Wait returned revision %d before its time, want %d at the end of it", s.Revision, first)
		}
		moved, got := w.e.Moved(), make(chan int64, 3)
		for range cap(got) {
			go func() { got <- w.e.Wait(context.Background(), first).Revision }()
		}
		synctest.Wait()
		p := w.proc(100)
		w.hook("start", p, say(a))
		w.pass(3 * time.Second)
		select {
		case <-moved:
		default:
			t.Error("Moved did not tell")
		}
		for range cap(got) {
			if r := <-got; r <= first {
				t.Errorf("a waiter woke at revision %d", r)
			}
		}
	})
}

// Whoever was told that a command is done finds it in the next Snapshot, without waiting for one.
func TestACommandShowsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		l := newLibrary(w)
		w.start()
		defer func() { w.stop() }()
		w.pass(time.Second)
		l.put("t", 10, told(a, 2))
		if _, err := w.e.Do(context.Background(), core.Command{Kind: core.CommandImport}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"one", "two", "three"} {
			if _, err := w.e.Do(context.Background(), core.Command{Kind: core.CommandRename, Session: w.row(a).ID, Text: name}); err != nil {
				t.Fatal(err)
			}
			if got := w.row(a).TitleText; got != name {
				t.Errorf("after a rename to %q the row is called %q", name, got)
			}
		}
	})
}

// A session of an agent that is configured no more stays listed; nobody can say how to take it up.
func TestAgentThatIsNoLongerConfigured(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.hook("start", p, say(a))
		w.pass(3 * time.Second)
		id := w.row(a).ID
		if l, err := w.e.ResumeCommand(context.Background(), id); err != nil || len(l.Argv) == 0 {
			t.Errorf("resume = %+v, %v", l, err)
		}
		w.stop()
		w.adapters = nil
		w.start()
		w.pass(6 * time.Second)
		w.row(a)
		var refused *core.Refusal
		if _, err := w.e.ResumeCommand(context.Background(), id); !errors.As(err, &refused) {
			t.Errorf("resume without its adapter = %v", err)
		}
	})
}

func TestSettingsSurviveARestart(t *testing.T) {
	inBubble(t, func(w *world) {
		if _, ok := w.e.Get("k"); ok {
			t.Error("a setting nobody made")
		}
		for _, v := range []string{"one", "two"} {
			if err := w.e.Set("k", v); err != nil {
				t.Fatal(err)
			}
		}
		w.stop()
		w.start()
		if v, ok := w.e.Get("k"); !ok || v != "two" {
			t.Errorf("k = %q, %v", v, ok)
		}
	})
}

// What is older than the person wants is removed; what another hand laid there is not.
func TestRetention(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.hook("start", p, say(a))
		w.pass(3 * time.Second)
		day := func(ago int) string {
			return filepath.Join(w.home.Processed(), time.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly))
		}
		if err := os.WriteFile(filepath.Join(day(0), "notes.json"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct{ from, to, want int }{{0, 13, 2}, {13, 15, 1}} {
			if err := os.Rename(day(step.from), day(step.to)); err != nil {
				t.Fatal(err)
			}
			w.pass(6*time.Hour + time.Minute)
			if n := files(t, w.home.Processed()); n != step.want {
				t.Errorf("%d files kept of %d days ago, want %d", n, step.to, step.want)
			}
		}
	})
}

// An event of an agent nobody knows, or that names no session, is moved aside and counted; it is
// neither archived as if it had been applied nor does it stop the others.
func TestForeignEventsAreCounted(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.proc(100)
		w.hook("start", p, say(b), func(e *core.Envelope) { e.Agent = "stranger" })
		w.hook("start", p, say(""), func(e *core.Envelope) { e.AgentSessionID, e.ASMID = nil, nil })
		w.hook("start", p, say(a))
		w.pass(3 * time.Second)
		w.row(a)
		if n := w.e.Snapshot().Health.BadFiles; n != 2 || files(t, w.home.Bad()) != 2 || files(t, w.home.Processed()) != 1 || files(t, w.home.Inbox()) != 0 {
			t.Errorf("%d told, %d moved aside, %d archived, %d left\n%s", n, files(t, w.home.Bad()), files(t, w.home.Processed()), files(t, w.home.Inbox()), w.log)
		}
		for _, want := range []string{`no agent \"stranger\" is known`, "names no session"} {
			if strings.Count(w.log.String(), want) != 1 {
				t.Errorf("the log does not say once %s:\n%s", want, w.log)
			}
		}
	})
}
