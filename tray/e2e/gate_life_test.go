//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"tower/core"
)

// soon is what is promised for a change that shows in the agent's own records.
const soon = 5 * time.Second

// What stands on the screen while an agent asks, and no longer once it is answered.
const (
	permission = `Do you want to proceed`
	colours    = `[❯>] *1\. *Red`
	approval   = `Yes, proceed`
)

// prompts counts the prompts the session's hooks have told of: the sign that an agent took one.
func prompts(w *tower, native string) int { return len(w.event(native, "UserPromptSubmit")) }

// ask submits a prompt to Claude Code or Codex and waits until its hook told of it.
func ask(t *testing.T, w *tower, p *terminal, native, text string) {
	t.Helper()
	n := prompts(w, native)
	p.submit(t, text, func() bool { return prompts(w, native) > n })
}

func claudeLife(t *testing.T) {
	w := serving(t)
	st.anthropic.hold.shut()
	c := st.openClaude(t, st.folder("claude"))
	id := c.native
	w.becomes(t, soon, claudeAgent, id, "live", func(r core.Row) bool { return r.Status == core.StatusLive })
	c.ready(t)
	row := w.becomes(t, soon, claudeAgent, id, "idle and proven", func(r core.Row) bool { return pill(core.PillIdle, "")(r) && r.Live.Proven })
	if p := row.Live.Proc; p.PID != c.proc.pid || p.Start != c.proc.start {
		t.Errorf("the live session's process is %+v, want %d started at %d", p, c.proc.pid, c.proc.start)
	}
	if row.CWD != st.folder("claude") {
		t.Errorf("cwd = %q, want %q", row.CWD, st.folder("claude"))
	}

	ask(t, w, c.terminal, id, "DOWORK please")
	c.record(t, "busy")
	w.becomes(t, soon, claudeAgent, id, "working", pill(core.PillWorking, ""))
	st.anthropic.hold.open()
	c.record(t, "idle")
	w.becomes(t, soon, claudeAgent, id, "idle after a turn", pill(core.PillIdle, ""))

	ask(t, w, c.terminal, id, "TOUCHFILE please")
	until(t, 15*time.Second, "Claude Code's permission dialog", func() bool { return c.shows(permission) })
	row = w.becomes(t, soon, claudeAgent, id, "waiting for a permission", pill(core.PillWaiting, core.WaitPermission))
	if row.Group != core.GroupNeedsYou {
		t.Errorf("a waiting session stands in group %q", row.Group)
	}
	if row.Live.Ask == "" {
		t.Error("nothing says what the session asks for")
	}
	c.answer(t, permission, "Enter")
	c.record(t, "idle")
	w.becomes(t, soon, claudeAgent, id, "idle after the permission", pill(core.PillIdle, ""))
	if _, err := os.Stat(filepath.Join(st.folder("claude"), "made.txt")); err != nil {
		t.Errorf("what was permitted did not run: %v", err)
	}

	ask(t, w, c.terminal, id, "ASKME please")
	until(t, 15*time.Second, "Claude Code's question", func() bool { return c.shows(colours) })
	w.becomes(t, soon, claudeAgent, id, "waiting for an answer", pill(core.PillWaiting, core.WaitQuestion))
	c.answer(t, colours, "Enter")
	c.record(t, "idle")
	w.becomes(t, soon, claudeAgent, id, "idle after the answer", pill(core.PillIdle, ""))

	// A refusal by Esc is told by no hook at all: only the agent's record shows it.
	ask(t, w, c.terminal, id, "TOUCHFILE again")
	until(t, 15*time.Second, "Claude Code's permission dialog", func() bool { return c.shows(permission) })
	w.becomes(t, soon, claudeAgent, id, "waiting for a permission", pill(core.PillWaiting, core.WaitPermission))
	c.answer(t, permission, "Escape")
	c.record(t, "idle")
	w.becomes(t, soon, claudeAgent, id, "idle after Esc", pill(core.PillIdle, ""))

	ask(t, w, c.terminal, id, "BGWORK please")
	c.record(t, "shell")
	w.becomes(t, soon, claudeAgent, id, "a command in the background", pill(core.PillShell, ""))
	c.record(t, "idle")
	w.becomes(t, soon, claudeAgent, id, "idle after the command", pill(core.PillIdle, ""))

	c.slash(t, "clear")
	until(t, 20*time.Second, "Claude Code's new session", func() bool { return c.sessionID() != "" && c.sessionID() != id })
	second := c.sessionID()
	w.becomes(t, soon, claudeAgent, second, "live after /clear", pill(core.PillIdle, ""))
	first := w.becomes(t, soon, claudeAgent, id, "ended by /clear", status(core.StatusEnded))
	if first.EndReason != "clear" {
		t.Errorf("the first session ended for %q, want clear", first.EndReason)
	}
	row = w.becomes(t, soon, claudeAgent, second, "linked to what it follows", func(r core.Row) bool { return r.Follows == first.ID })
	if p := row.Live.Proc; p.PID != c.proc.pid {
		t.Errorf("the second session runs in process %d, want %d", p.PID, c.proc.pid)
	}

	c.slash(t, "exit")
	until(t, 20*time.Second, "Claude Code's end", func() bool { return !c.proc.alive() })
	row = w.becomes(t, soon, claudeAgent, second, "ended by /exit", status(core.StatusEnded))
	if row.EndReason != "prompt_input_exit" {
		t.Errorf("the session ended for %q, want prompt_input_exit", row.EndReason)
	}
	within(t, 40*time.Second, "the first session's five turns", func() bool {
		r, _ := w.row(t, claudeAgent, id)
		return r.Turns != nil && *r.Turns == 5
	})
}

func codexLife(t *testing.T) {
	w := serving(t)
	st.openai.hold.shut()
	c := st.openCodex(t, st.folder("codex"), noDaemon)
	id := c.native
	w.becomes(t, soon, codexAgent, id, "live", func(r core.Row) bool { return r.Status == core.StatusLive })
	c.ready(t)
	row := w.becomes(t, soon, codexAgent, id, "idle and proven", func(r core.Row) bool { return pill(core.PillIdle, "")(r) && r.Live.Proven })
	if p := row.Live.Proc; p.PID != c.proc.pid || p.Start != c.proc.start || row.Live.Shared {
		t.Errorf("the live session's process is %+v (shared %v), want %d started at %d, its own", p, row.Live.Shared, c.proc.pid, c.proc.start)
	}

	ask(t, w, c.terminal, id, "DOWORK please")
	w.becomes(t, soon, codexAgent, id, "working", pill(core.PillWorking, ""))
	st.openai.hold.open()
	c.record(t, 1)
	w.becomes(t, soon, codexAgent, id, "idle after a turn", pill(core.PillIdle, ""))
	if row, _ = w.row(t, codexAgent, id); row.CWD != st.folder("codex") {
		t.Errorf("cwd = %q, want %q", row.CWD, st.folder("codex"))
	}

	ask(t, w, c.terminal, id, "TOUCHFILE please")
	until(t, 20*time.Second, "Codex's approval dialog", func() bool { return c.shows(approval) })
	row = w.becomes(t, soon, codexAgent, id, "waiting for a permission", pill(core.PillWaiting, core.WaitPermission))
	if row.Group != core.GroupNeedsYou {
		t.Errorf("a waiting session stands in group %q", row.Group)
	}
	c.answer(t, approval, "y")
	c.record(t, 2)
	w.becomes(t, soon, codexAgent, id, "idle after the permission", pill(core.PillIdle, ""))
	if _, err := os.Stat(filepath.Join(st.home, "escalated")); err != nil {
		t.Errorf("what was permitted did not run: %v", err)
	}

	ask(t, w, c.terminal, id, "TOUCHFILE again")
	until(t, 20*time.Second, "Codex's approval dialog", func() bool { return c.shows(approval) })
	w.becomes(t, soon, codexAgent, id, "waiting for a permission", pill(core.PillWaiting, core.WaitPermission))
	c.answer(t, approval, "Escape")
	c.record(t, 3)
	w.becomes(t, soon, codexAgent, id, "idle after Esc", pill(core.PillIdle, ""))

	c.slash(t, "clear")
	second := ""
	until(t, 20*time.Second, "Codex's lock on a new thread", func() bool {
		for thread, p := range st.heldThreads() {
			if thread != id && p == c.proc {
				second = thread
			}
		}
		return second != ""
	})
	c.ready(t)
	w.becomes(t, soon, codexAgent, second, "live after /clear", pill(core.PillIdle, ""))
	ask(t, w, c.terminal, second, "hello again")
	until(t, 20*time.Second, "the new thread's turn by Codex's own record", func() bool { return st.turnsOver(second) == 1 })
	w.becomes(t, soon, codexAgent, second, "idle in the new thread", pill(core.PillIdle, ""))
	first := w.becomes(t, soon, codexAgent, id, "ended by /clear", status(core.StatusEnded))
	w.becomes(t, soon, codexAgent, second, "linked to what it follows", func(r core.Row) bool { return r.Follows == first.ID })

	c.slash(t, "quit")
	until(t, 20*time.Second, "Codex's end", func() bool { return !c.proc.alive() })
	row = w.becomes(t, soon, codexAgent, second, "ended by /quit", status(core.StatusEnded))
	if row.EndReason == "" {
		t.Error("nothing says why the session ended")
	}
	within(t, 40*time.Second, "the first session's three turns", func() bool {
		r, _ := w.row(t, codexAgent, id)
		return r.Turns != nil && *r.Turns == 3
	})
}
