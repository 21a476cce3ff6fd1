//go:build e2e

package e2e

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tower/core"
)

// remains is what a tower could leave behind.
type remains struct {
	windows   int
	fds       []string
	clients   string // of the tower's own tmux
	processes []string
}

// resident are the services that a bus starts once and keeps.
var resident = []string{"dconf-service", "dbus-daemon", "gnome-terminal-"}

func (w *tower) remains() remains {
	r := remains{windows: len(w.stage.desk.windows())}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", w.cmd.Process.Pid))
	for _, f := range fds {
		to, _ := os.Readlink(f)
		kind, _, _ := strings.Cut(to, "[") // sockets and pipes have numbers that differ each time
		r.fds = append(r.fds, kind)
	}
	slices.Sort(r.fds)
	r.clients, _ = w.tmux("list-clients", "-F", "#{client_control_mode} #{client_session}")
	for _, p := range tagged(w.stage.tag) {
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p.pid))
		name := strings.TrimSpace(string(comm))
		if !slices.Contains(resident, name) {
			r.processes = append(r.processes, fmt.Sprintf("%d %s", p.pid, name))
		}
	}
	slices.Sort(r.processes)
	return r
}

// tmux asks the tower's own tmux server, which may not run.
func (w *tower) tmux(args ...string) (string, error) {
	files, _ := filepath.Glob(filepath.Join(w.stage.short, "tower-*", "tmux.sock"))
	if len(files) == 0 {
		return "", errors.New("there is no socket")
	}
	cmd := exec.Command("timeout", append([]string{"10", "tmux", "-S", files[0]}, args...)...)
	cmd.Env = w.env()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// tenWindows opens ten windows, in all terminals, and two panes of the tower's own tmux, and ends them
// by twos: nothing stays.
func tenWindows(t *testing.T) {
	w := acting(t)
	d := st.desk
	d.behind(t)
	// The first of each kind may well leave a thing that is there for all that follow.
	warm := w.launchTmux(t, codexAgent)
	w.endAPI(t, warm)
	var before remains
	until(t, 20*time.Second, "a desktop at rest", func() bool {
		now := w.remains()
		same := slices.Equal(now.processes, before.processes) && slices.Equal(now.fds, before.fds)
		before = now
		time.Sleep(300 * time.Millisecond)
		return same
	})
	var all []*worker
	for i := range 10 {
		terminal := []string{xterm, kitty, alacr, xfce, gnome}[i%5]
		r := &worker{agent: []core.Agent{claudeAgent, codexAgent}[i%2], dir: st.freshFolder(t)}
		r.window = d.appears(t, terminal, func() {
			w.asked(t, "/api/launch", map[string]any{"agent": r.agent, "cwd": r.dir, "terminal": terminal})
		})
		all = append(all, r)
	}
	for range 2 {
		all = append(all, w.launchTmux(t, claudeAgent))
	}
	for _, r := range all {
		st.arrived(t, r)
		w.becomes(t, soon, r.agent, r.native, "live", status(core.StatusLive))
	}
	for pair := range slices.Chunk(all, 2) {
		var both sync.WaitGroup
		for _, r := range pair {
			both.Go(func() {
				a := w.post(t, of(r.id(), "end"), map[string]any{})
				if a.code != 200 || !bytes.Contains(a.body, []byte(`"ended":true`)) {
					t.Errorf("END: %d %s", a.code, a.body)
				}
			})
		}
		both.Wait()
	}
	var after remains
	began := time.Now()
	for time.Since(began) < time.Duration(10*patience)*time.Second {
		after = w.remains()
		if after.windows == before.windows && len(after.fds) <= len(before.fds) && after.clients == before.clients && slices.Equal(after.processes, before.processes) {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Logf("%d windows, %d descriptors, %d processes before; %d, %d, %d after %.1f s", before.windows, len(before.fds), len(before.processes),
		after.windows, len(after.fds), len(after.processes), time.Since(began).Seconds())
	if after.windows != before.windows {
		t.Errorf("%d windows before, %d after", before.windows, after.windows)
	}
	if len(after.fds) > len(before.fds) {
		t.Errorf("the tower holds more open:\nbefore %q\nafter  %q", before.fds, after.fds)
	}
	if after.clients != before.clients {
		t.Errorf("clients of tmux: before %q, after %q", before.clients, after.clients)
	}
	if !slices.Equal(after.processes, before.processes) {
		t.Errorf("processes:\nbefore %q\nafter  %q", before.processes, after.processes)
	}
}

// launchTmux launches into the tower's own tmux, where no window shows it.
func (w *tower) launchTmux(t testing.TB, agent core.Agent) *worker {
	t.Helper()
	r := &worker{agent: agent, dir: w.stage.freshFolder(t)}
	w.asked(t, "/api/launch", map[string]any{"agent": agent, "cwd": r.dir, "terminal": "tmux"})
	w.stage.arrived(t, r)
	w.becomes(t, soon, agent, r.native, "live in the tower's tmux", status(core.StatusLive))
	return r
}

// secret is what the person's login shell exports, and nobody may write down.
var secret = "secret-" + rand.Text()

// furnishShell gives the stage's person a profile. It says all that the agents need once more, since a
// login begins with little.
func (s *stage) furnishShell() error {
	var b strings.Builder
	for _, v := range s.env() {
		name, value, _ := strings.Cut(v, "=")
		if name != "TERM" {
			fmt.Fprintf(&b, "export %s='%s'\n", name, value)
		}
	}
	fmt.Fprintf(&b, "export E2E_SECRET='%s'\n", secret)
	return os.WriteFile(filepath.Join(s.home, ".bash_profile"), []byte(b.String()), 0o600)
}

// noSecret launches agents that must get what the login shell exports, and looks for it everywhere
// else.
func noSecret(t *testing.T) {
	w := acting(t)
	r := w.launch(t, claudeAgent, "--name", "Keeper of secrets")
	p := w.launchTmux(t, codexAgent)
	for _, r := range []*worker{r, p} {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", r.proc.pid))
		if err != nil || !bytes.Contains(env, []byte("E2E_SECRET="+secret)) {
			t.Errorf("%s did not get the person's login environment (%v), so nothing is shown", r.agent, err)
		}
	}
	needles := [][]byte{[]byte(secret), []byte(fakeKey)}
	look := func(where string, text []byte) {
		for _, n := range needles {
			if bytes.Contains(text, n) {
				t.Errorf("a secret of the login environment stands in %s", where)
			}
		}
	}
	files := 0
	for _, root := range append([]string{w.home}, glob(filepath.Join(st.short, "tower-*"))...) {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil // a file that goes away while the tower works
			}
			if b, err := os.ReadFile(path); err == nil {
				files++
				look(path, b)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	processes := tagged(st.tag)
	for _, p := range processes {
		look(fmt.Sprintf("the arguments of process %d", p.pid), []byte(strings.Join(argv(p), " ")))
	}
	panes := 0
	for _, args := range [][]string{
		{"show-environment", "-g"}, {"show-environment", "-t", p.native}, {"show-options", "-g"}, {"show-options", "-s"}, {"show-hooks", "-g"},
		{"list-panes", "-a", "-F", "#{pane_id} #{pane_start_command} #{pane_current_command} #{pane_title} #{pane_start_path} #{session_name} #{window_name} #{@tower_id}"},
	} {
		out, _ := w.tmux(args...)
		look("tmux "+strings.Join(args, " "), []byte(out))
		if args[0] == "list-panes" {
			panes = strings.Count(out, "%")
			for line := range strings.Lines(out) {
				id, _, _ := strings.Cut(line, " ")
				env, _ := w.tmux("show-environment", "-t", id)
				look("tmux show-environment -t "+id, []byte(env))
			}
		}
	}
	t.Logf("looked for it in %d files, %d processes, %d panes", files, len(processes), panes)
	if files < 10 || len(processes) < 5 || panes == 0 {
		t.Error("that is too little to have looked everywhere")
	}
	w.endAPI(t, r)
	w.endAPI(t, p)
}

func glob(pattern string) []string {
	list, _ := filepath.Glob(pattern)
	return list
}
