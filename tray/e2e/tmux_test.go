//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// terminal is one pane of a tmux server of our own: own socket, no user's configuration, and an
// environment that holds nothing but what the stage gives.
type terminal struct {
	stage  *stage
	server string // name of the server's socket
	id     string
	first  process // what the pane was started with
}

// common is the server of all that need none of their own.
const common = "tmux"

func (s *stage) tmux(args ...string) (string, error) { return s.tmuxOn(common, "", args...) }

func (p *terminal) tmux(args ...string) (string, error) { return p.stage.tmuxOn(p.server, "", args...) }

func (s *stage) tmuxOn(server, stdin string, args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(s.short, server), "-f", filepath.Join(s.dir, "tmux.conf")}, args...)...)
	cmd.Env, cmd.Dir, cmd.Stdin = s.env(), s.dir, strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimRight(string(out), "\n"), nil
}

// open starts a command in a pane of its own.
func (s *stage) open(t testing.TB, dir string, command ...string) *terminal {
	t.Helper()
	return s.openOn(t, common, dir, command...)
}

// openOn is open on a server of that name.
func (s *stage) openOn(t testing.TB, server, dir string, command ...string) *terminal {
	t.Helper()
	args := []string{"new-session", "-d", "-x", "140", "-y", "45", "-P", "-F", "#{pane_id} #{pane_pid}", "-c", dir, "--"}
	if len(command) == 1 {
		command = append([]string{"env"}, command...) // one word alone would be given to a shell
	}
	out, err := s.tmuxOn(server, "", append(args, command...)...)
	if err != nil {
		t.Fatal(err)
	}
	id, pid, _ := strings.Cut(out, " ")
	n, _ := strconv.Atoi(pid)
	first, ok := processOf(n)
	if !ok {
		t.Fatalf("the pane of %q is gone at once", command)
	}
	term := &terminal{s, server, id, first}
	s.terminals = append(s.terminals, term)
	t.Cleanup(func() { term.tmux("kill-pane", "-t", id) })
	return term
}

// session returns the session that the pane stands in; false when the pane is gone.
func (p *terminal) session() (string, bool) {
	out, err := p.tmux("display-message", "-p", "-t", p.id, "#{pane_id} #{session_id}")
	id, session, _ := strings.Cut(out, " ")
	return session, err == nil && id == p.id
}

// screen returns what the pane shows.
func (p *terminal) screen() string {
	out, err := p.tmux("capture-pane", "-p", "-t", p.id)
	if err != nil {
		return err.Error()
	}
	return out
}

func (p *terminal) shows(pattern string) bool {
	return regexp.MustCompile(pattern).MatchString(p.screen())
}

// keys presses keys by tmux's names for them.
func (p *terminal) keys(t testing.TB, keys ...string) {
	t.Helper()
	if _, err := p.tmux(append([]string{"send-keys", "-t", p.id}, keys...)...); err != nil {
		t.Fatal(err)
	}
}

// answer waits for a dialog and presses a key until it is gone. An agent may draw a dialog before it
// listens, so the key is pressed again while the dialog still stands.
func (p *terminal) answer(t testing.TB, dialog, key string) {
	t.Helper()
	until(t, 20*time.Second, "the dialog "+dialog, func() bool { return p.shows(dialog) })
	var pressed time.Time
	until(t, 20*time.Second, "an end of the dialog "+dialog, func() bool {
		if !p.shows(dialog) {
			return true
		}
		if time.Since(pressed) > 2*time.Second {
			p.keys(t, key)
			pressed = time.Now()
		}
		return false
	})
}

// slash types a slash command: a pasted one may not open the agent's menu of them.
func (p *terminal) slash(t testing.TB, name string) {
	t.Helper()
	p.keys(t, "-l", "/"+name)
	until(t, 5*time.Second, "the typed /"+name, func() bool { return p.shows(`/` + name) })
	p.keys(t, "Enter")
}

// submit pastes a prompt and presses Enter until took answers true. Enter is a call of its own, since
// in one with the text it is taken for a part of it; on a busy machine that happens even so, which is
// why it is pressed again when the agent tells nothing for 5 s.
func (p *terminal) submit(t testing.TB, text string, took func() bool) {
	t.Helper()
	if _, err := p.stage.tmuxOn(p.server, text, "load-buffer", "-b", "e2e", "-"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.tmux("paste-buffer", "-p", "-r", "-d", "-b", "e2e", "-t", p.id); err != nil {
		t.Fatal(err)
	}
	until(t, 10*time.Second, "the pasted text on the screen", func() bool { return strings.Contains(p.screen(), text) })
	time.Sleep(200 * time.Millisecond) // the agent must see the end of the paste before Enter
	for again := 0; ; again++ {
		p.keys(t, "Enter")
		began := time.Now()
		for time.Since(began) < 5*time.Second {
			if took() {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		if again == 4 {
			t.Fatalf("the agent took no notice of %q\n%s", text, describe())
		}
		t.Logf("pressing Enter once more for %q", text)
	}
}

// closePane closes the window under the agent.
func (p *terminal) closePane(t testing.TB) {
	t.Helper()
	if _, err := p.tmux("kill-pane", "-t", p.id); err != nil {
		t.Fatal(err)
	}
}
