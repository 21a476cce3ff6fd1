package term

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	desktop := map[string]string{"DISPLAY": ":1", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus"}
	for _, c := range []struct {
		name, goos, want string
		env              map[string]string
		has              string
		got, refuse      string
	}{
		{name: "asked for", goos: "linux", want: "xterm", env: desktop, has: "xterm kitty", got: "xterm"},
		{name: "first there is", goos: "linux", env: desktop, has: "xterm gnome-terminal", got: "gnome-terminal"},
		{name: "the declared one first", goos: "linux", env: desktop, has: "xterm kitty xdg-terminal-exec", got: "xdg-terminal-exec"},
		{name: "not without a bus", goos: "linux", env: map[string]string{"DISPLAY": ":1"}, has: "xterm gnome-terminal", got: "xterm"},
		{name: "not without X", goos: "linux", env: map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, has: "xterm alacritty", got: "alacritty"},
		{name: "macOS", goos: "darwin", has: "osascript", got: "terminal"},
		{name: "macOS with iTerm2", goos: "darwin", has: "osascript " + itermApplication, got: "iterm2"},
		{name: "Windows", goos: "windows", has: "wt.exe", got: "windows-terminal"},
		{name: "no display", goos: "linux", has: "xterm", refuse: "neither DISPLAY nor WAYLAND_DISPLAY is set"},
		{name: "no display, asked for", goos: "linux", want: "xterm", has: "xterm", refuse: "neither DISPLAY nor WAYLAND_DISPLAY is set"},
		{name: "none installed", goos: "linux", env: desktop, refuse: "No terminal is installed"},
		{name: "not installed", goos: "linux", want: "kitty", env: desktop, has: "xterm", refuse: "kitty is not installed"},
		{name: "unknown", goos: "linux", want: "konsole", env: desktop, has: "konsole", refuse: `by the name "konsole"`},
		{name: "of another system", goos: "linux", want: "iterm2", env: desktop, has: itermApplication, refuse: "no terminal of this system"},
		{name: "asked for without a bus", goos: "linux", want: "gnome-terminal", env: map[string]string{"DISPLAY": ":1"}, has: "gnome-terminal", refuse: "session bus"},
		{name: "asked for without X", goos: "linux", want: "xterm", env: map[string]string{"WAYLAND_DISPLAY": "w"}, has: "xterm", refuse: "DISPLAY is not set"},
		{name: "no iTerm2", goos: "darwin", want: "iterm2", has: "osascript", refuse: "iterm2 is not installed"},
		{name: "unknown system", goos: "plan9", env: desktop, has: "xterm", refuse: "No terminal is installed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := Look{GOOS: c.goos, Getenv: func(k string) string { return c.env[k] }, Has: func(p string) (string, bool) {
				return "/usr/bin/" + p, slices.Contains(strings.Fields(c.has), p)
			}}
			got, err := l.Choose(c.want)
			if c.refuse == "" {
				if err != nil || got != c.got {
					t.Errorf("Choose(%q) = %q, %v, want %q", c.want, got, err, c.got)
				}
				return
			}
			r := refusal(t, err)
			if got != "" || r.What != "Not started." || !strings.Contains(r.Why, c.refuse) || r.Hint == "" {
				t.Errorf("Choose(%q) = %q, %+v", c.want, got, r)
			}
			if !strings.Contains(c.has, "tmux") && strings.Contains(r.Hint, "launch in tmux") {
				t.Errorf("Choose(%q) = %+v: there is no tmux", c.want, r)
			}
		})
	}
}

func TestBus(t *testing.T) {
	dir := t.TempDir()
	l := Look{Getenv: func(k string) string { return map[string]string{"XDG_RUNTIME_DIR": dir}[k] }}
	if l.bus() {
		t.Error("a bus is known in an empty folder")
	}
	s, err := net.Listen("unix", filepath.Join(dir, "bus"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !l.bus() {
		t.Error("the bus at its usual place is not known")
	}
}

func TestOrder(t *testing.T) {
	known := map[string]bool{}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, name := range Order(goos) {
			known[name] = true
			if !slices.Contains(Names(), name) {
				t.Errorf("%s of %s is not among Names", name, goos)
			}
		}
	}
	for _, name := range Names() {
		if !known[name] {
			t.Errorf("%s is a terminal of no system", name)
		}
	}
}
