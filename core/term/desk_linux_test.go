package term

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// hostile are arguments that a shell, an option reader or a script would act on.
var hostile = []string{"-x", "--version", "a b", `"q" 'q'`, "$(id)", "`id`", "$HOME", "é ü ß", "👩‍👩‍👧", ";", "#{x} %1", "line\nline", "", `back\slash`}

// TestTerminals opens two windows of each terminal by the command Build makes, and sees that the program got
// its arguments, folder and environment exactly, and that each program's own window is found and focused.
func TestTerminals(t *testing.T) {
	parent := t
	r := newRig(t, true, "")
	r.bus("org.gnome.Terminal", "ca.desrt.dconf")
	r.env = append(r.env, "TOWER_TEST_VALUE=a b é", "WINDOWID=12345", "KITTY_LISTEN_ON=unix:/nowhere", "TMUX=stale")
	for _, c := range []struct {
		name, how string
		shared    bool
	}{
		{"xterm", "WINDOWID and ancestry", false},
		{"alacritty", "WINDOWID and ancestry", false},
		{"xfce4-terminal", "WINDOWID and ancestry", false},
		{"x-terminal-emulator", "WINDOWID and ancestry", false},
		{"gnome-terminal", "title mark", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			needs(t, c.name)
			r.t = t
			defer func() { r.t = parent }()
			one, two := r.open(c.name, "show", hostile...), r.open(c.name, "show", hostile...)
			for _, ch := range []child{one, two} {
				if diff := cmp.Diff(hostile, ch.Args); diff != "" {
					t.Errorf("arguments differ (-want +got):\n%s", diff)
				}
				if ch.Dir != r.home {
					t.Errorf("folder = %s, want %s", ch.Dir, r.home)
				}
				for name, want := range map[string]string{"TOWER_TEST_VALUE": "a b é", "TMUX": "", "KITTY_LISTEN_ON": ""} {
					if got := ch.env(name); got != want {
						t.Errorf("%s = %q, want %q", name, got, want)
					}
				}
				if ch.env("WINDOWID") == "12345" {
					t.Error("a stale WINDOWID was handed on")
				}
			}
			r.find(one)
			r.find(two) // a window that still opens would take the focus
			w1, w2 := r.jump(one), r.jump(two)
			if w1.ID == w2.ID {
				t.Errorf("both programs are found in window %s", w1.ID)
			}
			if again := r.jump(one); again.ID != w1.ID {
				t.Errorf("found in window %s, before in %s", again.ID, w1.ID)
			}
			if c.name != "x-terminal-emulator" && (w1.How != c.how || w1.Shared != c.shared) {
				t.Errorf("found by %q, shared %v, want %q, %v", w1.How, w1.Shared, c.how, c.shared)
			}
			if active, err := r.desk.Active(t.Context()); err != nil || active.ID != w1.ID {
				t.Errorf("Active() = %s, %v, want %s", active.ID, err, w1.ID)
			}
			for i, ch := range []child{one, two} {
				syscall.Kill(ch.PID, syscall.SIGTERM)
				w := []Window{w1, w2}[i]
				r.until(5*time.Second, "the end of the window", func() bool {
					there, err := r.desk.Exists(t.Context(), w)
					return err == nil && !there
				})
				if what := refusal(t, r.desk.Focus(t.Context(), w)); what.What != noWindow {
					t.Errorf("Focus of a closed window = %v", what)
				}
			}
		})
	}
}

// TestSharedProcess has one process of a terminal show two windows, and sees that WINDOWID tells which.
func TestSharedProcess(t *testing.T) {
	needs(t, "xfce4-terminal")
	r := newRig(t, true, "")
	r.bus()
	var all []child
	for range 2 {
		file := r.file()
		all = append(all, r.run(Command{Terminal: "xfce4-terminal", Env: r.env, Argv: []string{"xfce4-terminal", "-x", self(t), "show", file}}, file))
	}
	r.find(all[0])
	r.find(all[1])
	w1, w2 := r.jump(all[0]), r.jump(all[1])
	if w1.PID != w2.PID || w1.PID == 0 {
		t.Fatalf("owners %d and %d: the test wants one process", w1.PID, w2.PID)
	}
	if w1.ID == w2.ID || !w2.Shared || w1.How != "WINDOWID and ancestry" {
		t.Errorf("found %+v and %+v", w1, w2)
	}
}

// TestMarkRestores has a window found by its title, and sees that the title is what it was.
func TestMarkRestores(t *testing.T) {
	needs(t, "gnome-terminal")
	r := newRig(t, true, "")
	r.bus("org.gnome.Terminal", "ca.desrt.dconf")
	one, _ := r.open("gnome-terminal", "show"), r.open("gnome-terminal", "show")
	r.until(10*time.Second, "the second window", func() bool { return r.find(one).Shared })
	titles := func() (all []string) {
		ws, err := r.desk.Windows(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range ws {
			all = append(all, w.Title)
		}
		return all
	}
	before := titles()
	if w := r.find(one); w.How != "title mark" {
		t.Fatalf("found by %q", w.How)
	}
	if diff := cmp.Diff(before, titles()); diff != "" {
		t.Errorf("titles differ (-before +after):\n%s", diff)
	}
	if strings.Contains(strings.Join(before, " "), "tower-") {
		t.Errorf("a mark is left: %q", before)
	}

	// A program that is stopped in favour of a shell is not written to.
	tab := table(t)
	s, err := look(tab, process(t, tab, one.PID))
	if err != nil {
		t.Fatal(err)
	}
	s.proc.TPGID++
	_, err = r.desk.findNative(t.Context(), s)
	if why := refusal(t, err); !strings.Contains(why.Why, "not in the foreground") || !strings.Contains(why.Hint, "“") {
		t.Errorf("refused with %v", why)
	}
}

// TestStaleWindow puts another window's id into a program's environment.
func TestStaleWindow(t *testing.T) {
	r := newRig(t, true, "")
	other := r.find(r.open("xterm", "show"))
	file := r.file()
	c, err := Build("xterm", Spec{Argv: []string{"/usr/bin/env", "WINDOWID=" + other.ID, self(t), "show", file}, Env: r.env}, "linux")
	if err != nil {
		t.Fatal(err)
	}
	stale := r.run(c, file)
	if got := stale.env("WINDOWID"); got != other.ID {
		t.Fatalf("WINDOWID = %s, want the stale %s", got, other.ID)
	}
	if w := r.jump(stale); w.ID == other.ID || w.How != "ancestor's only window" {
		t.Errorf("found %+v", w)
	}
}

// TestWithoutTerminal looks for the window of programs that have none.
func TestWithoutTerminal(t *testing.T) {
	r := newRig(t, true, "")
	cmd := exec.Command("sleep", "60")
	r.start(cmd)
	pid := cmd.Process.Pid
	find := func(d *Desk) error {
		tab := table(t)
		_, err := d.Find(t.Context(), tab, process(t, tab, pid))
		return err
	}
	why := refusal(t, find(r.desk))
	if why.What != noWindow || !strings.Contains(why.Why, strconv.Itoa(pid)) || !strings.Contains(why.Why, "without a terminal") {
		t.Errorf("refused with %v", why)
	}

	tab := table(t)
	p := process(t, tab, pid)
	p.Start++
	if _, err := r.desk.Find(t.Context(), tab, p); refusal(t, err).What != noWindow {
		t.Errorf("Find of a pid used again = %v", err)
	}

	// A window that is there and not shown is being opened or closed.
	hidden := r.open("xterm", "show")
	unmap := exec.Command("xdotool", "windowunmap", "--sync", r.find(hidden).ID)
	unmap.Env = r.env
	if out, err := unmap.CombinedOutput(); err != nil {
		t.Fatalf("xdotool: %v: %s", err, out)
	}
	r.until(5*time.Second, "the refusal of a window not shown", func() bool {
		tab := table(t)
		_, err := r.desk.Find(t.Context(), tab, process(t, tab, hidden.PID))
		return err != nil && strings.Contains(err.Error(), "not on the desktop")
	})

	// The background of the desktop belongs to the program that starts everything, and shows none of it.
	needs(t, "xprop")
	background := func(id string) {
		t.Helper()
		set := exec.Command("xprop", "-id", id, "-f", "_NET_WM_WINDOW_TYPE", "32a", "-set", "_NET_WM_WINDOW_TYPE", "_NET_WM_WINDOW_TYPE_DESKTOP")
		set.Env = r.env
		if out, err := set.CombinedOutput(); err != nil {
			t.Fatalf("xprop: %v: %s", err, out)
		}
	}
	told := r.file()
	c, err := Build("xterm", Spec{Argv: []string{"/usr/bin/env", "WINDOWID=", self(t), "show", told}, Env: r.env}, "linux")
	if err != nil {
		t.Fatal(err)
	}
	desktop := r.run(c, told)
	background(r.find(desktop).ID)
	tab = table(t)
	if w, err := r.desk.Find(t.Context(), tab, process(t, tab, desktop.PID)); err == nil || !strings.Contains(err.Error(), "its terminal is gone") {
		t.Errorf("found %+v, %v", w, err)
	}
	// One that drops down from the edge is of that kind too, but says that it is the program's.
	edge := r.open("xterm", "show")
	w := r.find(edge)
	background(w.ID)
	if again := r.find(edge); again.ID != w.ID || again.How != "WINDOWID and ancestry" {
		t.Errorf("found %+v", again)
	}

	needs(t, "script")
	file := r.file()
	script := exec.Command("script", "-qc", "exec "+self(t)+" show '"+file+"'", "/dev/null")
	stdin, err := script.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	r.start(script)
	inner := r.wait(file, nil)
	tab = table(t)
	_, err = r.desk.Find(t.Context(), tab, process(t, tab, inner.PID))
	tty, _ := os.Readlink("/proc/" + strconv.Itoa(inner.PID) + "/fd/0")
	if why := refusal(t, err); !strings.Contains(why.Why, tty) || !strings.HasPrefix(tty, "/dev/pts/") {
		t.Errorf("refused with %v, which does not name %s", why, tty)
	}
}

// TestNoManager asks a display without a window manager, one whose manager has ended, and none at all.
func TestNoManager(t *testing.T) {
	r := newRig(t, false, "")
	x := r.open("xterm", "show")
	find := func(d *Desk) error {
		tab := table(t)
		_, err := d.Find(t.Context(), tab, process(t, tab, x.PID))
		return err
	}
	if why := refusal(t, find(r.desk)); !strings.Contains(why.Why, "no window manager") {
		t.Errorf("without a window manager: %v", why)
	}
	if _, err := r.desk.Windows(t.Context()); err == nil {
		t.Error("Windows() without a window manager told some")
	}
	r.wm = exec.Command("openbox", "--sm-disable")
	r.start(r.wm)
	w := r.jump(x)
	r.wm.Process.Kill()
	r.until(5*time.Second, "the window manager's end", func() bool { _, err := r.desk.Windows(t.Context()); return err != nil })
	if why := refusal(t, find(r.desk)); !strings.Contains(why.Why, "no window manager") {
		t.Errorf("after the window manager's end: %v", why)
	}
	if there, err := r.desk.Exists(t.Context(), w); err == nil {
		t.Errorf("Exists() = %v where nobody can say", there)
	}
}

// TestDisplayThatHangs asks a server that accepts and says nothing.
func TestDisplayThatHangs(t *testing.T) {
	r := newRig(t, true, "")
	w := r.find(r.open("xterm", "show"))
	server := r.x.Process.Pid
	syscall.Kill(server, syscall.SIGSTOP)
	defer syscall.Kill(server, syscall.SIGCONT)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if err := r.desk.Focus(ctx, w); err == nil {
		t.Error("Focus on a display that hangs succeeded")
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("Focus waited %v beyond its context", took)
	}
}

// TestOtherDesktop focuses a window that is on a desktop not shown, and one that is put away.
func TestOtherDesktop(t *testing.T) {
	r := newRig(t, true, "")
	x := r.open("xterm", "show")
	w := r.find(x)
	r.find(r.open("xterm", "show"))
	do := func(args ...string) {
		t.Helper()
		cmd := exec.Command("xdotool", args...)
		cmd.Env = r.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("xdotool %v: %v: %s", args, err, out)
		}
	}
	do("set_desktop_for_window", w.ID, "2")
	do("set_desktop", "0")
	r.jump(x)
	do("windowminimize", w.ID)
	r.until(5*time.Second, "another window in focus", func() bool { return r.inFocus() != w.ID })
	r.jump(x)
}

// TestJumpTime holds finding and focusing an xterm's window to its budget.
func TestJumpTime(t *testing.T) {
	r := newRig(t, true, "")
	all := []child{r.open("xterm", "show"), r.open("xterm", "show")}
	r.find(all[0])
	r.find(all[1])
	var worst time.Duration
	const rounds = 20
	begin := time.Now()
	for i := range rounds {
		one := time.Now()
		tab := table(t)
		w, err := r.desk.Find(t.Context(), tab, process(t, tab, all[i%2].PID))
		if err == nil {
			err = r.desk.Focus(t.Context(), w)
		}
		if err != nil {
			t.Fatal(err)
		}
		worst = max(worst, time.Since(one))
	}
	t.Logf("Find and Focus of an xterm, the process table read anew: mean %v, worst %v", time.Since(begin)/rounds, worst)
	if mean := time.Since(begin) / rounds; mean > 300*time.Millisecond {
		t.Errorf("a jump took %v, want at most 300ms", mean)
	}
}

// TestAuthority opens a display that wants a key, by the key of the process's own environment.
func TestAuthority(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	own := entry(familyLocal, host, "", cookieName, strings.Repeat("k", 16))
	server, key := filepath.Join(t.TempDir(), "server"), filepath.Join(t.TempDir(), "key")
	for file, b := range map[string][]byte{server: own, key: append(entry(familyLocal, "other", "", cookieName, strings.Repeat("x", 16)), own...)} {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newRig(t, true, key, "-auth", server)
	x := r.open("xterm", "show")
	r.desk = NewDesk(func() []string { return nil }, nil) // what opens it stands in the environment of x alone
	w := r.find(x)
	if w.XAuthority != key {
		t.Errorf("found %+v, want the key %s", w, key)
	}
	if err := r.desk.Focus(t.Context(), w); err != nil {
		t.Error(err)
	}
	w.XAuthority = filepath.Join(t.TempDir(), "none")
	if err := r.desk.Focus(t.Context(), w); err == nil {
		t.Error("a display that wants a key was opened without one")
	}
}
