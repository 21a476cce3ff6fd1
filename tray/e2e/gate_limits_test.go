//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tower/core"
)

// slowTerminal has the terminal take 7 s for its window. Meanwhile everything else goes on, and only
// what the waiting action holds is held.
func slowTerminal(t *testing.T) {
	w := acting(t)
	d := st.desk
	over := d.openPane(t, execed, codexAgent)
	other := d.openPane(t, execed, claudeAgent)
	for _, r := range []*worker{over, other} {
		st.arrived(t, r)
		w.becomes(t, soon, r.agent, r.native, "idle", pill(core.PillIdle, ""))
	}
	onlyOnce(t, w, over, "DOWORK to be resumed")
	w.endAPI(t, over)

	w.startIn(t, []string{"serve"}, slowXterm(t))
	w.becomes(t, soon, claudeAgent, other.native, "idle", pill(core.PillIdle, ""))

	began := time.Now()
	answered := make(chan answer, 1)
	go func() { answered <- w.post(t, of(over.id(), "resume"), map[string]any{"terminal": xterm}) }()
	w.becomes(t, time.Second, codexAgent, over.native, "being resumed", func(r core.Row) bool { return r.Busy != "" })
	w.refusedAPI(t, "a second RESUME", of(over.id(), "resume"), map[string]any{"terminal": xterm}, "Not resumed.", "under way")
	st.anthropic.hold.shut()
	ask(t, w, other.pane, other.native, "DOWORK meanwhile")
	until(t, 20*time.Second, "Claude Code busy by its own record", func() bool { return st.claudeSays(other.proc.pid, "busy") })
	w.becomes(t, atOnce, claudeAgent, other.native, "working while the terminal is slow", pill(core.PillWorking, ""))
	w.polls(t, 1)
	if len(answered) > 0 || time.Since(began) > 7*time.Second {
		t.Errorf("the slow terminal was not slow any more after %.1f s: nothing was shown", time.Since(began).Seconds())
	}
	st.anthropic.hold.open()
	until(t, 20*time.Second, "Claude Code idle by its own record", func() bool { return st.claudeSays(other.proc.pid, "idle") })
	w.becomes(t, atOnce, claudeAgent, other.native, "idle while the terminal is slow", pill(core.PillIdle, ""))

	a := <-answered
	if a.code != 200 {
		t.Errorf("RESUME by a slow terminal: %d\n%s", a.code, a.body)
	}
	if a.took < 7*time.Second || a.took > 15*time.Second {
		t.Errorf("RESUME by a slow terminal was answered after %.1f s", a.took.Seconds())
	}
	st.arrived(t, over)
	over.window = d.windows()[len(d.windows())-1]
	w.becomes(t, soon, codexAgent, over.native, "live, with nothing held", func(r core.Row) bool { return r.Status == core.StatusLive && r.Busy == "" })
	over.pane = nil
	w.endAPI(t, over)
	w.endAPI(t, other)
}

// slowXterm returns a PATH on which xterm takes 7 s for its window.
func slowXterm(t *testing.T) string {
	t.Helper()
	slow := filepath.Join(st.dir, "slow")
	if err := os.MkdirAll(slow, 0o700); err != nil {
		t.Fatal(err)
	}
	real, err := exec.LookPath(xterm)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(slow, xterm), []byte("#!/bin/sh\nsleep 7\nexec "+real+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + slow
	for _, v := range st.env() {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path += ":" + p
		}
	}
	return path
}

// restartInLaunch ends the tower between a launch and its window. The window still comes, and the next
// tower knows whose it is.
func restartInLaunch(t *testing.T) {
	w := acting(t)
	w.startIn(t, []string{"serve"}, slowXterm(t))
	r := &worker{agent: claudeAgent, dir: st.freshFolder(t)}
	asked := make(chan string, 1)
	var l core.Launching
	r.window = st.desk.appears(t, "a launch whose tower ended", func() {
		go func() {
			_, stderr, code := w.run("launch", "--agent", "claude", "--cwd", r.dir, "--terminal", xterm)
			asked <- fmt.Sprintf("exit %d, %s", code, strings.TrimSpace(stderr))
		}()
		within(t, soon, "the launch shown as opening", func() bool {
			l, _ = launchOf(w.snapshot(t), r.dir)
			return l.State == core.LaunchOpening
		})
		w.stop(t)
		w.start(t, []string{"serve"})
	})
	t.Logf("who asked was told: %s", <-asked)
	st.arrived(t, r)
	row := w.becomes(t, soon, claudeAgent, r.native, "live under the next tower", status(core.StatusLive))
	if run := w.detail(t, row.ID).Runs[0]; run.LaunchToken != l.Token || l.Token == "" {
		t.Errorf("the session's run is %+v, want the token %q", run, l.Token)
	}
	if l, ok := launchOf(w.snapshot(t), r.dir); ok {
		t.Errorf("the launch is still shown as under way: %s", show(l))
	}
	w.endAPI(t, r)
}

// badInput asks for what cannot be: every answer is a sentence that says so, and nothing is opened.
func badInput(t *testing.T) {
	w := acting(t)
	windows := st.desk.windows()
	file := filepath.Join(st.dir, "a file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := st.freshFolder(t)
	for _, c := range []struct {
		what, says string
		args       []string
	}{
		{"an unknown id", "abcdef012345", []string{"end", "abcdef012345"}},
		{"an id too short to be one", "id", []string{"jump", "0"}},
		{"a folder that is a file", "is a file", []string{"launch", "--agent", "claude", "--cwd", file}},
		{"a folder that is not there", "does not exist", []string{"launch", "--agent", "claude", "--cwd", file + " too"}},
		{"an agent nobody knows", "nobody", []string{"launch", "--agent", "nobody", "--cwd", dir}},
		{"a terminal that is none", "toaster", []string{"launch", "--agent", "claude", "--cwd", dir, "--terminal", "toaster"}},
		{"a terminal that is not installed", "wezterm", []string{"launch", "--agent", "claude", "--cwd", dir, "--terminal", "wezterm"}},
		{"a model that is an option", "dash", []string{"launch", "--agent", "codex", "--cwd", dir, "--model", "--yolo"}},
	} {
		_, stderr, code := w.run(c.args...)
		if code != 1 && code != 3 || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit %d, want 1 or 3 and the word %q\n%s", c.what, code, c.says, stderr)
		}
		t.Logf("%s: exit %d, %s", c.what, code, strings.TrimSpace(stderr))
	}
	if now := st.desk.windows(); len(now) != len(windows) {
		t.Errorf("%d windows before, %d after", len(windows), len(now))
	}
}

// noDisplay launches from a tower that has none: into tmux, and a window that was asked for is refused.
func noDisplay(t *testing.T) {
	w := acting(t)
	w.startIn(t, []string{"serve"}, "DISPLAY=", "WAYLAND_DISPLAY=")
	_, stderr, code := w.run("launch", "--agent", "claude", "--cwd", st.freshFolder(t), "--terminal", xterm)
	refused(t, "a window without a display", stderr, code, "Not launched.", "display")
	r := &worker{agent: claudeAgent, dir: st.freshFolder(t)}
	res := w.do(t, "launch", "--agent", "claude", "--cwd", r.dir)
	if res.Launch == nil || res.Launch.Terminal != "tmux" {
		t.Errorf("without a display the launch went to %+v, want tmux", res.Launch)
	}
	st.arrived(t, r)
	w.becomes(t, soon, claudeAgent, r.native, "live without a display", status(core.StatusLive))
	_, stderr, code = w.run("jump", string(r.id()))
	refused(t, "JUMP without a display", stderr, code, "No window to jump to.")
	onlyOnce(t, w, r, "DOWORK without a display")
	w.endAPI(t, r)
}
