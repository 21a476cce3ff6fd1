package term

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Spec is the program to show in a window of its own.
type Spec struct {
	// Title is what the window is called until the program names it. A terminal that would hold on to it
	// for ever, so that the program's own title is never seen, is not told.
	Title string
	// Dir is the folder to start in, absolute; "" leaves it to the terminal.
	Dir string
	// Argv is the program, by its absolute path, and its arguments. It arrives exactly or not at all.
	Argv []string
	// Env is the whole environment of the command that opens the window. What names a window or pane of
	// the terminal the tower itself was started in is taken out of it.
	Env []string
	// Control is the path of a socket that the new window is to be asked and typed into by, short enough
	// for one; "" = none. A terminal that has no such thing, or has its own, is not told.
	Control string
}

// Command is how to open a window.
type Command struct {
	Terminal   string
	Argv       []string // the first is a program's name, looked for in the PATH of Env
	Dir        string
	Env        []string
	Stdin      string // for an interpreter that reads its script there; "" = nothing to read
	Unverified bool   // nobody has seen it on a real system
}

// oneArgument is the longest argument Linux hands to a program.
const oneArgument = 128<<10 - 1

// Build returns the command that opens a window of the terminal name, one of [Names], on the system goos and
// runs the program in it without a shell. What the terminal cannot take exactly is a *core.Refusal
// "Not started.", and so is a name the system does not have. It is pure.
func Build(name string, s Spec, goos string) (Command, error) {
	if !slices.Contains(Order(goos), name) {
		return Command{}, notStarted(fmt.Sprintf("%q is no terminal of this system.", name),
			"Choose one of: "+strings.Join(Order(goos), ", ")+".")
	}
	if why := unfit(name, s, goos); why != "" {
		return Command{}, notStarted(why, "Choose another terminal, or launch in tmux.")
	}
	c := Command{Terminal: name, Dir: s.Dir, Env: withoutWindow(s.Env)}
	c.Unverified = goos != "linux" || name == wezterm || name == xdgTerminal
	title := oneLine(s.Title)
	options := []string{programOf(name, goos)}
	add := func(on bool, more ...string) {
		if on {
			options = append(options, more...)
		}
	}
	argv := s.Argv
	switch name {
	case xterm:
		add(title != "", "-T", title)
		add(true, "-e")
	case kitty: // --title would be the title for ever
		add(s.Dir != "", "--directory="+s.Dir)
		// What runs in the window may not ask for anything by its own output: only who can open the socket.
		add(s.Control != "", "-o", "allow_remote_control=socket-only", "--listen-on=unix:"+s.Control)
	case alacritty: // the same
		add(s.Dir != "", "--working-directory="+s.Dir)
		add(true, "-e")
	case xfce4Terminal:
		// A server that already runs would give the window its own environment and folder.
		add(true, "--disable-server")
		add(title != "", "--initial-title="+title)
		add(s.Dir != "", "--working-directory="+s.Dir)
		add(true, "-x")
	case gnomeTerminal:
		add(title != "", "--title="+title)
		add(s.Dir != "", "--working-directory="+s.Dir)
		add(true, "--")
	case wezterm:
		add(true, "start")
		add(s.Dir != "", "--cwd="+s.Dir)
		add(true, "--")
	case xTerminal:
		add(true, "-e")
	case xdgTerminal: // takes the program as it is
	case appleTerminal:
		return script(c, openInTerminal, s), nil
	case iterm2:
		return script(c, openInITerm, s), nil
	case windowsTerminal:
		add(true, "-w", "new", "new-tab")
		add(title != "", "--title", semicolons(title))
		add(s.Dir != "", "-d", semicolons(s.Dir))
		add(true, "--")
		argv = make([]string, len(s.Argv))
		for i, a := range s.Argv {
			argv[i] = semicolons(a)
		}
	}
	c.Argv = append(options, argv...)
	return c, nil
}

// unfit says why the terminal cannot start this program exactly as told, "" when it can.
func unfit(name string, s Spec, goos string) string {
	switch {
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return "No program was named to start."
	case !absolute(s.Argv[0], goos):
		return fmt.Sprintf("The program %q is not named by its whole path.", s.Argv[0])
	case s.Dir != "" && !absolute(s.Dir, goos):
		return fmt.Sprintf("The folder %q is not named by its whole path.", s.Dir)
	case len(s.Argv) == 1 && (name == xterm || name == xTerminal):
		return "xterm gives a program without arguments to a shell when its path holds blanks or signs."
	}
	for _, v := range append([]string{s.Dir}, s.Argv...) {
		switch {
		case strings.ContainsRune(v, 0):
			return "A value holds a NUL byte, which no program can be given."
		case len(v) > oneArgument:
			return fmt.Sprintf("A value of %d bytes is too long: one argument holds %d.", len(v), oneArgument)
		case !utf8.ValidString(v) && name != xterm:
			return fmt.Sprintf("A value is not valid UTF-8, and %s would alter it.", name)
		}
	}
	switch name {
	case appleTerminal, iterm2:
		return unfitToType(name, s)
	case windowsTerminal:
		return unfitForWindows(s)
	}
	return ""
}

// lineLimit is what a terminal of macOS takes before a shell reads from it.
const lineLimit = 1000

// unfitToType judges what is typed into a shell that is only just starting: a line end or a tab would be
// acted on, and what exceeds the terminal's line is cut.
func unfitToType(name string, s Spec) string {
	size := 0
	for _, v := range append([]string{s.Dir}, s.Argv...) {
		if strings.ContainsFunc(v, unicode.IsControl) {
			return fmt.Sprintf("A value holds a control character, and %s types the command into a shell.", name)
		}
		size += len(v) + strings.Count(v, "'")*3 + len(" ''")
	}
	if size > lineLimit {
		return fmt.Sprintf("The command line has %d bytes, and %s takes %d.", size, name, lineLimit)
	}
	return ""
}

// unfitForWindows judges what wt.exe does not hand on as it was given: it puts its arguments together to
// one line again, in which a quote is not escaped and names between % signs are replaced.
func unfitForWindows(s Spec) string {
	for _, v := range s.Argv {
		switch {
		case v == "":
			return "An argument is empty, and Windows Terminal would drop it."
		case strings.ContainsFunc(v, unicode.IsControl):
			return "A value holds a control character, which Windows Terminal does not hand on."
		case strings.Contains(v, `"`):
			return "A value holds a double quote, which Windows Terminal does not hand on."
		case strings.Count(v, "%") > 1:
			return "A value holds two % signs, and Windows Terminal would replace the name between them."
		case strings.HasSuffix(v, `\`):
			return `A value ends in a backslash, which Windows Terminal would take for the sign of a quote.`
		}
	}
	return ""
}

// semicolons hides those of a value from wt.exe, for which one begins the next command even inside quotes.
func semicolons(v string) string { return strings.ReplaceAll(v, ";", `\;`) }

// absolute is filepath.IsAbs for a system that need not be this one.
func absolute(p, goos string) bool {
	if goos != "windows" {
		return path.IsAbs(p)
	}
	drive := len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
	return drive || strings.HasPrefix(p, `\\`)
}

// joiner holds the parts of an emoji together.
const joiner = '\u200d'

// oneLine makes a title of any text: whatever is no printable character becomes a blank, and a leading dash,
// which would make an option of it, goes.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) && r != joiner {
			return ' '
		}
		return r
	}, s)
	return strings.TrimLeft(strings.TrimSpace(s), "- ")
}

// windowVariables are what terminals and multiplexers tell their children of the window or pane they are in.
// A new window must not inherit those of another: not every terminal sets its own, and a stale one would
// name a window that never showed the process.
var windowVariables = []string{
	"WINDOWID", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERM_SESSION_ID", "VTE_VERSION",
	"KITTY_PID", "KITTY_WINDOW_ID", "KITTY_LISTEN_ON", "KITTY_PUBLIC_KEY",
	"ALACRITTY_SOCKET", "ALACRITTY_LOG", "ALACRITTY_WINDOW_ID",
	"GNOME_TERMINAL_SCREEN", "GNOME_TERMINAL_SERVICE",
	"WEZTERM_PANE", "WEZTERM_UNIX_SOCKET", "WEZTERM_EXECUTABLE", "WEZTERM_EXECUTABLE_DIR",
	"ITERM_SESSION_ID", "ITERM_PROFILE", "LC_TERMINAL", "LC_TERMINAL_VERSION",
	"WT_SESSION", "WT_PROFILE_ID", "TMUX", "TMUX_PANE", "STY",
}

func withoutWindow(env []string) []string {
	if env == nil {
		return nil
	}
	kept := make([]string, 0, len(env))
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); !slices.Contains(windowVariables, name) {
			kept = append(kept, e)
		}
	}
	return kept
}
