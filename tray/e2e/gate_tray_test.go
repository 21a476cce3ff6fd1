//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"tower/core"
)

// privateBus starts a session bus of our own and returns its address. Nothing can be activated on it,
// so whoever answers there was started by this test.
func privateBus(t *testing.T) string {
	t.Helper()
	address := "unix:path=" + filepath.Join(st.short, "session")
	cmd := st.startBus(t, address, "")
	t.Cleanup(func() { cmd.Process.Kill() })
	return address
}

// popups is a notification daemon that shows nothing and remembers everything.
type popups struct{ shown chan string }

func (p popups) Notify(app string, replaces uint32, icon, summary, body string, actions []string, hints map[string]dbus.Variant, expire int32) (uint32, *dbus.Error) {
	p.shown <- summary + "\n" + body
	return 1, nil
}

func (p popups) GetCapabilities() ([]string, *dbus.Error) { return []string{"body"}, nil }

func (p popups) CloseNotification(id uint32) *dbus.Error { return nil }

func (p popups) GetServerInformation() (name, vendor, version, spec string, err *dbus.Error) {
	return "e2e", "tower", "1", "1.2", nil
}

// watchPopups answers for the notification daemon on the bus.
func watchPopups(t *testing.T, conn *dbus.Conn) popups {
	t.Helper()
	const name, path = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
	p := popups{make(chan string, 64)}
	if err := conn.Export(p, path, name); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName(name, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	return p
}

// item is one row of the menu as a panel is told of it.
type item struct {
	id      int32
	label   string
	visible bool
	enabled bool
	above   []string // the labels of the submenus it stands in, from the outermost
}

// menuOf asks for the menu the way a panel does, over the bus.
func menuOf(conn *dbus.Conn, pid int) ([]item, error) {
	menu := conn.Object(fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", pid), "/StatusNotifierItem/menu")
	var revision uint32
	var root struct {
		ID       int32
		Props    map[string]dbus.Variant
		Children []dbus.Variant
	}
	if err := menu.Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &root); err != nil {
		return nil, err
	}
	var list []item
	var walk func(children []dbus.Variant, above []string)
	walk = func(children []dbus.Variant, above []string) {
		for _, c := range children {
			fields, ok := c.Value().([]any)
			if !ok || len(fields) != 3 {
				continue
			}
			id, _ := fields[0].(int32)
			props, _ := fields[1].(map[string]dbus.Variant)
			below, _ := fields[2].([]dbus.Variant)
			it := item{id: id, visible: true, enabled: true, above: above}
			it.label, _ = props["label"].Value().(string)
			if v, ok := props["visible"].Value().(bool); ok {
				it.visible = v
			}
			if v, ok := props["enabled"].Value().(bool); ok {
				it.enabled = v
			}
			list = append(list, it)
			walk(below, append(slices.Clone(above), it.label))
		}
	}
	walk(root.Children, nil)
	return list, nil
}

// find returns the visible row whose label holds all parts. An underscore is doubled on its way, as
// it marks a key there.
func find(items []item, parts ...string) (item, bool) {
	for _, it := range items {
		all := it.visible
		for _, p := range parts {
			all = all && strings.Contains(it.label, p)
		}
		if all {
			return it, true
		}
	}
	return item{}, false
}

func trayMenu(t *testing.T) {
	w := serving(t)
	w.stop(t)
	address := privateBus(t)
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	pop := watchPopups(t, conn)

	w.start(t, nil, "DBUS_SESSION_BUS_ADDRESS="+address)
	pid := w.cmd.Process.Pid
	var items []item
	within(t, soon, "the icon with its menu on the bus", func() bool {
		items, err = menuOf(conn, pid)
		_, ok := find(items, "Quit")
		return err == nil && ok
	})

	c := busyClaude(t, w, "tray")
	w.must(t, "rename", string(core.NewSessionID(claudeAgent, c.native)), "Feeding the quokka")
	within(t, soon, "the session's row in the menu", func() bool {
		items, err = menuOf(conn, pid)
		_, ok := find(items, "Feeding the quokka")
		return err == nil && ok
	})
	for len(pop.shown) > 0 {
		t.Errorf("a popup though nothing waited: %q", <-pop.shown)
	}
	ask(t, w, c.terminal, c.native, "TOUCHFILE please")
	began := time.Now()
	select {
	case text := <-pop.shown:
		t.Logf("popup %.2f s after the prompt was taken: %q", time.Since(began).Seconds(), text)
		if !strings.Contains(text, "Feeding the quokka") {
			t.Errorf("the popup does not name the session: %q", text)
		}
	case <-time.After(time.Duration(15*patience) * time.Second):
		t.Errorf("no popup for a session that waits\n%s", describe())
	}
	w.becomes(t, soon, claudeAgent, c.native, "waiting for a permission", pill(core.PillWaiting, core.WaitPermission))
	c.answer(t, permission, "Escape")
	c.record(t, "idle")
	w.becomes(t, soon, claudeAgent, c.native, "idle after Esc", pill(core.PillIdle, ""))

	if items, err = menuOf(conn, pid); err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		if it.visible {
			t.Logf("menu: %q", it.label)
		}
	}
	if _, ok := find(items, "Open dashboard"); !ok {
		t.Errorf("the menu has no Open dashboard: %+v", items)
	}
	quit, ok := find(items, "Quit")
	if !ok {
		t.Fatalf("the menu has no Quit: %+v", items)
	}
	// A row that has just been pushed by another takes no click for a moment, lest the hand meant what
	// stood there before; so a hand may have to press again.
	menu := conn.Object(fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", pid), "/StatusNotifierItem/menu")
	var pressed time.Time
	within(t, soon, "the end by Quit", func() bool {
		if time.Since(pressed) > time.Second && !w.ended() {
			pressed = time.Now()
			if err := menu.Call("com.canonical.dbusmenu.Event", 0, quit.id, "clicked", dbus.MakeVariant(""), uint32(0)).Err; err != nil && !w.ended() {
				t.Logf("click: %v", err)
			}
		}
		return w.ended()
	})
	w.ends(t, "Quit")
	if !c.proc.alive() {
		t.Error("Quit took the agent with it")
	}
}

// row returns the visible row below a path of submenus, each named by a part of its label, whose own
// label holds a part.
func row(items []item, part string, above ...string) (item, bool) {
	for _, it := range items {
		ok := it.visible && strings.Contains(it.label, part) && len(it.above) == len(above)
		for i := range above {
			ok = ok && strings.Contains(it.above[i], above[i])
		}
		if ok {
			return it, true
		}
	}
	return item{}, false
}

// click waits for a row and clicks it until what is wanted of it has come.
func click(t *testing.T, conn *dbus.Conn, pid int, what string, done func() bool, part string, above ...string) {
	t.Helper()
	menu := conn.Object(fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", pid), "/StatusNotifierItem/menu")
	within(t, soon, fmt.Sprintf("a row %q below %q", part, above), func() bool {
		items, err := menuOf(conn, pid)
		it, ok := row(items, part, above...)
		return err == nil && ok && it.enabled
	})
	// A row that has just been pushed takes no click for a moment; a second click is for that alone.
	var pressed time.Time
	presses := 0
	until(t, 10*time.Second, what, func() bool {
		if done() {
			return true
		}
		if time.Since(pressed) > 3*time.Second && presses < 2 {
			items, _ := menuOf(conn, pid)
			if it, ok := row(items, part, above...); ok {
				pressed = time.Now()
				presses++
				if err := menu.Call("com.canonical.dbusmenu.Event", 0, it.id, "clicked", dbus.MakeVariant(""), uint32(0)).Err; err != nil {
					t.Fatal(err)
				}
			}
		}
		return false
	})
}

// trayActs launches, jumps and ends by clicks in the menu alone.
func trayActs(t *testing.T) {
	w := acting(t)
	d := st.desk
	// The menu offers the folders in which sessions ran, so one has to have run.
	var before []*worker
	for _, agent := range []core.Agent{claudeAgent, codexAgent} {
		r := w.launch(t, agent, "--name", "Before the tray of "+string(agent))
		w.end(t, r)
		before = append(before, r)
	}
	conn, err := dbus.Connect(d.bus)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	w.startIn(t, nil)
	pid := w.cmd.Process.Pid
	for i, display := range []string{"Claude", "Codex"} {
		r := &worker{agent: before[i].agent, dir: before[i].dir}
		windows := d.windows()
		began := time.Now()
		click(t, conn, pid, "a window of the launch", func() bool { return len(d.windows()) > len(windows) }, filepath.Base(r.dir), "Launch", display)
		r.window = d.windows()[len(windows)]
		w.liveInTime(t, r, began)
		runs := w.detail(t, r.id()).Runs
		if runs[len(runs)-1].LaunchToken == "" {
			t.Errorf("the session from the tray has no launch's token: %+v", runs)
		}
		st.arrived(t, r)
		name := "Tray of " + display
		w.must(t, "rename", string(r.id()), name)
		d.front(t, d.behind(t))
		click(t, conn, pid, "the session's window in front", func() bool { return d.active() == r.window }, name)
		click(t, conn, pid, "the window's end", func() bool { return !d.has(r.window) }, name, "End")
		w.becomes(t, soon, r.agent, r.native, "killed from the tray", status(core.StatusKilled))
		if r.proc.alive() {
			t.Errorf("END from the tray left process %d", r.proc.pid)
		}
	}
}
