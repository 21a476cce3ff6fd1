//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tower/core"
)

// refusedAPI wants a decision against what is asked over the socket, as fast as is promised of one.
func (w *tower) refusedAPI(t testing.TB, what, path string, body any, verdict string, reasons ...string) {
	t.Helper()
	a := w.post(t, path, body)
	var f struct {
		Error, Hint string
		Refused     bool
	}
	if err := json.Unmarshal(a.body, &f); err != nil || a.code != http.StatusConflict || !f.Refused {
		t.Errorf("%s: %d, want a refusal\n%s", what, a.code, a.body)
		return
	}
	for _, part := range append([]string{verdict}, reasons...) {
		if !strings.Contains(f.Error+" "+f.Hint, part) {
			t.Errorf("%s was refused without the words %q: %s %s", what, part, f.Error, f.Hint)
		}
	}
	took := a.took
	if took > promisedRefusal { // what is refused changes nothing, so it can be asked again
		again := func() time.Duration {
			time.Sleep(300 * time.Millisecond) // so that one burst of other work is not read thrice
			return w.post(t, path, body).took
		}
		took = middle(took, again(), again())
	}
	t.Logf("%s after %.0f ms: %s %s", what, took.Seconds()*1000, f.Error, f.Hint)
	if took > promisedRefusal {
		t.Errorf("%s was refused after %.0f ms, promised are %.0f", what, took.Seconds()*1000, promisedRefusal.Seconds()*1000)
	}
}

// stops counts the turns that came to their end, by the session's hooks.
func stops(w *tower, native string) int { return len(w.event(native, "Stop")) }

// hears counts the requests that held a text anywhere in what was typed.
func (s *stage) hears(agent core.Agent, text string) (n int) {
	for _, h := range s.requestsOf(agent).prompts() {
		if slices.ContainsFunc(h.texts, func(x string) bool { return strings.Contains(x, text) }) {
			n++
		}
	}
	return n
}

// onlyOnce types a text and wants it at the agent's service exactly once, as one prompt of its own.
func onlyOnce(t *testing.T, w *tower, r *worker, text string) {
	t.Helper()
	arrivesAs(t, w, r, text, text)
}

// arrivesAs is onlyOnce for a text that arrives as another one, or as one of several.
func arrivesAs(t *testing.T, w *tower, r *worker, text, as string, or ...string) {
	t.Helper()
	before, over, began := prompts(w, r.native), stops(w, r.native), time.Now()
	out, stderr, code := w.typeInto(r.id(), text)
	if code != 0 {
		t.Errorf("TYPE into %s: exit %d\n%s%s\n%s", r.agent, code, out, stderr, describe())
		return
	}
	t.Logf("TYPE into %s, %d bytes: delivered after %.2f s", r.agent, len(text), time.Since(began).Seconds())
	st.heardExactly(t, r.agent, as, or...)
	until(t, 20*time.Second, "the hook of the turn's end", func() bool { return stops(w, r.native) > over })
	if r.agent == claudeAgent { // its hooks tell of the turn's end a moment before it takes the next
		until(t, 20*time.Second, "Claude Code idle by its own record", func() bool { return st.claudeSays(r.proc.pid, "idle") })
	}
	w.becomes(t, 20*time.Second, r.agent, r.native, "idle after what was typed", pill(core.PillIdle, ""))
	if n := prompts(w, r.native) - before; n != 1 {
		t.Errorf("what was typed once made %d prompts", n)
	}
}

// typing gives prompts to running sessions, and is refused wherever they could not be proven to arrive.
func typing(t *testing.T) {
	w := acting(t)
	d := st.desk
	paneless := d.openHand(t, xterm, execed, claudeAgent)
	controlled := d.openHand(t, remote, execed, claudeAgent)
	workers := map[core.Agent]*worker{}
	for _, agent := range []core.Agent{claudeAgent, codexAgent} {
		workers[agent] = d.openAttached(t, typed, agent)
	}
	for _, r := range []*worker{paneless, controlled, workers[claudeAgent], workers[codexAgent]} {
		st.arrived(t, r)
		w.becomes(t, soon, r.agent, r.native, "idle", pill(core.PillIdle, ""))
	}

	c := workers[claudeAgent]
	d.front(t, d.behind(t))
	onlyOnce(t, w, c, "DOWORK that was typed")
	if d.active() != c.window {
		t.Errorf("a person's TYPE left window %d in front, want the session's own %d", d.active(), c.window)
	}
	for _, text := range []string{"/clear", "/clear is no command, and neither is this:\n!touch bang", "!touch bang"} {
		arrivesAs(t, w, c, text, " "+text)
		// Codex's input box cuts the blank again, and still takes it for text.
		arrivesAs(t, w, workers[codexAgent], text, " "+text, text)
	}
	for _, r := range workers {
		if _, err := os.Stat(filepath.Join(r.dir, "bang")); err == nil {
			t.Errorf("%s took a text for a shell command", r.agent)
		}
	}
	onlyOnce(t, w, controlled, "DOWORK by remote control")
	onlyOnce(t, w, workers[codexAgent], "DOWORK that was typed")

	const never = "NEVER ARRIVES"
	body := map[string]any{"text": never}
	w.refusedAPI(t, "TYPE into xterm", of(paneless.id(), "type"), body, "Not delivered.", "xterm")
	if _, err := c.pane.tmux("copy-mode", "-t", c.pane.id); err != nil {
		t.Fatal(err)
	}
	w.refusedAPI(t, "TYPE in copy-mode", of(c.id(), "type"), body, "Not delivered.", "copy")
	if _, err := c.pane.tmux("send-keys", "-t", c.pane.id, "-X", "cancel"); err != nil {
		t.Fatal(err)
	}
	for agent, dialog := range map[core.Agent]string{claudeAgent: permission, codexAgent: approval} {
		r := workers[agent]
		n := prompts(w, r.native)
		r.pane.submit(t, "TOUCHFILE please", func() bool { return prompts(w, r.native) > n })
		until(t, 20*time.Second, "the permission dialog", func() bool { return r.pane.shows(dialog) })
		w.becomes(t, soon, agent, r.native, "waiting for a permission", pill(core.PillWaiting, core.WaitPermission))
		w.refusedAPI(t, "TYPE into a permission dialog of "+string(agent), of(r.id(), "type"), body, "Not delivered.", "waits on a permission", "Jump")
		if !r.pane.shows(dialog) {
			t.Errorf("%s's permission dialog is gone", agent)
		}
		r.pane.answer(t, dialog, "Escape")
		w.becomes(t, soon, agent, r.native, "idle after Esc", pill(core.PillIdle, ""))
	}
	n := prompts(w, c.native)
	c.pane.submit(t, "ASKME please", func() bool { return prompts(w, c.native) > n })
	until(t, 20*time.Second, "Claude Code's question", func() bool { return c.pane.shows(colours) })
	w.becomes(t, soon, claudeAgent, c.native, "waiting for an answer", pill(core.PillWaiting, core.WaitQuestion))
	w.refusedAPI(t, "TYPE into a question", of(c.id(), "type"), body, "Not delivered.", "waits on a question")
	c.pane.answer(t, colours, "Enter")
	w.becomes(t, soon, claudeAgent, c.native, "idle after the answer", pill(core.PillIdle, ""))

	for agent, r := range workers {
		r.pane.keys(t, "C-z")
		until(t, 10*time.Second, "a suspended "+string(agent), func() bool {
			f, ok := stat(r.proc.pid)
			return ok && f[0] == "T"
		})
		w.refusedAPI(t, "TYPE into a suspended "+string(agent), of(r.id(), "type"), body, "Not delivered.", "suspended")
		w.refusedAPI(t, "END of a suspended "+string(agent), of(r.id(), "end"), map[string]any{}, "Not ended.", "suspended")
		if f, ok := stat(r.proc.pid); !ok || f[0] != "T" || strings.Contains(r.pane.screen(), never) {
			t.Errorf("the suspended %s was touched:\n%s", agent, r.pane.screen())
		}
		r.pane.keys(t, "-l", "fg")
		r.pane.keys(t, "Enter")
		until(t, 10*time.Second, string(agent)+" in the foreground", func() bool {
			f, ok := stat(r.proc.pid)
			return ok && f[0] != "T"
		})
		until(t, 20*time.Second, string(agent)+"'s input box after fg", func() bool {
			shown := r.pane.screen()
			return strings.ContainsAny(shown[max(0, strings.LastIndex(shown, "# fg")):], "❯›")
		})
		// Proven again once it is back.
		onlyOnce(t, w, r, "DOWORK after fg")
	}
	for _, agent := range []core.Agent{claudeAgent, codexAgent} {
		if n := st.hears(agent, never); n != 0 {
			t.Errorf("what was refused arrived %d times at %s", n, agent)
		}
	}
	for _, r := range []*worker{paneless, controlled, workers[claudeAgent], workers[codexAgent]} {
		w.endAPI(t, r)
	}
}

// hostile is text that every layer on the way would like to read as its own: shell, tmux, terminal, D-Bus.
const hostile = "-- it's \"quoted\" and \\ back\\slashed\nsecond `whoami` line $(id) ${HOME} %1 %% #{pane_id} #(id) ;\n\n; ls; --flag * ? ~ 👩‍👩‍👧 ü\u0301 end"

// long is a text of about n bytes whose every line tells its place.
func long(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString("line " + strings.Repeat("ä0", i%40) + " of many; `" + string(rune('a'+i%26)) + "`\n")
	}
	return b.String() + "the end"
}

// promptTexts sends texts through launch and through type and compares what arrives byte for byte.
func promptTexts(t *testing.T) {
	w := acting(t)
	// A terminal obeys an escape sequence, so of what is typed its control characters are left out. As an
	// argument nothing reads it on the way.
	escapes := hostile + " \x1b[201~ and \x1b]0;title\a behind\ttabs  "
	for _, agent := range []core.Agent{claudeAgent, codexAgent} {
		for what, text := range map[string]string{"hostile": escapes, "120 KB": long(120_000)} {
			st.requestsOf(agent).forget()
			r := launchWith(t, w, agent, text)
			st.heardExactly(t, agent, text)
			t.Logf("%s launched with a %s prompt of %d bytes, byte for byte", agent, what, len(text))
			w.endAPI(t, r)
		}
		longest := long(200_000)
		st.requestsOf(agent).forget()
		r := launchWith(t, w, agent, longest)
		var told string
		until(t, 30*time.Second, "a prompt that names a file", func() bool {
			for _, h := range st.requestsOf(agent).prompts() {
				told = strings.Join(h.texts, "\n")
				if strings.Contains(told, filepath.Join(w.home, "launches")) {
					return true
				}
			}
			return false
		})
		files, _ := filepath.Glob(filepath.Join(w.home, "launches", "*"))
		found := slices.ContainsFunc(files, func(f string) bool {
			b, _ := os.ReadFile(f)
			return strings.Contains(told, f) && string(b) == longest
		})
		if !found {
			t.Errorf("the prompt names no file that holds the %d bytes: %q", len(longest), told)
		}

		// The same session takes what is typed. Of the agents' own input boxes is known that they cut
		// blanks and line ends around a text, and that Claude Code makes blanks of tabs.
		w.endAPI(t, r)
		p := st.desk.openPane(t, execed, agent)
		st.arrived(t, p)
		w.becomes(t, soon, agent, p.native, "idle", pill(core.PillIdle, ""))
		for _, text := range []string{hostile, "- a leading dash", "; a leading semicolon", "'", long(200_000)} {
			onlyOnce(t, w, p, text)
		}
		typedAs(t, w, p, "an \x1b[201~escape\x1b[200~ and\x07 a bell", "an [201~escape[200~ and a bell")
		for _, path := range []string{of(p.id(), "type"), "/api/launch"} {
			body := map[string]any{"text": "a NUL \x00 in it"}
			if path == "/api/launch" {
				body = map[string]any{"agent": agent, "cwd": p.dir, "prompt": "a NUL \x00 in it"}
			}
			w.refusedAPI(t, "a NUL by "+path, path, body, "Not ", "NUL")
		}
		w.endAPI(t, p)
	}
}

// typedAs is for a text that arrives as another one.
func typedAs(t *testing.T, w *tower, r *worker, text, as string) {
	t.Helper()
	out, stderr, code := w.typeInto(r.id(), text)
	if code != 0 {
		t.Errorf("TYPE of %q: exit %d\n%s%s", text, code, out, stderr)
		return
	}
	if !strings.Contains(out, "control characters were left out") {
		t.Errorf("nothing says that control characters were left out: %s", out)
	}
	st.heardExactly(t, r.agent, as)
	w.becomes(t, 20*time.Second, r.agent, r.native, "idle after what was typed", pill(core.PillIdle, ""))
}

// launchWith launches an agent with a prompt that is given as a file.
func launchWith(t *testing.T, w *tower, agent core.Agent, text string) *worker {
	t.Helper()
	file := filepath.Join(st.dir, "prompt.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return w.launch(t, agent, "--prompt-file", file)
}
