//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"

	"tower/core"
)

// What is promised of actions.
const (
	promisedLaunch  = 5 * time.Second        // from the asking to a live row
	promisedEnd     = 3 * time.Second        // of an idle agent, to its window's closing
	promisedJump    = 300 * time.Millisecond // to the window in front
	promisedRefusal = 50 * time.Millisecond
)

// acting makes sure of what every action needs: a desktop, a tower on it, agents whose hooks are in
// place and trusted.
func acting(t *testing.T) *tower {
	t.Helper()
	if st.desk == nil {
		st.desk = st.newDesktop(t)
		if st.tower != nil && st.tower.cmd != nil && !st.tower.ended() {
			st.tower.stop(t)
		}
	}
	w := serving(t)
	w.must(t, "hooks", "install", "claude")
	if b, _ := os.ReadFile(filepath.Join(st.home, ".codex", "config.toml")); !bytes.Contains(b, []byte("trusted_hash")) {
		w.must(t, "hooks", "install", "codex")
		trustHooks(t)
	}
	st.anthropic.hold.open()
	st.openai.hold.open()
	return w
}

// do asks for an action by the command line and returns what came of it.
func (w *tower) do(t testing.TB, args ...string) core.Result {
	t.Helper()
	began := time.Now()
	out := w.must(t, append(args, "--json")...)
	var r core.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Said == "" {
		t.Fatalf("tower %q: %v, it printed %q", args, err, out)
	}
	t.Logf("tower %s: %q after %.2f s", args[0], r.Said, time.Since(began).Seconds())
	return r
}

// typeInto gives text to the command that types it, on its standard input.
func (w *tower) typeInto(id core.SessionID, text string) (stdout, stderr string, code int) {
	cmd := exec.Command(filepath.Join(w.stage.bin, "tower"), "type", string(id), "--json")
	cmd.Env, cmd.Dir, cmd.Stdin = w.env(), w.home, strings.NewReader(text)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out.String(), errOut.String(), exit.ExitCode()
	}
	if err != nil {
		return "", err.Error(), -1
	}
	return out.String(), errOut.String(), 0
}

// refused wants a decision against what was asked: exit code 3, the verdict and the reason in one
// sentence, and no stack of causes.
func refused(t testing.TB, what string, stderr string, code int, verdict string, reasons ...string) {
	t.Helper()
	if code != 3 {
		t.Errorf("%s: exit %d, want 3 for a refusal\n%s", what, code, stderr)
		return
	}
	for _, part := range append([]string{verdict}, reasons...) {
		if !strings.Contains(stderr, part) {
			t.Errorf("%s was refused without the words %q:\n%s", what, part, stderr)
		}
	}
	t.Logf("%s: %s", what, strings.TrimSpace(stderr))
}

// answer is what the tower's own door said.
type answer struct {
	code int
	body []byte
	took time.Duration
}

// post asks the tower over its socket, as the page does.
func (w *tower) post(t testing.TB, path string, body any) answer {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	r, err := w.client().Post("http://tower"+path, "application/json", bytes.NewReader(b))
	if err != nil {
		t.Fatalf("POST %s: %v\n%s", path, err, describe())
	}
	defer r.Body.Close()
	out, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("POST %s: %v", path, err)
	}
	return answer{r.StatusCode, out, time.Since(began)}
}

// asked is post for what has to succeed.
func (w *tower) asked(t testing.TB, path string, body any) (core.Result, time.Duration) {
	t.Helper()
	a := w.post(t, path, body)
	var r core.Result
	if err := json.Unmarshal(a.body, &r); a.code != http.StatusOK || err != nil || r.Said == "" {
		t.Fatalf("POST %s: %d, %v\n%s\n%s", path, a.code, err, a.body, describe())
	}
	t.Logf("POST %s: %q after %.3f s", path, r.Said, a.took.Seconds())
	return r, a.took
}

// of is the path of a session's action.
func of(id core.SessionID, action string) string { return "/api/sessions/" + string(id) + "/" + action }

// client speaks with the tower over its socket; its connections end with it.
func (w *tower) client() *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", w.socket())
		},
	}}
}

// socket is where the tower of the stage says it is reached.
func (w *tower) socket() string {
	files, _ := filepath.Glob(filepath.Join(w.stage.short, "tower-*", "endpoint.json"))
	for _, f := range files {
		var e struct{ Socket string }
		if b, err := os.ReadFile(f); err == nil && json.Unmarshal(b, &e) == nil {
			return e.Socket
		}
	}
	return ""
}

// snapshot is the one picture, as status tells it.
func (w *tower) snapshot(t testing.TB) core.Snapshot {
	t.Helper()
	var s core.Snapshot
	if err := json.Unmarshal([]byte(w.must(t, "status", "--json")), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// launches are those under way or failed; none when the tower does not say.
func (w *tower) launches() []core.Launching {
	out, _, _ := w.run("status", "--json")
	var s core.Snapshot
	if json.Unmarshal([]byte(out), &s) != nil {
		return nil
	}
	return s.Launches
}

// polls waits until the tower has looked at the process table n times more.
func (w *tower) polls(t testing.TB, n int) {
	t.Helper()
	last := func() core.Instant {
		for _, l := range w.snapshot(t).Health.Loops {
			if l.Name == "poll" {
				return l.LastOK
			}
		}
		t.Fatal("the tower names no loop poll")
		return 0
	}
	for range n {
		before := last()
		until(t, 15*time.Second, "a poll", func() bool { return last() != before })
	}
}

// closed holds the result of an END against its consequence: the agent gone, its window gone, its row
// killed.
func (w *tower) closed(t testing.TB, r *worker, res core.Result) {
	t.Helper()
	e := res.End
	if e == nil || !e.Ended {
		t.Fatalf("END of %s in %s: %+v, want ended", r.agent, r.dir, e)
	}
	if r.proc.alive() {
		t.Errorf("END says ended, and process %d lives", r.proc.pid)
	}
	if r.window != 0 {
		if e.WindowClosed == nil || !*e.WindowClosed {
			t.Errorf("END says of the window %+v, want closed", e)
		}
		// What was told as closed must be gone in that moment, but the list is the window manager's.
		until(t, time.Second, "the window's end", func() bool { return !w.stage.desk.has(r.window) })
	}
	row, _ := w.row(t, r.agent, r.native)
	if row.Status != core.StatusKilled || row.Live != nil {
		t.Errorf("after END the row is %s (live %+v), want killed\n%s", row.Status, row.Live, describe())
	}
}

// end ends a session by the command line, and everything must be as END says.
func (w *tower) end(t testing.TB, r *worker) {
	t.Helper()
	w.closed(t, r, w.do(t, "end", string(r.id())))
}

// endAPI is end over the socket, within what is promised for an idle agent.
func (w *tower) endAPI(t testing.TB, r *worker) time.Duration {
	t.Helper()
	res, took := w.asked(t, of(r.id(), "end"), map[string]any{})
	w.closed(t, r, res)
	if took > promisedEnd {
		t.Errorf("END of an idle %s took %.2f s, promised are %.0f s", r.agent, took.Seconds(), promisedEnd.Seconds())
	}
	return took
}

// middle of three readings: on a machine that other work keeps busy one alone says little, so what was late
// is read twice more.
func middle(a, b, c time.Duration) time.Duration {
	all := []time.Duration{a, b, c}
	slices.Sort(all)
	return all[1]
}

// jumpInTime is jumpAPI within what is promised.
func (w *tower) jumpInTime(t testing.TB, r *worker, behind xproto.Window) time.Duration {
	t.Helper()
	took := w.jumpAPI(t, r, behind)
	if took > promisedJump {
		took = middle(took, w.jumpAPI(t, r, behind), w.jumpAPI(t, r, behind))
	}
	if took > promisedJump {
		t.Errorf("JUMP to %s took %.0f ms, promised are %.0f", r.agent, took.Seconds()*1000, promisedJump.Seconds()*1000)
	}
	return took
}

// jumpAPI raises a session's window over the socket from behind another one, and returns how long it
// took until the display showed it in front.
func (w *tower) jumpAPI(t testing.TB, r *worker, behind xproto.Window) time.Duration {
	t.Helper()
	d := w.stage.desk
	d.front(t, behind)
	began := time.Now()
	front := make(chan time.Duration, 1)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if d.active() == r.window {
				front <- time.Since(began)
				return
			}
			time.Sleep(2 * time.Millisecond)
		}
	}()
	defer close(stop)
	_, answered := w.asked(t, of(r.id(), "focus"), map[string]any{})
	select {
	case took := <-front:
		t.Logf("%s in front after %.0f ms, told after %.0f ms", r.agent, took.Seconds()*1000, answered.Seconds()*1000)
		return max(took, answered)
	case <-time.After(2 * time.Second):
		t.Errorf("JUMP to %s in window %d: in front is %d", r.agent, r.window, d.active())
		return 0
	}
}

// requestsOf are what an agent's service was asked.
func (s *stage) requestsOf(agent core.Agent) *requests {
	if agent == codexAgent {
		return s.openai.requests
	}
	return s.anthropic.requests
}

// other is the agent that a session of this one can be continued with.
func other(agent core.Agent) core.Agent {
	if agent == claudeAgent {
		return codexAgent
	}
	return claudeAgent
}

// heardExactly waits until the agent's service was asked with exactly this text as a prompt, or with
// exactly another that is as good, and returns that request.
func (s *stage) heardExactly(t testing.TB, agent core.Agent, text string, or ...string) heard {
	t.Helper()
	var found heard
	until(t, 30*time.Second, fmt.Sprintf("a prompt of %d bytes at %s's service, byte for byte", len(text), agent), func() bool {
		for _, h := range s.requestsOf(agent).prompts() {
			if slices.ContainsFunc(h.texts, func(x string) bool { return x == text || slices.Contains(or, x) }) {
				found = h
				return true
			}
		}
		return false
	})
	return found
}
