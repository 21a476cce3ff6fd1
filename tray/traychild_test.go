//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"tower/core"
	"tower/tray/menu"
)

// The tray is one a process, so every test runs it in a process of its own: this test binary, started
// again with childMark in its environment, showing the pictures its parent writes to it.
const childMark = "TOWER_TRAY_TEST_CHILD"

// init is that process: it runs before the test framework, which has nothing to do in it.
func init() {
	if os.Getenv(childMark) != "" {
		os.Exit(trayChild())
	}
}

// trayChild reads pictures as lines of JSON and writes what happens as words.
func trayChild() int {
	ctx, cancel := context.WithCancel(context.Background())
	var newest atomic.Pointer[core.Snapshot]
	updates := make(chan struct{}, 1)
	var out sync.Mutex
	say := func(a ...any) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(a...)
	}
	go func() {
		defer cancel()
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			s := childPicture(in.Bytes())
			newest.Store(s)
			select {
			case updates <- struct{}{}:
			default:
			}
		}
	}()
	tray := newTray(trayConfig{
		Snapshot: newest.Load, Updates: updates,
		Act: func(ctx context.Context, a menu.Action) {
			say("act", a.Do, a.Path+string(a.Session))
			if a.Path == "/#session=slow" {
				<-ctx.Done()
			}
			if a.Do == menu.DoQuit {
				cancel()
			}
		},
		OnUp:      func() { say("up") },
		OnBusLost: func() { say("lost") },
		OnBusBack: func() { say("back") },
		OnHidden:  func(why string) { fmt.Fprintln(os.Stderr, "hidden: "+why) },
		Log:       slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err := tray.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	say("done")
	return 0
}

// One session of a picture on its way to the child: id, title, pill.
type figure struct{ ID, Title, Pill string }

func childPicture(line []byte) *core.Snapshot {
	var figures []figure
	if err := json.Unmarshal(line, &figures); err != nil {
		panic(err)
	}
	s := &core.Snapshot{Agents: []core.AgentState{{Agent: "claude", Display: "Claude Code", Installed: true}}}
	for _, f := range figures {
		r := core.Row{Session: &core.Session{ID: core.SessionID(f.ID), Agent: "claude", Project: "shop"}, TitleText: f.Title, Group: core.GroupLive, Live: &core.Live{Pill: core.Pill(f.Pill)}}
		switch r.Live.Pill {
		case core.PillWaiting:
			r.Group, r.Live.Wait, r.Live.Ask = core.GroupNeedsYou, core.WaitQuestion, "Which?"
			s.Counts.Waiting++
		case "past":
			r.Group, r.Live = core.GroupPast, nil
		default:
			s.Counts.Working++
		}
		if r.Live != nil {
			s.Counts.Live++
		}
		s.Rows = append(s.Rows, r)
	}
	return s
}

// need skips a test for want of a program only when the person said so, and says which.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if slices.Contains(strings.Split(os.Getenv("TOWER_TEST_SKIP"), ","), program) {
		t.Skipf("%s is not installed, and TOWER_TEST_SKIP names it", program)
	}
	t.Fatalf("%s is not installed; install it, or set TOWER_TEST_SKIP=%s", program, program)
	return ""
}

// privateBus is a session bus of the test's own that starts nothing by itself.
type privateBus struct {
	address string
	config  string
	cmd     *exec.Cmd
}

func newBus(t *testing.T, dir string) *privateBus {
	t.Helper()
	socket := filepath.Join(dir, "bus")
	b := &privateBus{address: "unix:path=" + socket, config: filepath.Join(dir, "bus.conf")}
	xml := `<busconfig><type>session</type><listen>unix:path=` + socket + `</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
	if err := os.WriteFile(b.config, []byte(xml), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.kill(t) })
	return b
}

func (b *privateBus) start(t *testing.T) {
	t.Helper()
	b.cmd = exec.Command(need(t, "dbus-daemon"), "--config-file="+b.config, "--nofork", "--print-address=1")
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, b.address) {
		t.Fatalf("dbus-daemon: %q, %v", line, err)
	}
}

func (b *privateBus) kill(t *testing.T) {
	if b.cmd == nil {
		return
	}
	if err := b.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = b.cmd.Wait()
	b.cmd = nil
}

func (b *privateBus) connect(t *testing.T) *dbus.Conn {
	t.Helper()
	conn, err := dbus.Connect(b.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// child is the process with the tray.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	words chan string
	errs  *childLog
	conn  *dbus.Conn
}

func startChild(t *testing.T, env ...string) *child {
	t.Helper()
	c := &child{t: t, words: make(chan string, 1000), errs: &childLog{}}
	c.cmd = exec.Command(os.Args[0])
	c.cmd.Env = append([]string{childMark + "=" + t.Name(), "GORACE=exitcode=0", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
	c.cmd.Stderr = c.errs
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.words)
		for s := bufio.NewScanner(out); s.Scan(); {
			c.words <- s.Text()
		}
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		if t.Failed() {
			t.Logf("the child's log:\n%s", c.errs)
		}
	})
	return c
}

func (c *child) show(figures ...figure) {
	c.t.Helper()
	if figures == nil {
		figures = []figure{}
	}
	b, _ := json.Marshal(figures)
	if _, err := c.in.Write(append(b, '\n')); err != nil {
		c.t.Fatal(err)
	}
}

// hear waits for a word.
func (c *child) hear(want string) {
	c.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		select {
		case w, ok := <-c.words:
			if w == want {
				return
			}
			if !ok {
				c.t.Fatalf("the child ended without saying %q", want)
			}
			c.t.Fatalf("the child said %q, want %q", w, want)
		case <-deadline:
			c.t.Fatalf("the child did not say %q", want)
		}
	}
}

// end closes the child's input and checks that it ends well.
func (c *child) end() {
	c.t.Helper()
	_ = c.in.Close()
	c.hear("done")
	c.ended()
}

func (c *child) ended() {
	c.t.Helper()
	for range c.words { // up to the end of its output
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Fatalf("the child ended with %v", err)
	}
	if strings.Contains(c.errs.String(), "panic") {
		c.t.Fatal("the child panicked")
	}
	for _, r := range races(c.errs.String()) {
		c.t.Errorf("data race:\n%s", r)
	}
}

// races returns the reports of the race detector, without those of the one race that is known: the
// library reads the number of its menu's revision without the lock under which it counts it up.
func races(log string) (found []string) {
	reports := strings.Split(log, "WARNING: DATA RACE")
	for _, r := range reports[1:] {
		r, _, _ = strings.Cut(r, "\n==================")
		if !strings.Contains(r, "fyne.io/systray.refresh()") || !strings.Contains(r, "fyne.io/systray.(*tray).GetLayout()") {
			found = append(found, r)
		}
	}
	return found
}

// until repeats a question to the desktop until it is answered as wanted.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not come to this: %s", what)
		}
	}
}

func (c *child) object(path string) dbus.BusObject {
	return c.conn.Object("org.kde.StatusNotifierItem-"+strconv.Itoa(c.cmd.Process.Pid)+"-1", dbus.ObjectPath(path))
}

// layout is a node of com.canonical.dbusmenu.
type layout struct {
	ID    int32
	Props map[string]dbus.Variant
	Sub   []dbus.Variant
}

type entry struct {
	id      int32
	label   string
	enabled bool
}

// menu reads the shown items the way a panel does, submenus behind their owner.
func (c *child) menu() []entry {
	c.t.Helper()
	var revision uint32
	var root layout
	if err := c.object("/StatusNotifierItem/menu").Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &root); err != nil {
		c.t.Fatal(err)
	}
	var found []entry
	var walk func(layout)
	walk = func(l layout) {
		for _, v := range l.Sub {
			var sub layout
			if err := dbus.Store([]any{v.Value()}, &sub); err != nil {
				c.t.Fatal(err)
			}
			e := entry{id: sub.ID, enabled: true}
			shown := true
			for name, to := range map[string]any{"label": &e.label, "enabled": &e.enabled, "visible": &shown} {
				if p, ok := sub.Props[name]; ok {
					if err := p.Store(to); err != nil {
						c.t.Fatal(err)
					}
				}
			}
			if kind, ok := sub.Props["type"]; ok && kind.Value() == "separator" {
				e.label = "---"
			}
			if shown {
				found = append(found, e)
				walk(sub)
			}
		}
	}
	walk(root)
	return found
}

func (c *child) labels() []string {
	var l []string
	for _, e := range c.menu() {
		l = append(l, e.label)
	}
	return l
}

// reads waits until the menu reads so.
func (c *child) reads(want ...string) {
	c.t.Helper()
	var got []string
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if got = c.labels(); slices.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("the menu reads\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// id is the number of the shown item that reads so, 0 when none does.
func (c *child) id(label string) int32 {
	c.t.Helper()
	for _, e := range c.menu() {
		if e.label == label {
			return e.id
		}
	}
	return 0
}

func (c *child) click(label string) {
	c.t.Helper()
	id := c.id(label)
	if id == 0 {
		c.t.Fatalf("no item reads %q", label)
	}
	c.event(id)
}

func (c *child) event(id int32) {
	c.t.Helper()
	if err := c.object("/StatusNotifierItem/menu").Call("com.canonical.dbusmenu.Event", 0, id, "clicked", dbus.MakeVariant(""), uint32(0)).Err; err != nil {
		c.t.Fatal(err)
	}
}

func (c *child) property(name string) any {
	c.t.Helper()
	v, err := c.object("/StatusNotifierItem").GetProperty("org.kde.StatusNotifierItem." + name)
	if err != nil {
		c.t.Fatal(err)
	}
	return v.Value()
}

// processes counts the living processes that carry the mark of this test.
func processes(t *testing.T) (pids []int) {
	t.Helper()
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err == nil && slices.Contains(strings.Split(string(env), "\x00"), childMark+"="+t.Name()) {
			pid, _ := strconv.Atoi(filepath.Base(d))
			pids = append(pids, pid)
		}
	}
	return pids
}
