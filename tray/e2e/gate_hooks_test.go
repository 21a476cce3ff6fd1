//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tower/core"
)

// canary runs the tower's own test of an agent's hooks and wants a verdict.
func canary(t *testing.T, w *tower, agent core.Agent, verdict string, more ...string) {
	t.Helper()
	began := time.Now()
	out, stderr, code := w.runIn(w.env(more...), "hooks", "canary", string(agent), "--json")
	var r struct{ Verdict, Said string }
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Verdict != verdict || (code == 0) != (verdict == "ok") {
		t.Errorf("hooks canary %s: exit %d (%v), want the verdict %q in:\n%s%s", agent, code, err, verdict, out, stderr)
	}
	t.Logf("hooks canary %s: %s, %.1f s. %s", agent, r.Verdict, time.Since(began).Seconds(), r.Said)
}

func claudeHooks(t *testing.T) {
	w := serving(t)
	file := filepath.Join(st.home, ".claude", "settings.json")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	canary(t, w, claudeAgent, "not installed")
	w.must(t, "hooks", "install", "claude")
	w.must(t, "hooks", "uninstall", "claude")
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Errorf("install and uninstall changed the settings:\n%s", after)
	}
	w.must(t, "hooks", "install", "claude")
	canary(t, w, claudeAgent, "ok")
	// The entries are there, the agent runs, and what they name is gone.
	hook := filepath.Join(w.home, "bin", "tower-hook")
	if err := os.Rename(hook, hook+".away"); err != nil {
		t.Fatal(err)
	}
	canary(t, w, claudeAgent, "ran, no file")
	if err := os.Rename(hook+".away", hook); err != nil {
		t.Fatal(err)
	}
	// An installation that is broken.
	broken := filepath.Join(st.dir, "broken")
	if err := os.MkdirAll(broken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "claude"), []byte("#!/bin/sh\necho cannot load libraries >&2\nexit 127\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	canary(t, w, claudeAgent, "did not run", "PATH="+broken+":/usr/bin:/bin")
}

func codexHooks(t *testing.T) {
	w := serving(t)
	canary(t, w, codexAgent, "not installed")
	w.must(t, "hooks", "install", "codex")
	canary(t, w, codexAgent, "not trusted")
	trustHooks(t)
	canary(t, w, codexAgent, "ok")
}

// trustHooks answers Codex's question about new hooks the way a person does, in its own dialog.
func trustHooks(t *testing.T) {
	t.Helper()
	p := st.open(t, st.folder("codex"), st.codex, noDaemon)
	until(t, 40*time.Second, "Codex's review of new hooks", func() bool { return p.shows(`(?i)hooks need review`) })
	trusted := func() bool {
		b, _ := os.ReadFile(filepath.Join(st.home, ".codex", "config.toml"))
		return strings.Contains(string(b), "trusted_hash")
	}
	// A key may be drawn late, and a second one then goes too far.
	var pressed time.Time
	until(t, 20*time.Second, "the choice to trust all", func() bool {
		if p.shows(`› *2\. *Trust all`) {
			return true
		}
		if time.Since(pressed) > 2*time.Second {
			key := "Down"
			if p.shows(`› *3\.`) {
				key = "Up"
			}
			p.keys(t, key)
			pressed = time.Now()
		}
		return false
	})
	p.answer(t, `› *2\. *Trust all`, "Enter")
	until(t, 20*time.Second, "the trust in Codex's configuration", trusted)
	until(t, 30*time.Second, "Codex's input box", func() bool { return p.shows(`(?m)^ *›`) })
	p.slash(t, "quit")
	until(t, 15*time.Second, "Codex's end", func() bool { return !p.first.alive() })
}

// told checks what a whole session left: each event, told once by the right process.
func told(t *testing.T, w *tower, native string, proc process, names ...string) {
	t.Helper()
	for _, name := range names {
		events := w.event(native, name)
		if len(events) != 1 {
			t.Errorf("%d events %s of session %s, want 1", len(events), name, native)
			continue
		}
		e := events[0]
		if e.AgentPID == nil || *e.AgentPID != proc.pid || e.AgentProcStart == nil || *e.AgentProcStart != proc.start {
			t.Errorf("event %s names the process %s, want %d started at %d", name, pointed(e), proc.pid, proc.start)
		}
	}
}

func pointed(e core.Envelope) string {
	b, _ := json.Marshal([]any{e.AgentPID, e.AgentProcStart, e.Ancestors})
	return string(b)
}

// shotClaude runs Claude Code once and returns its process and its session's id by its own word.
func shotClaude(t *testing.T, env []string) (shot, string) {
	t.Helper()
	s := st.oneShot(t, st.folder("one-shot"), itself, env, st.claude, "-p", "hello there", "--output-format", "json")
	var r struct {
		SessionID string `json:"session_id"`
	}
	if err := json.Unmarshal(s.output, &r); err != nil || s.err != nil || r.SessionID == "" {
		t.Fatalf("claude -p: %v, %v\n%s", s.err, err, s.output)
	}
	return s, r.SessionID
}

// shotCodex is the same of Codex.
func shotCodex(t *testing.T, env []string) (shot, string) {
	t.Helper()
	s := st.oneShot(t, st.folder("one-shot"), native, env, st.codex, "exec", "--json", "--skip-git-repo-check", "hello there")
	for line := range strings.Lines(string(s.output)) {
		var r struct {
			ThreadID string `json:"thread_id"`
		}
		if json.Unmarshal([]byte(line), &r) == nil && r.ThreadID != "" && s.err == nil {
			return s, r.ThreadID
		}
	}
	t.Fatalf("codex exec: %v\n%s", s.err, s.output)
	return s, ""
}

// oneShotTold is what must be known of a one-shot after its end.
func oneShotTold(t *testing.T, agent core.Agent, s shot, id string) {
	t.Helper()
	w := serving(t)
	told(t, w, id, s.proc, "SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
	row := w.becomes(t, 5*time.Second, agent, id, "one-shot is over", func(r core.Row) bool {
		return r.Status == core.StatusEnded && r.EndReason != ""
	})
	within(t, 20*time.Second, fmt.Sprintf("%s one-shot is hidden as a headless run", agent), func() bool {
		row, _ = w.row(t, agent, id)
		return row.Hidden == core.HiddenHeadless
	})
	runs := w.detail(t, row.ID).Runs
	if len(runs) != 1 || runs[0].Proc.PID != s.proc.pid || runs[0].Proc.Start != s.proc.start {
		t.Errorf("runs of the one-shot are %+v, want one of process %d started at %d", runs, s.proc.pid, s.proc.start)
	}
}

func claudeOneShot(t *testing.T) {
	serving(t)
	s, id := shotClaude(t, st.env())
	oneShotTold(t, claudeAgent, s, id)
}

func codexOneShot(t *testing.T) {
	serving(t)
	s, id := shotCodex(t, st.env())
	oneShotTold(t, codexAgent, s, id)
}

// reached checks which rules the agent's service was sent.
func reached(t *testing.T, r *requests, want, foreign string) {
	t.Helper()
	for _, rule := range []string{ruleForAll, want} {
		if !r.asked(rule) {
			t.Errorf("no request held the rule %q", rule)
		}
	}
	if r.asked(foreign) {
		t.Errorf("a request held %q, which is another agent's", foreign)
	}
}

func claudeRules(t *testing.T) {
	serving(t)
	st.anthropic.forget()
	shotClaude(t, st.env())
	reached(t, st.anthropic.requests, ruleForClaude, ruleForCodex)
}

func codexRules(t *testing.T) {
	serving(t)
	st.openai.forget()
	shotCodex(t, st.env())
	reached(t, st.openai.requests, ruleForCodex, ruleForClaude)
}

// hookMoved runs the installed hook, by hand and by a real Codex, in an environment in which every
// variable that could lead it astray points elsewhere.
func hookMoved(t *testing.T) {
	w := serving(t)
	away := filepath.Join(st.dir, "away")
	for _, dir := range []string{"home", "config", "data", "state", "cache", "run", "tower"} {
		if err := os.MkdirAll(filepath.Join(away, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	moved := st.env("HOME="+filepath.Join(away, "home"), "XDG_CONFIG_HOME="+filepath.Join(away, "config"),
		"XDG_DATA_HOME="+filepath.Join(away, "data"), "XDG_STATE_HOME="+filepath.Join(away, "state"),
		"XDG_CACHE_HOME="+filepath.Join(away, "cache"), "XDG_RUNTIME_DIR="+filepath.Join(away, "run"),
		"TOWER_HOME="+filepath.Join(away, "tower"), "CODEX_HOME="+filepath.Join(st.home, ".codex"))

	id := core.UUID4()
	payload, _ := json.Marshal(map[string]any{"session_id": id, "hook_event_name": "Notification", "message": "moved", "cwd": st.folder("moved")})
	cmd := exec.Command(filepath.Join(w.home, "bin", "tower-hook"), "claude", "Notification")
	cmd.Env, cmd.Dir, cmd.Stdin = moved, st.folder("moved"), strings.NewReader(string(payload))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("tower-hook: %v, printed %q; want exit 0 and silence", err, out)
	}
	if n := len(w.event(id, "Notification")); n != 1 {
		t.Errorf("%d events of the hook run by hand, want 1", n)
	}

	s, thread := shotCodex(t, moved)
	told(t, w, thread, s.proc, "SessionStart", "Stop", "SessionEnd")
	err := filepath.WalkDir(away, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, "inbox") {
			t.Errorf("an event went astray: %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	files, _ := os.ReadDir(filepath.Join(away, "tower"))
	if len(files) > 0 {
		t.Errorf("the hook wrote into the other tower's home: %v", files)
	}
}
