//go:build linux

package term

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tower/core"
	"tower/core/proc"
)

// rig is a desktop of its own: an X server on a free display, a window manager, and when asked a session bus.
type rig struct {
	t    testing.TB
	home string
	tag  string
	env  []string
	desk *Desk
	n    int
	x    *exec.Cmd
	wm   *exec.Cmd
}

// newRig starts a desktop, which its programs open by the key in that file, "" for none, and ends all that was started in it with the test.
func newRig(t testing.TB, manager bool, key string, options ...string) *rig {
	t.Helper()
	needs(t, "Xvfb", "openbox", "xdotool", "xterm")
	r := &rig{t: t, home: t.TempDir()}
	r.tag = "TOWER_TEST_RIG=" + filepath.Base(filepath.Dir(r.home)) + strconv.FormatInt(time.Now().UnixNano(), 36)
	run := filepath.Join(r.home, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	r.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "XDG_RUNTIME_DIR=" + run, "LANG=C.UTF-8", "LIBGL_ALWAYS_SOFTWARE=1",
		"NO_AT_BRIDGE=1", "GTK_A11Y=none", "GDK_BACKEND=x11", "SHELL=/bin/sh", r.tag}
	t.Cleanup(r.end)
	ready, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command("Xvfb", append([]string{"-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"}, options...)...)
	server.ExtraFiles = []*os.File{out}
	r.x = server
	r.start(server)
	out.Close()
	ready.SetReadDeadline(time.Now().Add(10 * time.Second))
	number, err := bufio.NewReader(ready).ReadString('\n')
	ready.Close()
	if err != nil {
		t.Fatalf("Xvfb did not start: %v", err)
	}
	r.env = append(r.env, "DISPLAY=:"+strings.TrimSpace(number))
	if key != "" {
		r.env = append(r.env, "XAUTHORITY="+key)
	}
	r.desk = NewDesk(func() []string { return r.env }, nil)
	if manager {
		r.wm = exec.Command("openbox", "--sm-disable")
		r.start(r.wm)
		r.until(10*time.Second, "the window manager", func() bool { _, err := r.desk.Windows(t.Context()); return err == nil })
	}
	return r
}

// bus starts a session bus on which only these services may be started.
func (r *rig) bus(services ...string) {
	r.t.Helper()
	needs(r.t, "dbus-daemon")
	dir := filepath.Join(r.home, "services")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	for _, s := range services {
		b, err := os.ReadFile("/usr/share/dbus-1/services/" + s + ".service")
		if err != nil {
			r.t.Skipf("no D-Bus service %s", s)
		}
		if err := os.WriteFile(filepath.Join(dir, s+".service"), b, 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	socket := filepath.Join(r.home, "run", "bus")
	conf := filepath.Join(r.home, "bus.conf")
	err := os.WriteFile(conf, []byte(`<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=`+socket+`</listen><auth>EXTERNAL</auth><servicedir>`+dir+`</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
`), 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	r.start(exec.Command("dbus-daemon", "--config-file="+conf, "--nofork", "--nopidfile"))
	r.env = append(r.env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+socket)
	r.until(10*time.Second, "the session bus", func() bool { _, err := os.Stat(socket); return err == nil })
}

// start runs a part of the rig, and reaps it.
func (r *rig) start(cmd *exec.Cmd) {
	r.t.Helper()
	cmd.Env = r.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go cmd.Wait()
}

// end ends exactly the processes that carry this rig's mark, whoever started them.
func (r *rig) end() {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		left := 0
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			env, err := os.ReadFile(filepath.Join(dir, "environ"))
			if err == nil && pid != os.Getpid() && bytes.Contains(env, []byte(r.tag)) {
				syscall.Kill(pid, syscall.SIGKILL)
				left++
			}
		}
		if left == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	r.t.Error("processes of the test desktop are left")
}

// until waits for a condition.
func (r *rig) until(limit time.Duration, what string, yes func() bool) {
	r.t.Helper()
	if !poll(context.Background(), limit, yes) {
		r.t.Fatalf("%s did not come within %v", what, limit)
	}
}

// child is a program in a window.
type child struct {
	report
	file    string
	opening *Opening
}

// file names a place for the next child's report.
func (r *rig) file() string {
	r.n++
	return filepath.Join(r.home, fmt.Sprintf("child %d", r.n))
}

// open opens a window by the command Build makes, and waits until its program has told of itself.
func (r *rig) open(name, mode string, args ...string) child {
	r.t.Helper()
	file := r.file()
	c, err := Build(name, Spec{Title: "title of " + name, Dir: r.home, Argv: append([]string{self(r.t), mode, file}, args...), Env: r.env}, "linux")
	if err != nil {
		r.t.Fatal(err)
	}
	return r.run(c, file)
}

// run opens any command whose program tells of itself in file.
func (r *rig) run(c Command, file string) child {
	r.t.Helper()
	o, err := Open(r.t.Context(), c)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.wait(file, o)
}

func (r *rig) wait(file string, o *Opening) child {
	r.t.Helper()
	ch := child{file: file, opening: o}
	r.until(20*time.Second, "the program in the window", func() bool {
		if o != nil && o.Err() != nil {
			r.t.Fatal(o.Err())
		}
		b, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			return false
		}
		return err == nil && json.Unmarshal(b, &ch.report) == nil
	})
	return ch
}

// table reads the process table as the engine does.
func table(t testing.TB) core.Table {
	t.Helper()
	got, err := proc.NewReader().Read()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func process(t testing.TB, tab core.Table, pid int) core.Process {
	t.Helper()
	p, ok := tab.Proc(pid)
	if !ok {
		t.Fatalf("process %d is not there", pid)
	}
	return core.Process{Boot: tab.Boot(), PID: pid, Start: p.Start}
}

// find looks a child's window up. The window may come a moment after its program.
func (r *rig) find(c child) Window {
	r.t.Helper()
	var w Window
	var err error
	if !poll(r.t.Context(), 10*time.Second, func() bool {
		tab := table(r.t)
		w, err = r.desk.Find(r.t.Context(), tab, process(r.t, tab, c.PID))
		return err == nil
	}) {
		r.t.Fatalf("Find(%d) = %v", c.PID, err)
	}
	return w
}

// inFocus asks another program which window has the focus.
func (r *rig) inFocus() string {
	r.t.Helper()
	cmd := exec.Command("xdotool", "getactivewindow")
	cmd.Env = r.env
	out, err := cmd.Output()
	if err != nil {
		return "none"
	}
	return strings.TrimSpace(string(out))
}

// jump focuses a child's window and sees that it was done.
func (r *rig) jump(c child) Window {
	r.t.Helper()
	w := r.find(c)
	if err := r.desk.Focus(r.t.Context(), w); err != nil {
		r.t.Fatalf("Focus(%+v) = %v", w, err)
	}
	if got := r.inFocus(); got != w.XID {
		r.t.Fatalf("after Focus(%s) the window in focus is %s", w.XID, got)
	}
	return w
}
