package launch

import (
	"path/filepath"
	"slices"
	"strings"
)

// terminal are the variables by which a terminal tells its child which window it is in and what it
// understands. They are true of that window alone: those of a login shell are the tower's starter's.
var terminal = []string{
	"TERM", "COLORTERM", "COLORFGBG", "TERMINFO", "TERM_*", "LC_TERMINAL", "LC_TERMINAL_VERSION",
	"WINDOWID", "VTE_VERSION", "GNOME_TERMINAL_*", "XTERM_*", "KITTY_*", "ALACRITTY_*", "WEZTERM_*", "GHOSTTY_*",
	"KONSOLE_*", "TILIX_*", "TERMINATOR_*", "TERMINAL_EMULATOR", "ITERM_*", "WT_*", "TMUX", "TMUX_PANE", "STY",
	"SSH_TTY", "GPG_TTY",
}

// session are the variables of the desktop the terminal stands on. The terminal's win where it has
// them; a login shell's are good otherwise.
var session = []string{
	"DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XDG_SESSION_*", "XDG_SEAT", "XDG_VTNR",
	"XDG_CURRENT_DESKTOP", "DESKTOP_SESSION", "SESSION_MANAGER", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK",
	"SSH_CONNECTION", "SSH_CLIENT", "XPC_*",
}

// Merge lays what the terminal says of itself and of its display over the login environment. Nothing
// else of own, the environment of the program in the terminal, is taken, but for folders that its
// PATH has and the login's lacks: they come last, so that an agent which the tower found is found
// here as well.
func Merge(login, own []string) []string {
	own = last(own)
	env := without(without(last(login), terminal), momentary)
	for _, pair := range own {
		if name, _, _ := strings.Cut(pair, "="); among(terminal, name) || among(session, name) {
			env = append(env, pair)
		}
	}
	if path, ok := lookup(own, "PATH"); ok {
		base, _ := lookup(env, "PATH")
		list := filepath.SplitList(base)
		for _, dir := range filepath.SplitList(path) {
			if filepath.IsAbs(dir) && !slices.Contains(list, dir) {
				list = append(list, dir)
			}
		}
		env = append(env, "PATH="+strings.Join(list, string(filepath.ListSeparator)))
	}
	return last(env)
}
