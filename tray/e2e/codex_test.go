//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// furnishCodex makes a home in which Codex has nothing left to ask but the trust in its hooks, which
// is a person's answer and given in its own dialog by a gate.
func (s *stage) furnishCodex() error {
	var b strings.Builder
	fmt.Fprintf(&b, `model = "gpt-5.5"
model_provider = "mock"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.mock]
name = "mock"
base_url = "%s/v1"
env_key = "MOCK_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"

[tui]
screen_reader_detection_done = true
`, s.openai.URL)
	for _, f := range allFolders() {
		fmt.Fprintf(&b, "\n[projects.%q]\ntrust_level = \"trusted\"\n", s.folder(f))
	}
	dir := filepath.Join(s.home, ".codex")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "config.toml"), []byte(b.String()), 0o600)
}

// codexSession is an interactive Codex in a pane.
type codexSession struct {
	*terminal
	proc   process // that holds the thread
	native string
}

func (s *stage) codexLock(thread string) string {
	return filepath.Join(s.home, ".codex", "thread-writer-locks", thread+".lock")
}

// heldThreads returns the threads whose lock a process holds, by that process.
func (s *stage) heldThreads() map[string]process {
	held := map[string]process{}
	files, _ := filepath.Glob(s.codexLock("*"))
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".lock")
		if p, ok := holder(f); ok && !strings.HasPrefix(name, ".") {
			held[name] = p
		}
	}
	return held
}

// noDaemon keeps the threads of a window in its own process; without it they live in a shared daemon.
const noDaemon = "--no-daemon"

// openCodex starts one and waits for its thread's lock. The daemon takes its time to copy itself.
func (s *stage) openCodex(t testing.TB, dir string, args ...string) *codexSession {
	t.Helper()
	before := s.heldThreads()
	c := &codexSession{terminal: s.open(t, dir, append([]string{s.codex}, args...)...)}
	until(t, 40*time.Second, "Codex's lock on a new thread", func() bool {
		for thread, p := range s.heldThreads() {
			if _, old := before[thread]; !old {
				c.native, c.proc = thread, p
			}
		}
		return c.native != ""
	})
	return c
}

// ready waits for the input box.
func (c *codexSession) ready(t testing.TB) {
	t.Helper()
	until(t, 30*time.Second, "Codex's input box", func() bool { return c.shows(`(?m)^ *›`) })
}

// turnsOver counts the turns that Codex's own file of a thread shows as over.
func (s *stage) turnsOver(thread string) int {
	files, _ := filepath.Glob(filepath.Join(s.home, ".codex", "sessions", "*", "*", "*", "rollout-*-"+thread+".jsonl"))
	if len(files) == 0 {
		return 0
	}
	b, _ := os.ReadFile(files[0])
	return strings.Count(string(b), `"type":"task_complete"`) + strings.Count(string(b), `"type":"turn_aborted"`)
}

// record waits for the end of the session's turn of this number in Codex's own file.
func (c *codexSession) record(t testing.TB, turn int) {
	t.Helper()
	until(t, 20*time.Second, fmt.Sprintf("the end of turn %d by Codex's own record", turn), func() bool { return c.stage.turnsOver(c.native) >= turn })
}

// native is for an agent that npm starts through node: the process is the child.
func native(started process) (process, bool) {
	if p, ok := child(started.pid, "codex"); ok {
		return p, true
	}
	// A node that can replace itself becomes the agent.
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", started.pid)); err == nil && strings.Contains(exe, "codex") {
		return processOf(started.pid)
	}
	return process{}, false
}
