//go:build e2e

package e2e

import (
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// desktop is a display of our own that nobody sees: an X server, a session bus on which only what
// terminals need can be activated, and a window manager. What it says of windows it reads from the X
// server itself, by no code of the product.
type desktop struct {
	stage   *stage
	display string
	bus     string
	x       *xgb.Conn
	root    xproto.Window
	atoms   map[string]xproto.Atom
	parts   []*exec.Cmd
	blank   xproto.Window // see behind
}

// desktopPrograms are what a desktop with every terminal cannot do without.
var desktopPrograms = []string{"Xvfb", "openbox", "dbus-daemon", "xdotool", "xterm", "kitty", "alacritty", "xfce4-terminal", "gnome-terminal"}

// activatable are the services that the bus may start: gnome-terminal opens no window without them.
var activatable = []string{"org.gnome.Terminal", "ca.desrt.dconf"}

func (s *stage) newDesktop(t testing.TB) *desktop {
	t.Helper()
	d := &desktop{stage: s, bus: "unix:path=" + filepath.Join(s.short, "desk-bus"), atoms: map[string]xproto.Atom{}}
	d.startX(t)
	d.startBus(t)
	d.connect(t)
	d.start(t, "openbox", "--sm-disable")
	until(t, 15*time.Second, "the window manager", func() bool {
		// The root's property outlives a window manager; the window that it names does not.
		w := d.windowsIn(d.root, "_NET_SUPPORTING_WM_CHECK")
		return len(w) == 1 && slices.Equal(d.windowsIn(w[0], "_NET_SUPPORTING_WM_CHECK"), w)
	})
	t.Logf("display %s, bus %s", d.display, d.bus)
	return d
}

// start starts one part of the desktop, or a program on it, that ends with the stage.
func (d *desktop) start(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = d.stage.dir
	d.run(t, cmd)
	d.parts = append(d.parts, cmd)
	return cmd
}

// run starts a command in the desktop's environment with its output in a file of the stage.
func (d *desktop) run(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	out, err := os.OpenFile(filepath.Join(d.stage.dir, "desktop.out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Env = d.stage.env(d.env()...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go cmd.Wait()
}

// env is what a program needs to find this desktop and no other.
func (d *desktop) env() []string {
	return []string{
		"DISPLAY=" + d.display, "DBUS_SESSION_BUS_ADDRESS=" + d.bus, "XAUTHORITY=" + filepath.Join(d.stage.dir, "no-xauthority"),
		"XDG_SESSION_TYPE=x11", "GDK_BACKEND=x11", "NO_AT_BRIDGE=1", "GTK_A11Y=none", "LIBGL_ALWAYS_SOFTWARE=1",
	}
}

func (d *desktop) startX(t testing.TB) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1600x1000x24", "-nolisten", "tcp", "-noreset")
	cmd.ExtraFiles = []*os.File{write}
	d.run(t, cmd)
	write.Close()
	d.parts = append(d.parts, cmd)
	// The number is written when the server takes connections; nothing comes when it could not start.
	read.SetReadDeadline(time.Now().Add(time.Duration(15*patience) * time.Second))
	b, err := io.ReadAll(read)
	number, bad := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || bad != nil {
		t.Fatalf("Xvfb told no display: %q, %v", b, err)
	}
	d.display = ":" + strconv.Itoa(number)
}

func (d *desktop) startBus(t testing.TB) {
	t.Helper()
	services := filepath.Join(d.stage.dir, "services")
	if err := os.MkdirAll(services, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range activatable {
		b, err := os.ReadFile(filepath.Join("/usr/share/dbus-1/services", name+".service"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(services, name+".service"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.parts = append(d.parts, d.stage.startBus(t, d.bus, services, d.env()...))
}

// startBus starts a session bus on which only the services of a folder can be activated; without a
// folder whoever answers there was started by the test.
func (s *stage) startBus(t testing.TB, address, services string, env ...string) *exec.Cmd {
	t.Helper()
	path := strings.TrimPrefix(address, "unix:path=")
	config := filepath.Join(s.dir, filepath.Base(path)+".conf")
	folder := ""
	if services != "" {
		folder = "<servicedir>" + services + "</servicedir>"
	}
	text := `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>` + address + `</listen><auth>EXTERNAL</auth>` + folder + `
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--nopidfile")
	cmd.Env = s.env(env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go cmd.Wait()
	until(t, 10*time.Second, "the bus's socket", func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
	return cmd
}

// connect is our own connection to the display.
func (d *desktop) connect(t testing.TB) {
	t.Helper()
	xgb.Logger = log.New(io.Discard, "", 0) // it speaks of a missing file that nobody needs
	os.Setenv("XAUTHORITY", filepath.Join(d.stage.dir, "no-xauthority"))
	x, err := xgb.NewConnDisplay(d.display)
	if err != nil {
		t.Fatal(err)
	}
	d.x, d.root = x, xproto.Setup(x).DefaultScreen(x).Root
	for _, name := range []string{"_NET_SUPPORTING_WM_CHECK", "_NET_CLIENT_LIST", "_NET_ACTIVE_WINDOW", "_NET_WM_PID", "_NET_WM_NAME"} {
		a, err := xproto.InternAtom(x, false, uint16(len(name)), name).Reply()
		if err != nil {
			t.Fatal(err)
		}
		d.atoms[name] = a.Atom
	}
}

// property reads a window's property; nil when the window is gone or has none.
func (d *desktop) property(w xproto.Window, name string) []byte {
	r, err := xproto.GetProperty(d.x, false, w, d.atoms[name], xproto.GetPropertyTypeAny, 0, 4096).Reply()
	if err != nil {
		return nil
	}
	return r.Value
}

func (d *desktop) windowsIn(w xproto.Window, name string) (list []xproto.Window) {
	for b := d.property(w, name); len(b) >= 4; b = b[4:] {
		list = append(list, xproto.Window(binary.LittleEndian.Uint32(b)))
	}
	return list
}

// windows returns every window that the window manager keeps for a program, oldest first.
func (d *desktop) windows() []xproto.Window { return d.windowsIn(d.root, "_NET_CLIENT_LIST") }

func (d *desktop) has(w xproto.Window) bool { return slices.Contains(d.windows(), w) }

// active returns the window that is in front and has the keyboard, 0 for none.
func (d *desktop) active() xproto.Window {
	if w := d.windowsIn(d.root, "_NET_ACTIVE_WINDOW"); len(w) == 1 {
		return w[0]
	}
	return 0
}

// owner returns the process that a window says is its program's.
func (d *desktop) owner(w xproto.Window) int {
	if b := d.property(w, "_NET_WM_PID"); len(b) >= 4 {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (d *desktop) title(w xproto.Window) string { return string(d.property(w, "_NET_WM_NAME")) }

// appears runs what opens one window and returns that window.
func (d *desktop) appears(t testing.TB, what string, open func()) xproto.Window {
	t.Helper()
	before := d.windows()
	open()
	var found xproto.Window
	until(t, 20*time.Second, "a window of "+what, func() bool {
		for _, w := range d.windows() {
			if !slices.Contains(before, w) {
				found = w
			}
		}
		return found != 0
	})
	return found
}

// front brings a window to the front by hand.
func (d *desktop) front(t testing.TB, w xproto.Window) {
	t.Helper()
	d.xdotool(t, "windowactivate", "--sync", strconv.Itoa(int(w)))
	until(t, 5*time.Second, fmt.Sprintf("window %d in front", w), func() bool { return d.active() == w })
}

// typeText presses the keys of a text in a window, as a person does: with the window in front.
func (d *desktop) typeText(t testing.TB, w xproto.Window, text string) {
	t.Helper()
	d.front(t, w)
	d.xdotool(t, "type", "--delay", "5", text)
}

// press presses keys by X's names for them.
func (d *desktop) press(t testing.TB, w xproto.Window, keys ...string) {
	t.Helper()
	d.front(t, w)
	d.xdotool(t, append([]string{"key"}, keys...)...)
}

func (d *desktop) xdotool(t testing.TB, args ...string) {
	t.Helper()
	cmd := exec.Command("timeout", append([]string{"20", "xdotool"}, args...)...)
	cmd.Env = d.stage.env(d.env()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("xdotool %q: %v\n%s", args, err, out)
	}
}

// close ends the display and with it whatever shows there.
func (d *desktop) close() {
	d.x.Close()
	for _, cmd := range slices.Backward(d.parts) {
		cmd.Process.Signal(os.Interrupt)
	}
}
