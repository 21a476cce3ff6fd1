package proc

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"tower/core"
)

func procOf(t *testing.T, pid int) core.Process {
	t.Helper()
	start, ok := Start(pid)
	if !ok {
		t.Fatalf("Start(%d) is unknown", pid)
	}
	return core.Process{Boot: Boot(), PID: pid, Start: start}
}

// sleeper starts a process that a signal ends; it is a zombie until reap waits for it.
func sleeper(t *testing.T) (p core.Process, reap func() *os.ProcessState) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reap = sync.OnceValue(func() *os.ProcessState {
		cmd.Wait()
		return cmd.ProcessState
	})
	t.Cleanup(func() { cmd.Process.Kill(); reap() })
	return procOf(t, cmd.Process.Pid), reap
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never %s", what)
		}
	}
}

func state(pid int) byte { r, _ := row(pid); return r.State }

func signalOf(s *os.ProcessState) syscall.Signal { return s.Sys().(syscall.WaitStatus).Signal() }

// ways are the two ways of signalling: with a descriptor, and what an old kernel leaves.
var ways = map[string]func(core.Process, syscall.Signal) error{
	"pidfd": Signal,
	"kill":  proveAndKill,
}

func TestSignal(t *testing.T) {
	for name, send := range ways {
		t.Run(name, func(t *testing.T) {
			p, reap := sleeper(t)
			if err := send(p, syscall.SIGTERM); err != nil {
				t.Fatalf("Signal = %v, want nil", err)
			}
			if got := signalOf(reap()); got != syscall.SIGTERM {
				t.Errorf("the child ended by %v, want SIGTERM", got)
			}
			if err := send(p, syscall.SIGTERM); !errors.Is(err, ErrGone) {
				t.Errorf("Signal to a pid that is free = %v, want ErrGone", err)
			}
		})
	}
}

// TestSignalRefuses shows every refusal with a process that would die of the signal and does not.
func TestSignalRefuses(t *testing.T) {
	alter := map[string]struct {
		change func(*core.Process)
		want   error
	}{
		"recycled pid":     {func(p *core.Process) { p.Start-- }, ErrOther},
		"younger start":    {func(p *core.Process) { p.Start++ }, ErrOther},
		"other boot":       {func(p *core.Process) { p.Boot = "00000000-0000-4000-8000-000000000000" }, ErrOther},
		"unknown boot":     {func(p *core.Process) { p.Boot = "" }, ErrOther},
		"unreadable start": {func(p *core.Process) { p.Start = 0 }, ErrOther},
		"no pid":           {func(p *core.Process) { p.PID = 0 }, ErrOther},
		"own group":        {func(p *core.Process) { p.PID = -p.PID }, ErrOther},
	}
	for name, c := range alter {
		t.Run(name, func(t *testing.T) {
			p, reap := sleeper(t)
			asked := p
			c.change(&asked)
			if err := Signal(asked, syscall.SIGKILL); !errors.Is(err, c.want) {
				t.Fatalf("Signal(%+v) = %v, want %v", asked, err, c.want)
			}
			if asked.PID > 0 && asked.Boot == p.Boot && asked.Known() {
				if err := proveAndKill(asked, syscall.SIGKILL); !errors.Is(err, c.want) {
					t.Fatalf("proveAndKill(%+v) = %v, want %v", asked, err, c.want)
				}
			}
			// A SIGKILL that is on its way would win.
			if err := Signal(p, syscall.SIGTERM); err != nil {
				t.Errorf("the process does not run any more: %v", err)
			} else if got := signalOf(reap()); got != syscall.SIGTERM {
				t.Errorf("the process ended by %v, want SIGTERM", got)
			}
		})
	}
}

func TestSignalZombie(t *testing.T) {
	for name, send := range ways {
		t.Run(name, func(t *testing.T) {
			p, _ := sleeper(t)
			if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			until(t, "a zombie", func() bool { return state(p.PID) == 'Z' })
			if err := syscall.Kill(p.PID, 0); err != nil {
				t.Fatalf("kill(0) says %v: that it passes is the point here", err)
			}
			if err := send(p, syscall.SIGTERM); !errors.Is(err, ErrGone) {
				t.Errorf("Signal = %v, want ErrGone", err)
			}
		})
	}
}

func TestSignalStopped(t *testing.T) {
	p, reap := sleeper(t)
	if err := Signal(p, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "stopped", func() bool { return state(p.PID) == 'T' })
	if err := Signal(p, syscall.SIGKILL); err != nil {
		t.Fatalf("Signal to a stopped process = %v, want nil", err)
	}
	if got := signalOf(reap()); got != syscall.SIGKILL {
		t.Errorf("the child ended by %v, want SIGKILL", got)
	}
}

// TestSignalForbidden asks for the system's own no: a process of somebody else.
func TestSignalForbidden(t *testing.T) {
	if os.Geteuid() != 0 {
		if err := Signal(procOf(t, 1), 0); errors.Is(err, ErrGone) || err == nil {
			t.Errorf("Signal to the process of root = %v, want the system's refusal", err)
		}
		return
	}
	t.Skip("root may signal everybody")
}

// TestSignalRace signals processes that are ending just then. Nothing but nil and ErrGone may come.
func TestSignalRace(t *testing.T) {
	for range 100 {
		cmd := exec.Command("true")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		p := procOf(t, cmd.Process.Pid)
		waited := make(chan struct{})
		go func() { cmd.Wait(); close(waited) }()
		for running := true; running; {
			for name, send := range ways {
				if err := send(p, syscall.SIGCONT); err != nil && !errors.Is(err, ErrGone) {
					t.Fatalf("%s: Signal = %v, want nil or ErrGone", name, err)
				}
			}
			select {
			case <-waited:
				running = false
			default:
			}
		}
	}
}

// TestSignalRecycled gives the pid of a process that has ended to another one for real.
func TestSignalRecycled(t *testing.T) {
	const last = "/proc/sys/kernel/ns_last_pid"
	for range 20 {
		p, reap := sleeper(t)
		if err := Signal(p, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		reap()
		tick(t) // so that the heir starts later
		if err := os.WriteFile(last, []byte(strconv.Itoa(p.PID-1)), 0); err != nil {
			t.Skipf("pids cannot be chosen here: %v", err)
		}
		heir, end := sleeper(t)
		if heir.PID != p.PID {
			continue // somebody else was faster
		}
		if err := Wait(t.Context(), p); err != nil {
			t.Errorf("Wait for the former = %v, want nil", err)
		}
		for name, send := range ways {
			if err := send(p, syscall.SIGKILL); !errors.Is(err, ErrOther) {
				t.Errorf("%s: Signal = %v, want ErrOther", name, err)
			}
		}
		if err := Signal(heir, syscall.SIGTERM); err != nil {
			t.Errorf("the heir of the pid was hit: %v", err)
		} else if got := signalOf(end()); got != syscall.SIGTERM {
			t.Errorf("the heir of the pid ended by %v, want SIGTERM", got)
		}
		return
	}
	t.Skip("the pid was never given to us again")
}

// tick waits until processes get another start.
func tick(t *testing.T) {
	t.Helper()
	first := uint64(0)
	until(t, "a tick later", func() bool {
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		start, ok := Start(cmd.Process.Pid)
		cmd.Process.Kill()
		cmd.Wait()
		if first == 0 {
			first = start
		}
		return ok && start > first
	})
}
