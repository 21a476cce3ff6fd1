//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"tower/core"
)

// atOnce is what is promised for a process that vanishes: the kernel tells the tower of its end.
const atOnce = time.Second

// gone waits for the end of a process, looking often enough that what is measured from here on is
// the tower's delay.
func gone(t *testing.T, p process) {
	t.Helper()
	began := time.Now()
	for p.alive() {
		if time.Since(began) > time.Duration(20*patience)*time.Second {
			t.Fatalf("process %d does not end\n%s", p.pid, describe())
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// busyClaude opens Claude Code and gives it one turn, so that the session is worth counting.
func busyClaude(t *testing.T, w *tower, folder string) *claudeSession {
	t.Helper()
	st.anthropic.hold.open()
	c := st.openClaude(t, st.folder(folder))
	c.ready(t)
	ask(t, w, c.terminal, c.native, "DOWORK please")
	until(t, 20*time.Second, "Claude Code's Stop", func() bool { return len(w.event(c.native, "Stop")) > 0 })
	// It writes a little later than it tells, and what it never wrote nobody can count.
	until(t, 20*time.Second, "the prompt in Claude Code's transcript", func() bool { return c.wrote("DOWORK please") })
	c.ready(t)
	return c
}

// busyCodex is the same of Codex.
func busyCodex(t *testing.T, w *tower, folder string, args ...string) *codexSession {
	t.Helper()
	st.openai.hold.open()
	c := st.openCodex(t, st.folder(folder), args...)
	c.ready(t)
	ask(t, w, c.terminal, c.native, "DOWORK please")
	until(t, 20*time.Second, "Codex's Stop", func() bool { return len(w.event(c.native, "Stop")) > 0 })
	return c
}

func claudeKilled(t *testing.T) {
	w := serving(t)
	c := busyClaude(t, w, "ends")
	w.becomes(t, soon, claudeAgent, c.native, "idle", pill(core.PillIdle, ""))
	if err := syscall.Kill(c.proc.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, c.proc)
	row := w.becomes(t, atOnce, claudeAgent, c.native, "lost after SIGKILL", status(core.StatusLost))
	if row.Live != nil {
		t.Errorf("a lost session is still drawn as live: %+v", row.Live)
	}
}

func claudeClosed(t *testing.T) {
	w := serving(t)
	c := busyClaude(t, w, "ends")
	w.becomes(t, soon, claudeAgent, c.native, "idle", pill(core.PillIdle, ""))
	c.closePane(t)
	gone(t, c.proc)
	row := w.becomes(t, soon, claudeAgent, c.native, "ended after its window", func(r core.Row) bool { return r.Status.Over() })
	if row.Status != core.StatusEnded || row.EndReason != "other" {
		t.Errorf("the session is %s for %q, want ended for other", row.Status, row.EndReason)
	}
}

func codexKilled(t *testing.T) {
	w := serving(t)
	c := busyCodex(t, w, "ends", noDaemon)
	w.becomes(t, soon, codexAgent, c.native, "idle", pill(core.PillIdle, ""))
	if err := syscall.Kill(c.proc.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, c.proc)
	w.becomes(t, atOnce, codexAgent, c.native, "lost after SIGKILL", status(core.StatusLost))
}

func codexClosed(t *testing.T) {
	w := serving(t)
	c := busyCodex(t, w, "ends", noDaemon)
	w.becomes(t, soon, codexAgent, c.native, "idle", pill(core.PillIdle, ""))
	c.closePane(t)
	gone(t, c.proc)
	w.becomes(t, atOnce, codexAgent, c.native, "lost after its window", status(core.StatusLost))
}

// codexDaemon closes the window over a thread that the shared daemon owns: the thread lives on, and so
// must its row, until the daemon lets go of the thread's lock about a minute later.
func codexDaemon(t *testing.T) {
	w := serving(t)
	c := busyCodex(t, w, "daemon")
	if c.proc == c.first {
		t.Fatalf("the thread belongs to the window's own process %d: no daemon was started", c.proc.pid)
	}
	row := w.becomes(t, soon, codexAgent, c.native, "idle in the daemon", pill(core.PillIdle, ""))
	if !row.Live.Shared || row.Live.Proc.PID != c.proc.pid {
		t.Errorf("the thread's process is %d (shared %v), want the daemon's %d, shared", row.Live.Proc.PID, row.Live.Shared, c.proc.pid)
	}
	c.closePane(t)
	gone(t, c.first)
	lock := st.codexLock(c.native)
	began, looks := time.Now(), 0
	for {
		before, held := holder(lock)
		if !held {
			break
		}
		r, _ := w.row(t, codexAgent, c.native)
		// A row read while the lock was let go proves nothing.
		if after, still := holder(lock); still && after == before {
			looks++
			if r.Status != core.StatusLive {
				t.Fatalf("after %.1f s without a window the thread is %s, and its lock is held", time.Since(began).Seconds(), r.Status)
			}
		}
		if time.Since(began) > 4*time.Minute {
			t.Fatal("the daemon keeps the thread's lock for ever")
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Logf("live without a window for %.0f s, looked at %d times", time.Since(began).Seconds(), looks)
	if looks < 10 {
		t.Errorf("the thread was looked at only %d times without a window", looks)
	}
	w.becomes(t, soon, codexAgent, c.native, "over when its lock went", func(r core.Row) bool { return r.Status.Over() })
	if !c.proc.alive() {
		t.Error("the daemon itself is gone: this was not the end of a thread")
	}
}

// towerDown lets whole sessions happen while no tower runs, and starts it afterwards.
func towerDown(t *testing.T) {
	w := serving(t)
	w.stop(t)
	if _, stderr, code := w.run("status", "--json"); code != 4 {
		t.Errorf("status without a tower: exit %d, want 4\n%s", code, stderr)
	}

	quit := busyClaude(t, w, "down")
	quit.slash(t, "exit")
	gone(t, quit.proc)
	killed := busyClaude(t, w, "down")
	syscall.Kill(killed.proc.pid, syscall.SIGKILL)
	gone(t, killed.proc)
	left := busyCodex(t, w, "down", noDaemon)
	left.slash(t, "quit")
	gone(t, left.proc)
	closed := busyCodex(t, w, "down", noDaemon)
	closed.closePane(t)
	gone(t, closed.proc)
	still := busyClaude(t, w, "down")

	waiting, err := os.ReadDir(w.home + "/inbox")
	if err != nil || len(waiting) < 10 {
		t.Fatalf("%d files wait in the inbox (%v), want those of five sessions", len(waiting), err)
	}
	w.start(t, []string{"serve"})
	for _, c := range []struct {
		agent  core.Agent
		native string
		status core.Status
		reason string
	}{
		{claudeAgent, quit.native, core.StatusEnded, "prompt_input_exit"},
		{claudeAgent, killed.native, core.StatusLost, ""},
		{codexAgent, left.native, core.StatusEnded, "other"},
		{codexAgent, closed.native, core.StatusLost, ""},
		{claudeAgent, still.native, core.StatusLive, ""},
	} {
		row := w.becomes(t, soon, c.agent, c.native, fmt.Sprintf("is %s after the start", c.status), status(c.status))
		if c.reason != "" && row.EndReason != c.reason {
			t.Errorf("%s session ended for %q, want %q", c.agent, row.EndReason, c.reason)
		}
		within(t, 20*time.Second, "its one turn", func() bool {
			r, _ := w.row(t, c.agent, c.native)
			return r.Turns != nil && *r.Turns == 1
		})
	}
	w.becomes(t, soon, claudeAgent, still.native, "idle, though it began unseen", pill(core.PillIdle, ""))
	within(t, soon, "an empty inbox", func() bool {
		files, err := os.ReadDir(w.home + "/inbox")
		return err == nil && len(files) == 0
	})
	still.slash(t, "exit")
	gone(t, still.proc)
}
