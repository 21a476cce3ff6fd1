//go:build unix

package tmux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tower/core"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// both runs a test through spawned clients and again through the control client.
func both(t *testing.T, s *server, test func(t *testing.T)) {
	t.Helper()
	s.mu.Lock()
	s.kicked = false
	s.mu.Unlock()
	t.Run("spawned", func(t *testing.T) { test(t) })
	s.linked()
	t.Run("control client", func(t *testing.T) {
		test(t)
		if s.current() == nil {
			t.Error("the control client was lost")
		}
	})
}

func TestPanes(t *testing.T) {
	s := newServer(t)
	if _, err := s.Panes(t.Context()); !errors.Is(err, ErrNoServer) {
		t.Errorf("Panes without a server = %v, want ErrNoServer", err)
	}
	if _, ok, err := s.Pane(t.Context(), "%0"); ok || err != nil {
		t.Errorf("Pane without a server = %v, %v", ok, err)
	}
	before := core.InstantOf(time.Now())
	p := s.run1(Start{ID: "one", Dir: s.dir, Argv: []string{"cat", "-u"}, Title: "a #{pane_id} | 100% #[x] %end", Width: 91, Height: 17})
	real, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	both(t, s, func(t *testing.T) {
		got := s.pane(p.ID)
		all, err := s.Panes(t.Context())
		if err != nil || len(all) != 1 {
			t.Fatalf("Panes = %v, %v, want the one and not the keeper", all, err)
		}
		for _, q := range []Pane{got, all[0]} {
			if q.PID <= 1 || q.ServerPID <= 1 || !isID(q.Session, '$') || !isID(q.Window, '@') || !strings.HasPrefix(q.TTY, "/dev/") {
				t.Errorf("ids are missing: %+v", q)
			}
			if q.Activity < before-2000 || q.Activity > core.InstantOf(time.Now())+1000 {
				t.Errorf("activity = %v, want about now", q.Activity)
			}
			want := Pane{ID: p.ID, Session: q.Session, Window: q.Window, PID: q.PID, ServerPID: q.ServerPID, TTY: q.TTY, Activity: q.Activity,
				SessionName: "one", Command: "cat", TowerID: "one", Title: "a #{pane_id} | 100% #[x] %end"}
			if diff := cmp.Diff(want, q); diff != "" {
				t.Errorf("pane (-want +got):\n%s", diff)
			}
		}
		lines, err := s.run(t.Context(), "display-message", "-p", "-t", p.ID, "#{pane_width}x#{pane_height} #{pane_current_path}")
		if want := "91x17 " + real; err != nil || strings.Join(lines, "\n") != want {
			t.Errorf("pane is %q, %v, want %q", lines, err, want)
		}
		for _, id := range []string{"%9999", "%", "", "one", "=one", "%1x", "$0", "%-1"} {
			if _, ok, err := s.Pane(t.Context(), id); ok || isID(id, '%') != (err == nil) {
				t.Errorf("Pane(%q) = %v, %v", id, ok, err)
			}
		}
	})
}

// TestHostileNames lets programs and persons choose names that would be read as something else.
func TestHostileNames(t *testing.T) {
	s := newServer(t)
	line := "evil\n%end 1 2 1\n%99\t$9\t@9\t1\n%begin 1 2 1"
	evil := s.run1(Start{ID: "evil", Dir: s.dir, Argv: []string{"/bin/bash", "-c", `exec -a "$1" sleep 1000`, "x", line}})
	titled := s.run1(Start{ID: "titled", Dir: s.dir, Argv: []string{"/bin/sh", "-c", `printf '\033]2;%s\007' "$1"; exec sleep 1000`, "x", "a|b\tc #{pane_id} %exit"}})
	eventually(t, "the title is set", func() bool { return strings.HasPrefix(s.pane(titled.ID).Title, "a|b") })
	eventually(t, "the name is set", func() bool { return strings.HasPrefix(s.pane(evil.ID).Command, "evil") })
	if _, err := s.run(t.Context(), "set-option", "-p", "-t", titled.ID, "@tower_id", "x\n%7\ty"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.run(t.Context(), "rename-session", "-t", titled.Session, "a|b\t%end 1 2 1"); err != nil {
		t.Fatal(err)
	}
	both(t, s, func(t *testing.T) {
		panes, err := s.Panes(t.Context())
		if err != nil || len(panes) != 2 {
			t.Fatalf("Panes = %+v, %v, want two", panes, err)
		}
		for _, p := range panes {
			switch p.ID {
			case evil.ID:
				if p.TowerID != "evil" || strings.ContainsAny(p.Command, "\n\t") {
					t.Errorf("pane of the hostile name = %+v", p)
				}
			case titled.ID:
				if !strings.Contains(p.Title, "|b") || !strings.HasSuffix(p.Title, "#{pane_id} %exit") || p.TowerID != "x_%7_y" || !strings.HasPrefix(p.SessionName, "a|b") {
					t.Errorf("pane of the hostile title = %+v", p)
				}
			default:
				t.Errorf("there is no pane %+v", p)
			}
		}
	})
}

func TestDeath(t *testing.T) {
	s := newServer(t)
	left := s.run1(Start{ID: "left", Dir: s.dir, Argv: []string{"/bin/sh", "-c", "echo last words; exit 7"}})
	killed := s.run1(Start{ID: "killed", Dir: s.dir, Argv: []string{"cat", "-u"}})
	signal(t, killed.PID, unix.SIGKILL)
	eventually(t, "it is known how both ended", func() bool { return s.pane(left.ID).DeadAt != 0 && s.pane(killed.ID).DeadAt != 0 })
	l, k := s.pane(left.ID), s.pane(killed.ID)
	now := core.InstantOf(time.Now())
	if l.Status != 7 || l.Signal != 0 || l.DeadAt == 0 || l.DeadAt > now+1000 || l.DeadAt < now-60_000 {
		t.Errorf("exit 7 is told as %+v", l)
	}
	if !l.Dead || !k.Dead {
		t.Errorf("dead panes are told as %+v and %+v", l, k)
	}
	if k.Signal != int(unix.SIGKILL) || k.Status != 0 || k.PID != killed.PID {
		t.Errorf("SIGKILL is told as %+v", k)
	}
	if text, err := s.Capture(t.Context(), left.ID, 10); text != "last words" || err != nil {
		t.Errorf("Capture of a dead pane = %q, %v", text, err)
	}
	for _, p := range []Pane{left, killed} {
		for range 2 { // gone already is no error
			if err := s.Kill(t.Context(), p.ID); err != nil {
				t.Errorf("Kill = %v", err)
			}
		}
	}
	if panes, err := s.Panes(t.Context()); len(panes) != 0 || err != nil {
		t.Errorf("Panes after Kill = %v, %v", panes, err)
	}
}

// TestEveryDeathIsLearned ends many programs one after the other. Where tmux uses libutempter, about
// one in fifteen of such ends is lost to the server.
func TestEveryDeathIsLearned(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := range 40 {
		p := s.run1(Start{ID: fmt.Sprintf("x%d", i), Dir: s.dir, Argv: []string{"sleep", "1000"}})
		signal(t, p.PID, unix.SIGKILL)
		eventually(t, "it is known how it ended", func() bool { return s.pane(p.ID).DeadAt != 0 })
		if q := s.pane(p.ID); q.Signal != int(unix.SIGKILL) {
			t.Errorf("SIGKILL is told as %+v", q)
		}
		if running(p.PID) {
			t.Error("the program is said to have ended and runs")
		}
	}
}

func TestKill(t *testing.T) {
	s := newServer(t)
	long := s.start("uniq-long", "environ", filepath.Join(s.dir, "long"))
	short := s.start("uniq", "environ", filepath.Join(s.dir, "short"))
	if _, err := s.Start(t.Context(), Start{ID: "uniq", Dir: s.dir, Argv: []string{"cat", "-u"}}); err == nil {
		t.Error("a second session of one name was started")
	}
	both(t, s, func(t *testing.T) {
		if err := s.Kill(t.Context(), short.Session); err != nil {
			t.Error(err)
		}
		if err := s.Kill(t.Context(), short.ID); err != nil {
			t.Error(err)
		}
		panes, err := s.Panes(t.Context())
		if err != nil || len(panes) != 1 || panes[0].ID != long.ID {
			t.Errorf("Panes = %+v, %v, want only uniq-long", panes, err)
		}
	})
	for _, id := range []string{"", "uniq", "=uniq", "%", "%1 ", "uniq-long", "@0"} {
		if err := s.Kill(t.Context(), id); err == nil {
			t.Errorf("Kill(%q) took a name for an id", id)
		}
	}
	if !strings.Contains(s.pane(long.ID).SessionName, "uniq-long") {
		t.Error("uniq-long was ended")
	}
	if err := s.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Kill(t.Context(), long.ID); err != nil {
		t.Errorf("Kill without a server = %v", err)
	}
}

func TestCapture(t *testing.T) {
	s := newServer(t)
	text := `for i in $(seq 1 100); do echo "line $i"; done; printf '%s\n' "$1"; echo; echo; echo "%end 1 2 1"; echo; exec sleep 1000`
	long := strings.Repeat("0123456789", 10)
	p := s.run1(Start{ID: "x", Dir: s.dir, Width: 40, Height: 10, Argv: []string{"/bin/sh", "-c", text, "x", long}})
	s.shows(p.ID, "%end")
	trimmed := func(lines int) string {
		got, err := s.Capture(t.Context(), p.ID, lines)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for row := range strings.SplitSeq(got, "\n") {
			rows = append(rows, strings.TrimRight(row, " "))
		}
		return strings.Join(rows, "|")
	}
	both(t, s, func(t *testing.T) {
		for lines, want := range map[int]string{
			0: "%end 1 2 1", 1: "%end 1 2 1", 5: "line 100|" + long + "|||%end 1 2 1",
			7: "line 98|line 99|line 100|" + long + "|||%end 1 2 1",
		} {
			if got := trimmed(lines); got != want {
				t.Errorf("Capture of %d lines = %q, want %q", lines, got, want)
			}
		}
		if got := trimmed(1000); !strings.HasPrefix(got, "line 1|line 2|") {
			t.Errorf("Capture of more than there is = %.40q", got)
		}
		if _, err := s.Capture(t.Context(), "%9999", 5); err == nil {
			t.Error("Capture of a pane that is not there gave no error")
		}
		if _, err := s.Capture(t.Context(), "x", 5); err == nil {
			t.Error("Capture took a name")
		}
	})
}

func TestStartArguments(t *testing.T) {
	s := newServer(t)
	all := append([]string{";", "-d", "--"}, hostile...)
	out := filepath.Join(s.dir, "argv")
	both(t, s, func(t *testing.T) {
		os.Remove(out)
		p, err := s.Start(t.Context(), Start{ID: "argv", Dir: s.dir, Argv: self(t, append([]string{"argv", out}, all...)...)})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "the arguments are written", func() bool { _, err := os.Stat(out); return err == nil })
		if diff := cmp.Diff(all, strings.Split(readFile(t, out), "\x00")); diff != "" {
			t.Errorf("arguments (-want +got):\n%s", diff)
		}
		if err := s.Kill(t.Context(), p.ID); err != nil {
			t.Fatal(err)
		}
		// A single word is a program and no shell command.
		program := filepath.Join(s.dir, "a b; $(x) 'y'")
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho started\nexec sleep 1000\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		p, err = s.Start(t.Context(), Start{ID: "word", Dir: s.dir, Argv: []string{program}})
		if err != nil {
			t.Fatal(err)
		}
		s.shows(p.ID, "started")
		if err := s.Kill(t.Context(), p.ID); err != nil {
			t.Fatal(err)
		}
	})
	for name, w := range map[string]Start{
		"no id":          {Dir: s.dir, Argv: []string{"cat"}},
		"id with a dot":  {ID: "a.b", Dir: s.dir, Argv: []string{"cat"}},
		"id with target": {ID: "a:1", Dir: s.dir, Argv: []string{"cat"}},
		"long id":        {ID: strings.Repeat("x", 65), Dir: s.dir, Argv: []string{"cat"}},
		"the keeper":     {ID: keeper, Dir: s.dir, Argv: []string{"cat"}},
		"no program":     {ID: "a", Dir: s.dir},
		"empty program":  {ID: "a", Dir: s.dir, Argv: []string{""}},
		"NUL":            {ID: "a", Dir: s.dir, Argv: []string{"cat", "a\x00b"}},
		"NUL in title":   {ID: "a", Dir: s.dir, Argv: []string{"cat"}, Title: "\x00"},
	} {
		if _, err := s.Start(t.Context(), w); err == nil {
			t.Errorf("%s: it was started", name)
		}
	}
	if p, err := s.Start(t.Context(), Start{ID: "absent", Dir: s.dir, Argv: []string{filepath.Join(s.dir, "absent"), "x"}}); err != nil || !p.Dead {
		t.Errorf("Start of a program that is not there = %+v, %v, want a dead pane", p, err)
	}
}

// TestFolderMismatch lets a folder go after it was looked at: tmux runs the program in another one, and
// that is closed again.
func TestFolderMismatch(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	gone := filepath.Join(s.dir, "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	s.o.Bin = s.wrapper(`[ "$a" = -C ] && exit 1; [ "$a" = ` + gone + ` ] && a=` + gone + `/away`)
	_, err := s.Start(t.Context(), Start{ID: "stray", Dir: gone, Argv: []string{"sleep", "1000"}})
	if err == nil || !strings.Contains(err.Error(), "runs in /") || !strings.HasSuffix(err.Error(), "and not in "+gone) {
		t.Errorf("Start in a folder that has gone = %v", err)
	}
	if panes, err := s.Panes(t.Context()); err != nil || len(panes) != 0 {
		t.Errorf("Panes = %+v, %v, want the stray one closed", panes, err)
	}
}

func TestSettings(t *testing.T) {
	s := newServer(t)
	s.start("x", "environ", filepath.Join(s.dir, "e"))
	s.linked()
	info, err := os.Stat(s.o.Conf)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("configuration = %v, %v, want mode 0600", info.Mode(), err)
	}
	option := func(name string) string {
		lines, err := s.run(t.Context(), "show-options", "-gv", name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(lines, "\n")
	}
	for name, want := range map[string]string{"history-limit": "10000", "default-size": "200x50", "status": "off", "remain-on-exit": "on", "prefix": "None"} {
		if got := option(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	// A server that an older tower left has older settings.
	if _, err := s.run(t.Context(), "set-option", "-g", "history-limit", "5"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.o.Conf, []byte("# older\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start("y", "environ", filepath.Join(s.dir, "e"))
	if got := option("history-limit"); got != "10000" {
		t.Errorf("history-limit after another start = %q", got)
	}
	if b := readFile(t, s.o.Conf); b != conf {
		t.Errorf("configuration = %q", b)
	}
	matches, err := filepath.Glob(filepath.Join(s.dir, ".tmux-*"))
	if err != nil || len(matches) != 0 {
		t.Errorf("left behind: %v, %v", matches, err)
	}
}

// TestKeeper lets the keeper go, and a session with a longer name stand where a prefix would match.
func TestKeeper(t *testing.T) {
	s := newServer(t)
	p := s.start(keeper+"-long", "environ", filepath.Join(s.dir, "e"))
	s.linked()
	if _, err := s.run(t.Context(), "kill-session", "-t", "="+keeper); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the control client is lost", func() bool { return s.current() == nil })
	q := s.start("other", "environ", filepath.Join(s.dir, "e"))
	s.linked()
	clients, err := s.Clients(t.Context())
	if err != nil || len(clients) != 1 || clients[0].Session == p.Session || clients[0].Session == q.Session {
		t.Errorf("Clients = %+v, %v, want the control client in a session of its own", clients, err)
	}
}

func TestNoTmux(t *testing.T) {
	s := newServer(t)
	s.start("x", "environ", filepath.Join(s.dir, "e"))
	none := New(Options{Bin: filepath.Join(s.dir, "none"), Socket: s.o.Socket, Conf: s.o.Conf, Env: testEnv()})
	defer none.Close()
	if _, err := none.Panes(t.Context()); !errors.Is(err, ErrNoTmux) {
		t.Errorf("Panes = %v, want ErrNoTmux", err)
	}
	if argv := none.AttachArgv(Pane{Session: "$1"}); argv != nil {
		t.Errorf("AttachArgv = %q", argv)
	}
	t.Setenv("PATH", s.dir)
	byName := New(Options{Socket: filepath.Join(s.dir, "t"), Conf: filepath.Join(s.dir, "c"), Env: testEnv()})
	defer byName.Close()
	if _, err := byName.Start(t.Context(), Start{ID: "x", Dir: s.dir, Argv: []string{"cat"}}); !errors.Is(err, ErrNoTmux) {
		t.Errorf("Start = %v, want ErrNoTmux", err)
	}
}

// TestWithoutControlClient uses a tmux that knows no control client as ours.
func TestWithoutControlClient(t *testing.T) {
	s := newServer(t)
	s.o.Bin = s.wrapper(`[ "$a" = -C ] && exit 1`)
	out := filepath.Join(s.dir, "out")
	p := s.start("x", "sink", out, "bracketed")
	s.shows(p.ID, "READY")
	if err := s.Paste(t.Context(), p.ID, "text"); err != nil {
		t.Fatal(err)
	}
	if err := s.Enter(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the text arrives", func() bool { return readFile(t, out) == pasteBegin+"text"+pasteEnd+"\r" })
	if s.current() != nil {
		t.Error("there is a control client")
	}
	if err := s.Kill(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
}
