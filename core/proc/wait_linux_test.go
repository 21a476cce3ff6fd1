package proc

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"tower/core"
)

func TestWait(t *testing.T) {
	for name, wait := range map[string]func(context.Context, core.Process) error{"pidfd": Wait, "table": waitTable} {
		t.Run(name, func(t *testing.T) {
			p, reap := sleeper(t)
			got := make(chan error, 1)
			go func() { got <- wait(t.Context(), p) }()
			select {
			case err := <-got:
				t.Fatalf("Wait = %v while the process runs", err)
			case <-time.After(3 * waitTick):
			}
			if err := Signal(p, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			// It is not waited for, so it ends as a zombie.
			select {
			case err := <-got:
				if err != nil {
					t.Errorf("Wait = %v, want nil", err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("Wait did not see the end")
			}
			for _, state := range []string{"a zombie", "a free pid"} {
				if err := wait(t.Context(), p); err != nil {
					t.Errorf("Wait for %s = %v, want nil", state, err)
				}
				reap()
			}
		})
	}
}

func TestWaitEnds(t *testing.T) {
	p, _ := sleeper(t)
	for name, wait := range map[string]func(context.Context, core.Process) error{"pidfd": Wait, "table": waitTable} {
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := wait(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: Wait = %v, want the deadline", name, err)
		}
		stop()
		if err := wait(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: Wait with an ended context = %v, want the deadline", name, err)
		}
	}
	if err := Signal(p, 0); err != nil {
		t.Errorf("waiting did something to the process: %v", err)
	}
}

func TestWaitForOthers(t *testing.T) {
	p, _ := sleeper(t)
	for name, c := range map[string]struct {
		change func(*core.Process)
		want   error
	}{
		"recycled pid":     {func(p *core.Process) { p.Start-- }, nil},
		"other boot":       {func(p *core.Process) { p.Boot = "00000000-0000-4000-8000-000000000000" }, nil},
		"unknown boot":     {func(p *core.Process) { p.Boot = "" }, ErrOther},
		"unreadable start": {func(p *core.Process) { p.Start = 0 }, ErrOther},
	} {
		asked := p
		c.change(&asked)
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		if err := Wait(ctx, asked); !errors.Is(err, c.want) {
			t.Errorf("%s: Wait = %v, want %v", name, err, c.want)
		}
		stop()
	}
}

// TestWaitLeavesNothing counts descriptors: one a call would fill the table of a tower that runs for weeks.
func TestWaitLeavesNothing(t *testing.T) {
	p, _ := sleeper(t)
	count := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	round := func() {
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		Wait(ctx, p)
		Signal(p, 0)
		wrong := p
		wrong.Start++
		Wait(t.Context(), wrong)
		Signal(wrong, 0)
	}
	round() // the poller's own
	before := count()
	for range 50 {
		round()
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors became %d", before, after)
	}
}
