//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const fakeKey = "sk-ant-fake-0000-abcdefghij0123456789"

// folders are the project folders of the stage; both agents are told beforehand that they are trusted.
var folders = []string{"one-shot", "claude", "codex", "ends", "daemon", "down", "moved", "tray"}

func allFolders() []string {
	list := slices.Clone(folders)
	for n := range freshFolders {
		list = append(list, freshName(n+1))
	}
	return list
}

// furnishClaude makes a home in which Claude Code has nothing left to ask: onboarding done, the key
// approved, the folders trusted.
func (s *stage) furnishClaude() error {
	projects := map[string]any{}
	for _, f := range allFolders() {
		if err := os.MkdirAll(s.folder(f), 0o755); err != nil {
			return err
		}
		projects[s.folder(f)] = map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "projectOnboardingSeenCount": 4}
	}
	if err := writeJSON(filepath.Join(s.home, ".claude.json"), map[string]any{
		"hasCompletedOnboarding": true, "lastOnboardingVersion": "99.0.0", "theme": "dark", "numStartups": 5,
		"autoUpdates": false, "hasSeenTasksHint": true,
		"customApiKeyResponses": map[string]any{"approved": []string{fakeKey[len(fakeKey)-20:]}, "rejected": []string{}},
		"projects":              projects,
	}); err != nil {
		return err
	}
	return writeJSON(filepath.Join(s.home, ".claude", "settings.json"), map[string]any{
		"permissions": map[string]any{"allow": []string{"Read", "Bash(echo:*)", "Bash(sleep:*)", "Skill"}},
		"env":         map[string]string{"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
	})
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o600)
}

// claudeRecord is what Claude Code itself says of a running session.
type claudeRecord struct {
	PID        int
	SessionID  string
	CWD        string
	ProcStart  string
	Status     string
	WaitingFor string
}

// claudeRecordOf reads the record of a process. It is written in place, so a read may find half of it.
func (s *stage) claudeRecordOf(pid int) (r claudeRecord, ok bool) {
	b, err := os.ReadFile(filepath.Join(s.home, ".claude", "sessions", strconv.Itoa(pid)+".json"))
	return r, err == nil && json.Unmarshal(b, &r) == nil && r.SessionID != ""
}

// claudeSession is an interactive Claude Code in a pane.
type claudeSession struct {
	*terminal
	proc   process
	native string // its id at the start
}

// openClaude starts one and waits until its own record says that it is idle. began is called with
// the process as soon as it exists.
func (s *stage) openClaude(t testing.TB, dir string, args ...string) *claudeSession {
	t.Helper()
	term := s.open(t, dir, append([]string{s.claude}, args...)...)
	c := &claudeSession{terminal: term, proc: term.first}
	until(t, 30*time.Second, "Claude Code's own record", func() bool {
		r, ok := s.claudeRecordOf(c.proc.pid)
		c.native = r.SessionID
		return ok
	})
	return c
}

// says tells whether Claude Code's own record shows the status.
func (c *claudeSession) says(status string) bool {
	r, _ := c.stage.claudeRecordOf(c.proc.pid)
	return r.Status == status
}

// record waits for the status in Claude Code's own record, so that what is measured next is the tower.
func (c *claudeSession) record(t testing.TB, status string) {
	t.Helper()
	until(t, 20*time.Second, "Claude Code "+status+" by its own record", func() bool { return c.says(status) })
}

// wrote tells whether the transcript holds a prompt.
func (c *claudeSession) wrote(prompt string) bool {
	files, _ := filepath.Glob(filepath.Join(c.stage.home, ".claude", "projects", "*", c.native+".jsonl"))
	if len(files) == 0 {
		return false
	}
	b, err := os.ReadFile(files[0])
	return err == nil && strings.Contains(string(b), `"content":"`+prompt+`"`)
}

// sessionID returns the id the process drives now.
func (c *claudeSession) sessionID() string {
	r, _ := c.stage.claudeRecordOf(c.proc.pid)
	return r.SessionID
}

// ready waits for an idle session with its input box.
func (c *claudeSession) ready(t testing.TB) {
	t.Helper()
	until(t, 30*time.Second, "Claude Code idle by its own record", func() bool { return c.says("idle") && c.shows(`❯`) })
}

// shot is a one-shot run of an agent and the process that it was.
type shot struct {
	proc   process
	output []byte
	err    error
}

// oneShot runs a command without a terminal to its end. find names the agent's process while it runs,
// given the process that was started.
func (s *stage) oneShot(t testing.TB, dir string, find func(started process) (process, bool), env []string, command ...string) shot {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, env
	out, err := os.CreateTemp(s.dir, "shot")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started, _ := processOf(cmd.Process.Pid)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var r shot
	deadline := time.After(time.Duration(60*patience) * time.Second)
	for {
		if r.proc.pid == 0 {
			r.proc, _ = find(started)
		}
		select {
		case r.err = <-done:
			r.output, _ = os.ReadFile(out.Name())
			return r
		case <-deadline:
			cmd.Process.Kill()
			<-done
			b, _ := os.ReadFile(out.Name())
			t.Fatalf("%q did not come to an end:\n%s", command, b)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// itself is for an agent that is the very process that was started.
func itself(p process) (process, bool) { return p, p.pid > 0 }
