//go:build linux

package main

import (
	"bytes"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"tower/core"
	"tower/tray/icon"
	"tower/tray/menu"
)

var idleMenu = []string{"Nothing runs · nothing waits", "---", "Start an agent in any terminal: it appears within 5 seconds", "---", "End", "Recent", "Launch", "Claude Code", "Other folder…", "---", "Open dashboard", "Quit Tower"}

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
	busy := []string{"2 working", "---", "► under__score · Claude · shop · no reading", "► Bad \ufffd title · Claude · shop · no reading", "---",
		"End", "under__score · Claude", "Bad \ufffd title · Claude", "Recent", "Old · Claude", "Launch", "Claude Code", "Other folder…", "---", "Open dashboard", "Quit Tower"}
	c.reads(busy...)

	c.show(figure{"a", "under_score", "waiting"}, figure{"b", "B", "working"}, figure{"old", "Old", "past"})
	c.reads("1 waits for you · 1 working", "---", "◆ under__score · asks: Which?", "► B · Claude · shop · no reading", "---",
		"End", "under__score · Claude", "B · Claude", "Recent", "Old · Claude", "Launch", "Claude Code", "Other folder…", "---", "Open dashboard", "Quit Tower")
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
	c.hear("act jump n")
	c.click("► B · Claude · shop · no reading")
	c.hear("act jump b")

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
	want := []string{"1 working", "---", "► A · Claude · shop · no reading", "---", "End", "A · Claude", "Recent", "Launch", "Claude Code", "Other folder…", "---", "Open dashboard", "Quit Tower"}
	c.reads(want...)
	time.Sleep(300 * time.Millisecond) // the library refreshes once by itself, 150 ms after the first reading
	c.conn.Signal(signals)
	for range 200 {
		c.show(figure{"a", "A", "working"})
	}
	c.show(figure{"a", "B", "working"})
	want[2], want[5] = "► B · Claude · shop · no reading", "B · Claude"
	c.reads(want...)
	_ = c.property("Title") // a round trip: what was sent before it has arrived
	// Its own row and the one under End, three signals each.
	if n := len(signals); n == 0 || n > 6 {
		t.Errorf("201 pictures with one change made %d signals, want 1 to 6", n)
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
			until(t, "it says that there is no bus", func() bool {
				said := c.errs.String()
				return strings.Contains(said, "no session bus answers") && strings.Contains(said, "hidden: there is no desktop session here\n")
			})
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
	c.hear("act jump slow")
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
	c.show(figure{"old", "Old", "past"})
	c.hear("up")
	want := slices.Insert(slices.Clone(idleMenu), 6, "Old · Claude")
	c.reads(want...)
	until(t, "it says that nobody shows the icon", func() bool { return strings.Contains(c.errs.String(), "hidden: this desktop has no place for icons") })
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
	// A new reader of the menu may have lost its submenus: it is given new ones, which work.
	old := c.id("Old · Claude")
	now := old
	for range renewals {
		until(t, "the submenu is new", func() bool {
			id := c.id("Old · Claude")
			if id == 0 || id == now {
				return false
			}
			now = id
			return true
		})
	}
	c.reads(want...)
	c.event(old)
	c.click("Old · Claude")
	c.hear("act resume old")
	c.click("Open dashboard")
	c.hear("act open /")
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
