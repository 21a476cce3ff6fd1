//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tower/core"
)

// A model that is none of the stage's defaults, by agent.
var anotherModel = map[core.Agent]string{claudeAgent: "claude-sonnet-4-5-20250929", codexAgent: "gpt-5.4"}

func claudeActs(t *testing.T) { acts(t, claudeAgent) }

func codexActs(t *testing.T) { acts(t, codexAgent) }

// acts is one life of launched sessions, asked for by turns from the command line and over the socket.
func acts(t *testing.T, agent core.Agent) {
	w := acting(t)
	model := anotherModel[agent]

	// From the command line, with everything that can be given.
	st.requestsOf(agent).forget()
	prompt := filepath.Join(st.dir, "prompt.txt")
	if err := os.WriteFile(prompt, []byte("DOWORK of the first launch"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := w.launch(t, agent, "--model", model, "--name", "Feeding the wombat", "--prompt-file", prompt)
	h := st.heardExactly(t, agent, "DOWORK of the first launch")
	if h.model != model {
		t.Errorf("the launch's first turn went to the model %q, want %q", h.model, model)
	}
	if got := modelGiven(r.proc); got != model {
		t.Errorf("the launched process was told the model %q, want %q: %q", got, model, argv(r.proc))
	}
	row := w.becomes(t, soon, agent, r.native, "idle after its first turn, under its name", func(row core.Row) bool {
		return pill(core.PillIdle, "")(row) && row.Name == "Feeding the wombat"
	})
	if row.CWD != r.dir {
		t.Errorf("cwd = %q, want %q", row.CWD, r.dir)
	}
	told := row
	if _, stderr, code := w.run("continue", string(r.id()), "--with", string(other(agent))); true {
		refused(t, "CONTINUE WITH while it is running", stderr, code, "Not continued.", "running")
	}

	w.end(t, r)
	w.polls(t, 3)
	staysKilled(t, w, r, "three polls")
	w.stop(t)
	w.start(t, []string{"serve"})
	w.polls(t, 1)
	staysKilled(t, w, r, "a restart")
	if _, stderr, code := w.run("end", string(r.id())); code == 0 {
		t.Errorf("a second END of what is over went through: %s", stderr)
	}

	// Resumed as the page asks for it, with no model.
	first := r.proc
	w.launched(t, r, func() core.Result {
		res, _ := w.asked(t, of(r.id(), "resume"), map[string]any{})
		return res
	})
	again := w.detail(t, core.NewSessionID(agent, r.native))
	if again.ID != told.ID {
		t.Errorf("the resumed process drives session %s, want %s", again.ID, told.ID)
	}
	if len(again.Runs) != 2 || again.Runs[0].Proc.PID != first.pid || again.Runs[1].Proc.PID != r.proc.pid {
		t.Errorf("runs after RESUME: %+v, want a second one", again.Runs)
	}
	if got := modelGiven(r.proc); got != "" {
		t.Errorf("no model was asked for, and the process was told %q: %q", got, argv(r.proc))
	}
	if _, stderr, code := w.run("resume", string(r.id())); code == 0 {
		// Resuming what lives is a jump to it.
		if st.desk.active() != r.window {
			t.Errorf("RESUME of a live session left window %d in front, want its own %d", st.desk.active(), r.window)
		}
	} else {
		refused(t, "RESUME of a live session", stderr, code, "Not resumed.", "running")
	}
	if n := len(w.detail(t, told.ID).Runs); n != 2 {
		t.Errorf("RESUME of a live session made run %d", n)
	}
	w.endAPI(t, r)

	// And once more by the command line, with a model.
	st.requestsOf(agent).forget()
	w.launched(t, r, func() core.Result { return w.do(t, "resume", string(r.id()), "--model", model) })
	if got := modelGiven(r.proc); got != model {
		t.Errorf("RESUME was told the model %q, the process %q: %q", model, got, argv(r.proc))
	}
	w.end(t, r)
	continued(t, w, r, told)

	// As the page launches, with no model and no prompt.
	r = w.launchAPI(t, agent, map[string]any{})
	if got := modelGiven(r.proc); got != "" {
		t.Errorf("no model was asked for, and the process was told %q: %q", got, argv(r.proc))
	}
	took := w.endAPI(t, r)
	t.Logf("END of an idle %s: %.2f s", agent, took.Seconds())
}

func staysKilled(t *testing.T, w *tower, r *worker, after string) {
	t.Helper()
	row, _ := w.row(t, r.agent, r.native)
	if row.Status != core.StatusKilled {
		t.Errorf("after %s the session is %s, want killed", after, row.Status)
	}
}

// continued hands a session that is over to the other agent.
func continued(t *testing.T, w *tower, r *worker, told core.Row) {
	t.Helper()
	next := &worker{agent: other(r.agent), dir: r.dir}
	service := st.requestsOf(next.agent)
	service.forget()
	if err := os.WriteFile(filepath.Join(r.dir, "WORKLOG.md"), []byte("# Work log\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.launched(t, next, func() core.Result {
		return w.do(t, "continue", string(r.id()), "--with", string(next.agent))
	})
	row := w.becomes(t, soon, next.agent, next.native, "linked to what it continues", func(row core.Row) bool { return row.Continues == told.ID })
	var text string
	until(t, 30*time.Second, "the prefix at the other agent's service", func() bool {
		for _, h := range service.prompts() {
			text = strings.Join(h.texts, "\n")
			if strings.Contains(text, r.native) {
				return true
			}
		}
		return false
	})
	before, _ := w.row(t, r.agent, r.native)
	for _, part := range []string{r.native, told.Title(), r.dir, before.Transcript, "Worked. DONE", "WORKLOG.md"} {
		if part == "" || !strings.Contains(text, part) {
			t.Errorf("the prefix does not hold %q:\n%s", part, text)
		}
	}
	if display := map[core.Agent]string{claudeAgent: "Claude Code", codexAgent: "Codex"}[r.agent]; !strings.Contains(text, display) {
		t.Errorf("the prefix does not name the agent %q:\n%s", display, text)
	}
	chain := w.detail(t, row.ID).Chain
	if !slices.ContainsFunc(chain, func(l core.Link) bool { return l.ID == told.ID && strings.HasPrefix(l.How, "continues") }) {
		t.Errorf("the chain of the new session is %+v, want a link to %s", chain, told.ID)
	}
	linked := 0
	for _, s := range w.sessions(t) {
		if s.Continues == told.ID {
			linked++
		}
	}
	if linked != 1 {
		t.Errorf("%d sessions continue the one that was handed over, want 1", linked)
	}
	w.end(t, next)
}

// launchOf finds a launch that has led to no session, by its folder.
func launchOf(s core.Snapshot, dir string) (core.Launching, bool) {
	for _, l := range s.Launches {
		if l.CWD == dir {
			return l, true
		}
	}
	return core.Launching{}, false
}

// show is a launch in a test's message.
func show(l core.Launching) string { return fmt.Sprintf("%s: %q %q", l.State, l.Text, l.Lines) }
