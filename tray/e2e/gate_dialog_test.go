//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tower/core"
)

// trustDialog launches both agents in a folder that neither trusts: the launch is shown as blocked,
// nothing is typed into the dialog, and a person's answer makes the session live under its token.
func trustDialog(t *testing.T) {
	w := acting(t)
	d := st.desk
	for agent, trusted := range map[core.Agent]func(dir string) bool{claudeAgent: claudeTrusts, codexAgent: codexTrusts} {
		dir := filepath.Join(st.dir, "untrusted "+string(agent))
		// Codex asks in a repository only, Claude Code everywhere.
		for _, part := range []string{"objects", "refs"} {
			if err := os.MkdirAll(filepath.Join(dir, ".git", part), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := &worker{agent: agent, dir: dir}
		var res core.Result
		r.window = d.appears(t, "the launch", func() {
			res = w.do(t, "launch", "--agent", string(agent), "--cwd", dir, "--terminal", xterm)
		})
		var l core.Launching
		within(t, soon, string(agent)+" shown as stopped by a dialog", func() bool {
			l, _ = launchOf(w.snapshot(t), dir)
			return l.State == core.LaunchBlocked
		})
		if !strings.Contains(l.Text, "trust") || l.Token != res.Launch.Token {
			t.Errorf("what stops %s is told as %s, want the question of trust", agent, show(l))
		}
		t.Logf("%s: %s", agent, show(l))
		w.polls(t, 2)
		if native, _ := st.sessionIn(agent, dir); native != "" || trusted(dir) {
			t.Errorf("nobody answered %s, and it trusts the folder (session %q)", agent, native)
		}
		for _, row := range w.sessions(t) {
			if row.CWD == dir && row.Status == core.StatusLive {
				t.Errorf("%s is called live behind its dialog: %+v", agent, row.Live)
			}
		}
		var pressed time.Time
		until(t, 30*time.Second, "the session behind the dialog", func() bool {
			if time.Since(pressed) > 3*time.Second {
				d.press(t, r.window, "Return")
				pressed = time.Now()
			}
			r.native, r.proc = st.sessionIn(agent, dir)
			return r.native != ""
		})
		st.arrived(t, r)
		row := w.becomes(t, soon, agent, r.native, "live once the dialog was answered", status(core.StatusLive))
		runs := w.detail(t, row.ID).Runs
		if last := runs[len(runs)-1]; last.LaunchToken != res.Launch.Token {
			t.Errorf("the session's run is %+v, want the token %s", last, res.Launch.Token)
		}
		if l, ok := launchOf(w.snapshot(t), dir); ok {
			t.Errorf("the launch is still shown as under way: %s", show(l))
		}
		w.endAPI(t, r)
	}
}

func claudeTrusts(dir string) bool {
	b, _ := os.ReadFile(filepath.Join(st.home, ".claude.json"))
	_, project, _ := strings.Cut(string(b), fmt.Sprintf("%q", dir))
	project, _, _ = strings.Cut(project, "}")
	return regexp.MustCompile(`"hasTrustDialogAccepted":\s*true`).MatchString(project)
}

func codexTrusts(dir string) bool {
	b, _ := os.ReadFile(filepath.Join(st.home, ".codex", "config.toml"))
	return strings.Contains(string(b), "[projects."+fmt.Sprintf("%q", dir)+"]")
}

// launcherDies launches an agent that ends at once, since its configuration is broken, in a window and
// in tmux, where its last lines can be read.
func launcherDies(t *testing.T) {
	w := acting(t)
	file := filepath.Join(st.home, ".codex", "config.toml")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append([]byte("this is no TOML\n"), good...), 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.WriteFile(file, good, 0o600)
	told := regexp.MustCompile(`ended after \d\.\d s`)
	for _, terminal := range []string{xterm, "tmux"} {
		dir := st.freshFolder(t)
		windows := len(st.desk.windows())
		began := time.Now()
		_, stderr, code := w.run("launch", "--agent", "codex", "--cwd", dir, "--terminal", terminal)
		took := time.Since(began)
		if code == 0 || !told.MatchString(stderr) {
			t.Errorf("an agent that ended at once in %s: exit %d after %.1f s\n%s", terminal, code, took.Seconds(), stderr)
		}
		if took > soon {
			t.Errorf("the end of the launcher in %s was told after %.1f s", terminal, took.Seconds())
		}
		t.Logf("%s after %.1f s: %s", terminal, took.Seconds(), strings.TrimSpace(stderr))
		var l core.Launching
		within(t, soon, "the launch shown as failed", func() bool {
			l, _ = launchOf(w.snapshot(t), dir)
			return l.State == core.LaunchFailed
		})
		if !told.MatchString(l.Text) {
			t.Errorf("the failed launch says %s", show(l))
		}
		if terminal == "tmux" {
			within(t, soon, "the last lines of what failed", func() bool {
				l, _ = launchOf(w.snapshot(t), dir)
				return strings.Contains(strings.Join(l.Lines, "\n"), "TOML")
			})
		}
		until(t, 5*time.Second, "no window of what failed", func() bool { return len(st.desk.windows()) == windows })
		for _, row := range w.sessions(t) {
			if row.CWD == dir && !row.Status.Over() {
				t.Errorf("a launch that failed left a session that is %s", row.Status)
			}
		}
	}
}
