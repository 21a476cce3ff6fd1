//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/color"
	"image/png"
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
	"tower/tray/icon"
	"tower/tray/menu"
)

// The tray is one a process, so every test runs it in a process of its own: this test binary, started
// again with childMark in its environment, showing the pictures its parent writes to it.
const childMark = "TOWER_TRAY_TEST_CHILD"

// TestTrayChild is that process. It reads pictures as lines of JSON and writes what happens as words.
func TestTrayChild(t *testing.T) {
	if os.Getenv(childMark) == "" {
		t.Skip("only a part of the other tests")
	}
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
			say("act", a.Do, a.Path)
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
		Log:       slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err := tray.Run(ctx); err != nil {
		t.Fatal(err)
	}
	say("done")
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
	c.cmd = exec.Command(os.Args[0], "-test.run=^TestTrayChild$", "-test.count=1")
	c.cmd.Env = append([]string{childMark + "=" + t.Name(), "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, env...)
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
			if w != "" && !strings.HasPrefix(w, "=== ") {
				c.t.Fatalf("the child said %q, want %q", w, want)
			}
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
	if s := c.errs.String(); strings.Contains(s, "panic") || strings.Contains(s, "DATA RACE") {
		c.t.Fatalf("the child's log:\n%s", s)
	}
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

func (c *child) click(label string) {
	c.t.Helper()
	for _, e := range c.menu() {
		if e.label == label {
			c.event(e.id)
			return
		}
	}
	c.t.Fatalf("no item reads %q", label)
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

var idleMenu = []string{"Nothing runs · nothing waits", "---", "Start an agent in any terminal: it appears within 5 seconds", "---", "Recent", "---", "Open dashboard", "Quit Tower"}

func TestTrayOnABus(t *testing.T) {
	b := newBus(t, t.TempDir())
	b.start(t)
	c := startChild(t, "DBUS_SESSION_BUS_ADDRESS="+b.address)
	c.conn = b.connect(t)
	c.show()
	c.hear("up")
	c.reads(idleMenu...)
	if got := c.property("Id"); got != "tower" {
		t.Errorf("the item's id is %v", got)
	}

	c.show(figure{"a", "under_score", "working"}, figure{"b", "Bad \xff\x00 title", "working"}, figure{"old", "Old", "past"})
	busy := []string{"2 working", "---", "► under__score · Claude · shop · no reading", "► Bad \ufffd title · Claude · shop · no reading", "---", "Recent", "Old · Claude", "---", "Open dashboard", "Quit Tower"}
	c.reads(busy...)

	c.show(figure{"a", "under_score", "waiting"}, figure{"b", "B", "working"}, figure{"old", "Old", "past"})
	c.reads("1 waits for you · 1 working", "---", "◆ under__score · asks: Which?", "► B · Claude · shop · no reading", "---", "Recent", "Old · Claude", "---", "Open dashboard", "Quit Tower")
	checkIcon(t, c, "waiting-1")

	// A row that has just come ignores its click, and acts on one a little later.
	c.show(figure{"a", "A", "waiting"}, figure{"n", "New", "waiting"}, figure{"b", "B", "working"})
	var id int32
	until(t, "the new row is shown", func() bool {
		for _, e := range c.menu() {
			if e.label == "◆ New · asks: Which?" {
				id = e.id
			}
		}
		return id != 0
	})
	c.event(id)
	time.Sleep(menu.Quiet) // the one thing measured here is this time
	c.click("Open dashboard")
	c.hear("act open /")
	c.click("◆ New · asks: Which?")
	c.hear("act open /#session=n")
	c.click("► B · Claude · shop · no reading")
	c.hear("act open /#session=b")

	c.click("Quit Tower")
	c.hear("act quit ")
	c.hear("done")
	c.ended()
	if left := processes(t); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// checkIcon compares what the bus carries with the drawing, pixel by pixel.
func checkIcon(t *testing.T, c *child, state string) {
	t.Helper()
	pixmaps, ok := c.property("IconPixmap").([][]any)
	if !ok || len(pixmaps) != 1 || pixmaps[0][0] != int32(22) || pixmaps[0][1] != int32(22) {
		t.Fatalf("IconPixmap = %T, want one of 22 x 22", c.property("IconPixmap"))
	}
	b, err := icon.PNG(state, 22)
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for y := range 22 {
		for x := range 22 {
			p := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			want = append(want, p.A, p.R, p.G, p.B)
		}
	}
	if !slices.Equal(pixmaps[0][2].([]byte), want) {
		t.Errorf("the icon on the bus is not %s", state)
	}
}

// TestTrayIsQuiet counts what goes over the bus when nothing that is shown changed.
func TestTrayIsQuiet(t *testing.T) {
	b := newBus(t, t.TempDir())
	b.start(t)
	c := startChild(t, "DBUS_SESSION_BUS_ADDRESS="+b.address)
	c.conn = b.connect(t)
	signals := make(chan *dbus.Signal, 10_000)
	c.show(figure{"a", "A", "working"})
	c.hear("up")
	if err := c.conn.AddMatchSignal(dbus.WithMatchSender(c.object("/").Destination())); err != nil {
		t.Fatal(err)
	}
	want := []string{"1 working", "---", "► A · Claude · shop · no reading", "---", "Recent", "---", "Open dashboard", "Quit Tower"}
	c.reads(want...)
	time.Sleep(300 * time.Millisecond) // the library refreshes once by itself, 150 ms after the first reading
	c.conn.Signal(signals)
	for range 200 {
		c.show(figure{"a", "A", "working"})
	}
	c.show(figure{"a", "B", "working"})
	want[2] = "► B · Claude · shop · no reading"
	c.reads(want...)
	_ = c.property("Title") // a round trip: what was sent before it has arrived
	if n := len(signals); n == 0 || n > 3 {
		t.Errorf("201 pictures with one change made %d signals, want 1 to 3", n)
	}
	c.end()
}

func TestTrayWithoutABus(t *testing.T) {
	bin := t.TempDir()
	marker := filepath.Join(bin, "ran")
	script := "#!/bin/sh\necho ran >> '" + marker + "'\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "dbus-launch"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string][]string{
		"nothing named":     nil,
		"asks for a new":    {"DBUS_SESSION_BUS_ADDRESS=autolaunch:"},
		"dead socket":       {"DBUS_SESSION_BUS_ADDRESS=unix:path=" + filepath.Join(bin, "nobody")},
		"nonsense":          {"DBUS_SESSION_BUS_ADDRESS=nonsense"},
		"empty runtime dir": {"XDG_RUNTIME_DIR=" + bin},
	} {
		t.Run(name, func(t *testing.T) {
			c := startChild(t, append(env, "PATH="+bin+":"+os.Getenv("PATH"))...)
			c.show(figure{"a", "A", "waiting"})
			until(t, "it says that there is no bus", func() bool { return strings.Contains(c.errs.String(), "no session bus answers") })
			c.end()
			if _, err := os.Stat(marker); err == nil {
				t.Error("dbus-launch was run")
			}
			if left := processes(t); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
		})
	}
}

// childLog is the child's standard error, read while it grows.
type childLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *childLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *childLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestTrayBusComesGoesAndComesBack(t *testing.T) {
	dir := t.TempDir()
	b := newBus(t, dir)
	c := startChild(t, "XDG_RUNTIME_DIR="+dir)
	c.show()
	until(t, "it says that there is no bus", func() bool { return strings.Contains(c.errs.String(), "no session bus answers") })
	b.start(t)
	c.hear("up")
	c.conn = b.connect(t)
	c.reads(idleMenu...)
	b.kill(t)
	c.hear("lost")
	for range 50 {
		c.show(figure{"a", "A", "waiting"}, figure{"b", "B", "working"})
	}
	b.start(t)
	c.hear("back")
	c.end()
	if n := strings.Count(c.errs.String(), "closed by user"); n > 1 {
		t.Errorf("the library complained %d times about the dead bus", n)
	}
	if left := processes(t); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// TestTraySlowAction: a click that takes its time holds up neither other clicks nor the drawing.
func TestTraySlowAction(t *testing.T) {
	b := newBus(t, t.TempDir())
	b.start(t)
	c := startChild(t, "DBUS_SESSION_BUS_ADDRESS="+b.address)
	c.conn = b.connect(t)
	c.show(figure{"slow", "Slow", "working"})
	c.hear("up")
	until(t, "the row is shown", func() bool { return slices.Contains(c.labels(), "► Slow · Claude · shop · no reading") })
	time.Sleep(menu.Quiet) // it may have come a moment after the first picture
	c.click("► Slow · Claude · shop · no reading")
	c.hear("act open /#session=slow")
	c.click("Open dashboard")
	c.hear("act open /")
	c.show(figure{"slow", "Renamed", "working"})
	until(t, "the row is drawn anew", func() bool { return slices.Contains(c.labels(), "► Renamed · Claude · shop · no reading") })
	c.end()
}

// watcher is a desktop's place for icons.
type watcher struct{ registered chan string }

func (w watcher) RegisterStatusNotifierItem(_ dbus.Sender, path string) *dbus.Error {
	w.registered <- path
	return nil
}

// TestTrayHostComesLate: without a place for icons the tray is up all the same, and takes the place
// when there is one.
func TestTrayHostComesLate(t *testing.T) {
	b := newBus(t, t.TempDir())
	b.start(t)
	c := startChild(t, "DBUS_SESSION_BUS_ADDRESS="+b.address)
	c.conn = b.connect(t)
	c.show()
	c.hear("up")
	c.reads(idleMenu...)
	w := watcher{make(chan string, 10)}
	if err := c.conn.Export(w, "/StatusNotifierWatcher", "org.kde.StatusNotifierWatcher"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.conn.RequestName("org.kde.StatusNotifierWatcher", dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	select {
	case path := <-w.registered:
		if path != "/StatusNotifierItem" {
			t.Errorf("registered %q", path)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the icon did not register")
	}
	c.end()
}

// TestIconNames: every state the menu can name is one that can be drawn.
func TestIconNames(t *testing.T) {
	states := icon.States()
	for n := range 12 {
		for _, bits := range []int{0, 1, 2, 4} {
			c := core.Counts{Waiting: n, Working: n % 2}
			if name := menu.IconName(c, bits&1 != 0, bits&2 != 0, bits&4 != 0); !slices.Contains(states, name) {
				t.Errorf("no picture for %q", name)
			}
		}
	}
}
