package term

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tower/core"
)

// The terminals. The names are those a person writes into the settings.
const (
	xterm            = "xterm"
	kitty            = "kitty"
	alacritty        = "alacritty"
	xfce4Terminal    = "xfce4-terminal"
	gnomeTerminal    = "gnome-terminal"
	wezterm          = "wezterm"
	xTerminal        = "x-terminal-emulator"
	xdgTerminal      = "xdg-terminal-exec"
	appleTerminal    = "terminal"
	iterm2           = "iterm2"
	windowsTerminal  = "windows-terminal"
	itermApplication = "/Applications/iTerm.app/Contents/MacOS/iTerm2"
)

// Names lists every terminal known on any system. Which come first on one system tells [Order].
func Names() []string {
	return []string{xterm, kitty, alacritty, xfce4Terminal, gnomeTerminal, wezterm, xTerminal, xdgTerminal, appleTerminal, iterm2, windowsTerminal}
}

// Order lists the terminals of one system, the one to take when nothing is asked for first: what a person
// declared as theirs, then what somebody must have installed by choice, then what a desktop brings along,
// then the rest. It is empty for a system on which none is known.
func Order(goos string) []string {
	switch goos {
	case "windows":
		return []string{windowsTerminal, wezterm, alacritty}
	case "darwin":
		return []string{kitty, wezterm, alacritty, iterm2, appleTerminal}
	case "linux", "freebsd", "openbsd", "netbsd", "dragonfly":
		return []string{xdgTerminal, kitty, wezterm, alacritty, gnomeTerminal, xfce4Terminal, xTerminal, xterm}
	}
	return nil
}

// Look is what [Look.Choose] may look at.
type Look struct {
	GOOS   string
	Getenv func(string) string
	// Has tells where a program is, by its name or its whole path.
	Has func(program string) (path string, ok bool)
}

// Choose returns the name of the terminal to open: want, or the first of [Order] that can open a window here
// when want is "". What cannot be is a *core.Refusal "Not started." that says what to do.
func (l Look) Choose(want string) (string, error) {
	order := Order(l.GOOS)
	switch {
	case want != "" && !slices.Contains(Names(), want):
		return "", notStarted(fmt.Sprintf("No terminal is known by the name %q.", want), "Choose one of: "+strings.Join(order, ", ")+".")
	case want != "" && !slices.Contains(order, want):
		return "", notStarted(fmt.Sprintf("%s is no terminal of this system.", want), "Choose one of: "+strings.Join(order, ", ")+".")
	}
	if !l.display() {
		return "", notStarted("The tower has no display to open a window on: neither DISPLAY nor WAYLAND_DISPLAY is set.",
			"Start the tower inside the desktop session, "+l.windowless())
	}
	if want != "" {
		if why, hint := l.lacks(want); why != "" {
			return "", notStarted(why, hint)
		}
		return want, nil
	}
	for _, name := range order {
		if why, _ := l.lacks(name); why == "" {
			return name, nil
		}
	}
	return "", notStarted("No terminal is installed of those the tower can open: "+strings.Join(order, ", ")+".",
		"Install one of them, "+l.windowless())
}

// display tells whether there is any place for a window. Systems with one desktop have it.
func (l Look) display() bool {
	return l.GOOS == "darwin" || l.GOOS == "windows" || l.Getenv("DISPLAY") != "" || l.Getenv("WAYLAND_DISPLAY") != ""
}

// windowless is the way on for who cannot have a window.
func (l Look) windowless() string {
	if _, ok := l.Has("tmux"); ok {
		return "or launch in tmux."
	}
	return "or install tmux: a session can live there without a window."
}

// lacks tells what keeps a terminal of this system from opening a window, "" for nothing.
func (l Look) lacks(name string) (why, hint string) {
	program := programOf(name, l.GOOS)
	if name == iterm2 {
		program = itermApplication
	}
	if _, ok := l.Has(program); !ok {
		return fmt.Sprintf("%s is not installed: there is no program %s.", name, program), "Install it, or choose another terminal."
	}
	switch {
	case name == xterm && l.Getenv("DISPLAY") == "":
		return "xterm needs an X display and DISPLAY is not set.", "Choose another terminal."
	case name == gnomeTerminal && !l.bus():
		return "gnome-terminal needs a session bus and none is known: DBUS_SESSION_BUS_ADDRESS is not set.",
			"Start the tower inside the desktop session, or choose another terminal."
	}
	return "", ""
}

// bus tells whether a session bus is known, by its variable or at its usual place.
func (l Look) bus() bool {
	if l.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	run := l.Getenv("XDG_RUNTIME_DIR")
	if run == "" {
		return false
	}
	info, err := os.Stat(filepath.Join(run, "bus"))
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// programOf is the program that opens a window of the terminal.
func programOf(name, goos string) string {
	switch {
	case name == appleTerminal || name == iterm2:
		return "osascript"
	case name == windowsTerminal:
		return "wt.exe"
	case goos == "windows":
		return name + ".exe"
	}
	return name
}

func notStarted(why, hint string) *core.Refusal {
	return &core.Refusal{What: "Not started.", Why: why, Hint: hint}
}
