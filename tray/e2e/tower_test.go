//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tower/core"
)

// tower is a real tower in a home of its own, asked by its command line alone.
type tower struct {
	stage *stage
	home  string
	cmd   *exec.Cmd
	done  chan struct{}
	err   error // of the process, once done is closed
}

// newTower makes the home: which agents are ours, the rules every session is given.
func (s *stage) newTower() (*tower, error) {
	w := &tower{stage: s, home: filepath.Join(s.dir, "Turm für Jörg")}
	if err := os.MkdirAll(filepath.Join(w.home, "rules"), 0o700); err != nil {
		return nil, err
	}
	// Other people's agents on this machine are none of a test's business.
	agents := fmt.Sprintf(`[claude]
exe = [%q]
argv = []
root = %q

[codex]
exe = [%q, %q]
argv = [%q]
root = %q
`, filepath.Join(s.claudeExe, "*"), filepath.Join(s.home, ".claude"),
		filepath.Join(s.codexExe, "*"), filepath.Join(s.home, ".codex", "*"), filepath.Join(s.codexExe, "*"), filepath.Join(s.home, ".codex"))
	for name, text := range map[string]string{
		"agents.toml":     agents,
		"config.toml":     "port = 0\n[launch]\nterminal = \"xterm\"\n",
		"rules/all.md":    "Standing rule: " + ruleForAll + "\n",
		"rules/claude.md": "Rule of one agent: " + ruleForClaude + "\n",
		"rules/codex.md":  "Rule of one agent: " + ruleForCodex + "\n",
	} {
		if err := os.WriteFile(filepath.Join(w.home, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// The rules' words, which no agent would say by itself.
const (
	ruleForAll    = "always greet the quokka"
	ruleForClaude = "mention the wombat"
	ruleForCodex  = "mention the numbat"
)

func (w *tower) env(more ...string) []string {
	env := []string{"TOWER_HOME=" + w.home}
	if w.stage.desk != nil {
		env = append(env, w.stage.desk.env()...)
	}
	return w.stage.env(append(env, more...)...)
}

// run asks the tower's command line something. A failure to run at all is exit code -1.
func (w *tower) run(args ...string) (stdout, stderr string, code int) {
	return w.runIn(w.env(), args...)
}

// runIn is run in another environment.
func (w *tower) runIn(env []string, args ...string) (stdout, stderr string, code int) {
	cmd := exec.Command(filepath.Join(w.stage.bin, "tower"), args...)
	cmd.Env, cmd.Dir = env, w.home
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		code, errOut = -1, *bytes.NewBufferString(err.Error())
	}
	return out.String(), errOut.String(), code
}

// must is run for what has to succeed.
func (w *tower) must(t testing.TB, args ...string) string {
	t.Helper()
	out, stderr, code := w.run(args...)
	if code != 0 {
		t.Fatalf("tower %q: exit %d\n%s%s", args, code, out, stderr)
	}
	return out
}

// start starts the program and waits until it answers.
func (w *tower) start(t testing.TB, args []string, more ...string) {
	t.Helper()
	out, err := os.OpenFile(filepath.Join(w.home, "serve.out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w.cmd = exec.Command(filepath.Join(w.stage.bin, "tower"), args...)
	w.cmd.Env, w.cmd.Dir = w.env(more...), w.home
	w.cmd.Stdout, w.cmd.Stderr = out, out
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		w.err = cmd.Wait()
		close(done)
	}(w.cmd, w.done)
	took := until(t, 10*time.Second, "the tower's answer to status", func() bool {
		if w.ended() {
			t.Fatalf("the tower ended at once: %v\n%s", w.err, describe())
		}
		_, _, code := w.run("status", "--json")
		return code == 0
	})
	t.Logf("tower %q answers after %.2f s", args, took.Seconds())
}

// startIn starts the program as one test needs it, and stops it behind the test, so that the next one
// has the usual one again.
func (w *tower) startIn(t *testing.T, args []string, more ...string) {
	t.Helper()
	w.stop(t)
	w.start(t, args, more...)
	t.Cleanup(func() {
		if !w.ended() {
			w.stop(t)
		}
	})
}

func (w *tower) ended() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// stop asks it to stop and waits for its end.
func (w *tower) stop(t testing.TB) {
	t.Helper()
	w.must(t, "stop")
	w.ends(t, "stop")
}

// ends waits for the tower's own orderly end. One that does not come is made to tell where it hangs.
func (w *tower) ends(t testing.TB, by string) {
	t.Helper()
	began := time.Now()
	for !w.ended() {
		if time.Since(began) > 20*time.Second {
			w.cmd.Process.Signal(syscall.SIGQUIT)
			<-w.done
			out, _ := os.ReadFile(filepath.Join(w.home, "serve.out"))
			_, stacks, _ := strings.Cut(string(out), "SIGQUIT")
			var own []string
			for _, stack := range strings.Split(stacks, "\n\n") {
				if strings.Contains(stack, "main.") || strings.Contains(stack, "tower/") {
					own = append(own, stack)
				}
			}
			t.Fatalf("the tower does not end by %s; it was here:\n%s", by, strings.Join(own, "\n\n"))
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("the tower ended %.2f s after %s", time.Since(began).Seconds(), by)
	if w.err != nil {
		t.Errorf("the tower ended with %v after %s", w.err, by)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("the tower took %.1f s to end by %s", took.Seconds(), by)
	}
}

// serving makes sure that the stage's tower runs.
func serving(t testing.TB) *tower {
	t.Helper()
	if st.tower == nil {
		w, err := st.newTower()
		if err != nil {
			t.Fatal(err)
		}
		st.tower = w
	}
	if st.tower.cmd == nil || st.tower.ended() {
		st.tower.start(t, []string{"serve"})
	}
	return st.tower
}

// sessions returns every session the tower knows, hidden ones too.
func (w *tower) sessions(t testing.TB) []core.Row {
	t.Helper()
	out := w.must(t, "sessions", "--json", "--all")
	rows, err := decodeRows(out)
	if err != nil {
		t.Fatalf("sessions --json: %v\n%s", err, out)
	}
	return rows
}

// decodeRows reads rows as JSON Lines.
func decodeRows(text string) ([]core.Row, error) {
	var rows []core.Row
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	for {
		var r core.Row
		switch err := d.Decode(&r); {
		case err == io.EOF:
			return rows, nil
		case err != nil:
			return nil, err
		}
		rows = append(rows, r)
	}
}

// row returns the session with an agent's own id, or an empty one that is not known.
func (w *tower) row(t testing.TB, agent core.Agent, native string) (core.Row, bool) {
	t.Helper()
	id := core.NewSessionID(agent, native)
	for _, r := range w.sessions(t) {
		if r.ID == id {
			return r, true
		}
	}
	return core.Row{Session: &core.Session{}, Live: &core.Live{}}, false
}

// becomes waits until the session's row satisfies cond, within what the tower promises.
func (w *tower) becomes(t testing.TB, promise time.Duration, agent core.Agent, native, what string, cond func(core.Row) bool) core.Row {
	t.Helper()
	var row core.Row
	within(t, promise, fmt.Sprintf("%s %s", agent, what), func() bool {
		r, ok := w.row(t, agent, native)
		row = r
		return ok && cond(r)
	})
	return row
}

// pill is the condition that a session is live and does this.
func pill(p core.Pill, wait core.Wait) func(core.Row) bool {
	return func(r core.Row) bool {
		return r.Status == core.StatusLive && r.Live != nil && r.Live.Pill == p && r.Live.Wait == wait
	}
}

// status is the condition that a session has this status.
func status(s core.Status) func(core.Row) bool {
	return func(r core.Row) bool { return r.Status == s }
}

// detail returns what show tells of a session.
func (w *tower) detail(t testing.TB, id core.SessionID) core.Detail {
	t.Helper()
	var d core.Detail
	out := w.must(t, "show", string(id), "--json")
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("show --json: %v\n%s", err, out)
	}
	return d
}

// events returns every event file of a session, waiting or drained, oldest first.
func (w *tower) events(native string) []core.Envelope {
	var list []core.Envelope
	for _, pattern := range []string{"inbox/*.json", "processed/*/*.json"} {
		files, _ := filepath.Glob(filepath.Join(w.home, pattern))
		for _, f := range files {
			b, err := os.ReadFile(f)
			var e core.Envelope
			if err == nil && json.Unmarshal(b, &e) == nil && (native == "" || e.AgentSessionID != nil && *e.AgentSessionID == native) {
				list = append(list, e)
			}
		}
	}
	return list
}

// event returns the session's events of a name.
func (w *tower) event(native, name string) (found []core.Envelope) {
	for _, e := range w.events(native) {
		if e.Event == name {
			found = append(found, e)
		}
	}
	return found
}
