//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tower/core"
)

// inBackground starts a session in Claude Code's own background. Its service hands a session to a process
// that it keeps ready, and on a busy machine that one may not be: then the session comes to nothing, which
// Claude Code itself says, and a person would ask again.
func inBackground(t *testing.T) *worker {
	t.Helper()
	for try := range 3 {
		dir := st.freshFolder(t)
		cmd := exec.Command("timeout", "60", st.claude, "--bg", "DOWORK in the background")
		cmd.Env, cmd.Dir = st.env(), dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("claude --bg: %v\n%s", err, out)
		}
		began := time.Now()
		for time.Since(began) < time.Duration(10*patience)*time.Second {
			if native, _ := st.sessionIn(claudeAgent, dir); native != "" {
				return st.arrived(t, &worker{agent: claudeAgent, dir: dir})
			}
			time.Sleep(50 * time.Millisecond)
		}
		for _, f := range glob(filepath.Join(st.home, ".claude", "jobs", "*", "state.json")) {
			b, _ := os.ReadFile(f)
			t.Logf("try %d: %s\n%s", try, out, b)
		}
	}
	t.Fatal("Claude Code brings up no session in its background")
	return nil
}

// background ends what no signal may end: a session of Claude Code's background by its own command, and
// a thread of Codex's shared daemon not at all.
func background(t *testing.T) {
	w := acting(t)
	bg := inBackground(t)
	w.becomes(t, soon, claudeAgent, bg.native, "live in the background", status(core.StatusLive))
	_, stderr, code := w.run("jump", string(bg.id()))
	refused(t, "JUMP to a background session", stderr, code, "No window to jump to.", "Attach")
	window := st.desk.appears(t, "what was attached", func() { w.do(t, "attach", string(bg.id()), "--window") })
	// A client that comes to a session which was stopped meanwhile starts it again, so it has to be there.
	until(t, 20*time.Second, "Claude Code's title on the attached window", func() bool { return strings.HasSuffix(st.desk.title(window), "Claude Code") })
	res := w.do(t, "end", string(bg.id()))
	if res.End == nil || !res.End.Ended {
		t.Errorf("END of a background session: %+v", res.End)
	}
	gone(t, bg.proc)
	w.polls(t, 2)
	if row, _ := w.row(t, claudeAgent, bg.native); row.Status != core.StatusKilled {
		t.Errorf("the background session is %s after END, want killed", row.Status)
	}
	t.Logf("its attached window is still there: %v", st.desk.has(window))

	r := &worker{agent: codexAgent, dir: st.freshFolder(t)}
	r.pane = st.open(t, r.dir, st.codex)
	var session *codexSession
	until(t, 40*time.Second, "the daemon's thread", func() bool {
		for _, row := range w.sessions(t) {
			if row.Live != nil && row.Live.Shared && row.Agent == codexAgent && row.CWD == r.dir {
				session = &codexSession{r.pane, process{row.Live.Proc.PID, row.Live.Proc.Start}, row.Native}
			}
		}
		return session != nil
	})
	session.ready(t)
	id := core.NewSessionID(codexAgent, session.native)
	w.refusedAPI(t, "END of a daemon's thread", of(id, "end"), map[string]any{}, "Not ended.", "daemon")
	_, stderr, code = w.run("end", string(id), "--force")
	refused(t, "END by force of a daemon's thread", stderr, code, "Not ended.", "daemon")
	if !session.proc.alive() || !r.pane.first.alive() {
		t.Error("what was refused was done: the daemon or its client is gone")
	}
	if row, _ := w.row(t, codexAgent, session.native); row.Status != core.StatusLive {
		t.Errorf("after the refusal the thread is %s, want live", row.Status)
	}
	r.pane.closePane(t)
}
