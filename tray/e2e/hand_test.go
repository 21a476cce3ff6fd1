//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"

	"tower/core"
)

// The terminals that are opened, by the names the tower has for them.
const (
	xterm  = "xterm"
	kitty  = "kitty"
	alacr  = "alacritty"
	xfce   = "xfce4-terminal"
	gnome  = "gnome-terminal"
	remote = "kitty with remote control" // opened by hand only: its owner has to allow it at its start
)

// inTerminal returns the command line that opens a window of a terminal on a command in a folder, as
// its manual tells.
func (s *stage) inTerminal(terminal, dir string, command []string) []string {
	switch terminal {
	case kitty:
		return append([]string{kitty, "-o", "confirm_os_window_close=0", "-d", dir}, command...)
	case remote:
		return append([]string{
			kitty, "-o", "confirm_os_window_close=0", "-o", "allow_remote_control=yes",
			"-o", "listen_on=unix:" + filepath.Join(s.short, "kitty-{kitty_pid}"), "-d", dir,
		}, command...)
	case alacr:
		// Some versions take the account's own home for granted and put it over HOME, so it is set again
		// behind them, by a program that then is the command.
		return append([]string{alacr, "-e", "env", "HOME=" + s.home, "USER=dev", "SHELL=/bin/bash"}, command...)
	case xfce:
		return append([]string{xfce, "--working-directory=" + dir, "-x"}, command...)
	case gnome:
		return append([]string{gnome, "--working-directory=" + dir, "--"}, command...)
	}
	return append([]string{terminal, "-e"}, command...)
}

// worker is an agent at work somewhere, known by the agent's own records.
type worker struct {
	agent  core.Agent
	native string
	proc   process
	dir    string
	window xproto.Window // that shows it; 0 = none does
	pane   *terminal     // of tmux that it runs in; nil = it runs in none
}

func (r *worker) id() core.SessionID { return core.NewSessionID(r.agent, r.native) }

// command is the agent as a person starts it.
func (s *stage) command(agent core.Agent, args ...string) []string {
	if agent == codexAgent {
		return append([]string{s.codex, noDaemon}, args...)
	}
	return append([]string{s.claude}, args...)
}

// How an agent is started by hand.
const (
	execed = "exec'ed" // the terminal's own command
	typed  = "typed"   // into a shell, which is there again afterwards
)

// openHand opens a window by hand with an agent in it, in a folder of its own, by which the agent is
// found again: arrived waits for it. The window is there when it returns.
func (d *desktop) openHand(t testing.TB, terminal, how string, agent core.Agent) *worker {
	t.Helper()
	r := &worker{agent: agent, dir: d.stage.freshFolder(t)}
	command := d.stage.command(agent)
	if how == typed {
		command = []string{"/bin/bash", "--norc", "--noprofile"}
	}
	argv := d.stage.inTerminal(terminal, r.dir, command)
	r.window = d.appears(t, terminal, func() {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = r.dir
		d.run(t, cmd)
	})
	if how == typed {
		until(t, 20*time.Second, "the shell in "+terminal, func() bool {
			_, ok := d.stage.processIn(r.dir, "bash")
			return ok
		})
		d.typeText(t, r.window, strings.Join(d.stage.command(agent), " ")+"\n")
	}
	return r
}

// openPane starts an agent in a pane of a person's own tmux server, which serves nothing else.
func (d *desktop) openPane(t testing.TB, how string, agent core.Agent) *worker {
	t.Helper()
	r := &worker{agent: agent, dir: d.stage.freshFolder(t)}
	command := d.stage.command(agent)
	if how == typed {
		command = []string{"/bin/bash", "--norc", "--noprofile"}
	}
	r.pane = d.stage.openOn(t, fmt.Sprintf("tmux-%d", d.stage.used), r.dir, command...)
	if how == typed {
		r.pane.keys(t, "-l", strings.Join(d.stage.command(agent), " "))
		r.pane.keys(t, "Enter")
	}
	return r
}

// openAttached is openPane with an xterm that shows the pane.
func (d *desktop) openAttached(t testing.TB, how string, agent core.Agent) *worker {
	t.Helper()
	r := d.openPane(t, how, agent)
	r.window = d.attach(t, r.pane)
	return r
}

// attach shows a pane's session in an xterm.
func (d *desktop) attach(t testing.TB, p *terminal) xproto.Window {
	t.Helper()
	session, alive := p.session()
	if !alive {
		t.Fatalf("the pane %s is gone at once", p.id)
	}
	return d.appears(t, "tmux attached in an xterm", func() {
		cmd := exec.Command(xterm, "-e", "tmux", "-S", filepath.Join(d.stage.short, p.server), "attach", "-t", session)
		cmd.Dir = d.stage.dir
		d.run(t, cmd)
	})
}

// arrived waits until the agent's own records name the session that runs in the worker's folder.
func (s *stage) arrived(t testing.TB, r *worker) *worker {
	t.Helper()
	until(t, 40*time.Second, fmt.Sprintf("%s in its own records, in %s", r.agent, r.dir), func() bool {
		r.native, r.proc = s.sessionIn(r.agent, r.dir)
		return r.native != ""
	})
	if r.agent == claudeAgent {
		until(t, 30*time.Second, "Claude Code idle by its own record", func() bool { return s.claudeSays(r.proc.pid, "idle") })
	}
	return r
}

// sessionIn returns the living session of a folder by the agent's own records.
func (s *stage) sessionIn(agent core.Agent, dir string) (native string, p process) {
	if agent == codexAgent {
		for thread, p := range s.heldThreads() {
			if cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.pid)); cwd == dir {
				return thread, p
			}
		}
		return "", process{}
	}
	files, _ := filepath.Glob(filepath.Join(s.home, ".claude", "sessions", "*.json"))
	for _, f := range files {
		pid, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(f), ".json"))
		r, ok := s.claudeRecordOf(pid)
		if p, alive := processOf(pid); ok && alive && r.CWD == dir && r.ProcStart == strconv.FormatUint(p.start, 10) {
			return r.SessionID, p
		}
	}
	return "", process{}
}

func (s *stage) claudeSays(pid int, status string) bool {
	r, _ := s.claudeRecordOf(pid)
	return r.Status == status
}

// processIn returns a process of ours with this name in a folder.
func (s *stage) processIn(dir, name string) (process, bool) {
	for _, p := range tagged(s.tag) {
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p.pid))
		cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", p.pid))
		if strings.TrimSpace(string(comm)) == name && cwd == dir {
			return p, true
		}
	}
	return process{}, false
}

// freshFolder returns a folder in which nothing ran yet and which both agents trust.
func (s *stage) freshFolder(t testing.TB) string {
	t.Helper()
	if s.used == freshFolders {
		t.Fatalf("all %d fresh folders are used", freshFolders)
	}
	s.used++
	return s.folder(freshName(s.used))
}

// freshFolders is how many of them there are: an agent that runs rewrites the file in which it keeps
// what it trusts, so all are made before the first one starts.
const freshFolders = 200

func freshName(n int) string { return fmt.Sprintf("fresh %03d", n) }
