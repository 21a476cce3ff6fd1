package term

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"tower/core"
)

// The kinds of windows: by what a window is told and asked.
const (
	KindX11      = "x11"      // a window of an X display, of whatever terminal
	KindKitty    = "kitty"    // a window of a kitty that takes remote control
	KindWezterm  = "wezterm"  // a pane of wezterm
	KindTerminal = "terminal" // a tab of macOS's own Terminal
	KindITerm2   = "iterm2"   // a session of iTerm2
)

// Window is where a process shows. It stays true only as long as nothing moves: what acts on it proves it
// again.
type Window struct {
	Kind string // one of the kinds
	// ID is the decimal id of an X window, kitty's id of a window, wezterm's of a pane, and on macOS the tty.
	ID       string
	Terminal string // the program's name, for a sentence
	Title    string // as it was when the window was found
	// XID is the decimal X id of the window of the desktop it is in, "" when that cannot be known. What has
	// the same XID and Display is in the same window, whatever its kind.
	XID        string
	Display    string // of the X window
	XAuthority string // the file that opens the display, "" = none is needed or known
	Socket     string // where the terminal takes commands
	PID        int    // the process that owns the window, 0 = unknown
	How        string // what proved it: "WINDOWID and ancestry", "ancestor's only window", "title mark", "kitty remote control"
	Shared     bool   // its process owns other windows too, so that the process's end would close those
}

// CanType tells whether text can be sent to the window without keystrokes of the desktop.
func (w Window) CanType() bool { return w.Kind == KindKitty || w.Kind == KindWezterm }

// Desk is what can be seen of the desktop. It holds no connection and is safe for concurrent use.
type Desk struct {
	environ func() []string
	log     *slog.Logger
}

// NewDesk returns a Desk. environ is the tower's own environment, which names a display for processes whose
// own environment names none; nil is os.Environ. log may be nil.
func NewDesk(environ func() []string, log *slog.Logger) *Desk {
	if environ == nil {
		environ = os.Environ
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Desk{environ: environ, log: log}
}

const (
	noWindow   = "No window to jump to."
	notFocused = "Not focused."
	notSent    = "Not delivered."
)

// Find returns the window in which p shows, or a *core.Refusal "No window to jump to." that names the pid and
// what is known of its tty and title. It looks in this order, and takes the first that is proven: the remote
// control of kitty or wezterm, if it lists the terminal of p under a process above p; the window WINDOWID
// names, if the nearest process above p that owns windows owns it; that process's only window; that one of
// its windows which shows a title written to p's own terminal.
//
// A process inside tmux or screen is not to be looked up here: what its environment says of windows is that
// of whoever started the server. The caller passes the process of the client that is attached.
func (d *Desk) Find(ctx context.Context, t core.Table, p core.Process) (Window, error) {
	s, err := look(t, p)
	if err != nil {
		return Window{}, err
	}
	if w, ok := d.findKitty(ctx, s); ok {
		return w, nil
	}
	if w, ok := d.findWezterm(ctx, s); ok {
		return w, nil
	}
	return d.findNative(ctx, s)
}

// Focus brings the window to the front and gives it the keyboard, on its own desktop. It returns nil only when
// the desktop then tells that this window has the focus; else a *core.Refusal.
func (d *Desk) Focus(ctx context.Context, w Window) error {
	switch w.Kind {
	case KindKitty:
		return d.focusKitty(ctx, w)
	case KindWezterm:
		return d.focusWezterm(ctx, w)
	}
	return d.focusNative(ctx, w)
}

// Exists tells whether the window is still there. An error means that nobody can say.
func (d *Desk) Exists(ctx context.Context, w Window) (bool, error) {
	switch w.Kind {
	case KindKitty:
		return d.existsKitty(ctx, w)
	case KindWezterm:
		return d.existsWezterm(ctx, w)
	}
	return d.existsNative(ctx, w)
}

// Active returns the window that has the focus on the tower's own display, of whatever program.
func (d *Desk) Active(ctx context.Context) (Window, error) { return d.activeNative(ctx) }

// Windows returns all windows the window manager of the tower's own display knows, oldest first, with pid and
// title.
func (d *Desk) Windows(ctx context.Context) ([]Window, error) { return d.windowsNative(ctx) }

// SendText gives the text to the program in the window as one paste, without an Enter. The caller has proven
// that the agent is in the foreground there. Text with a sign that could end the paste early is refused.
func (d *Desk) SendText(ctx context.Context, w Window, text string) error {
	if strings.ContainsAny(text, "\x00\x1b\u009b") {
		return &core.Refusal{What: notSent, Why: "The text holds an escape or NUL character, which a terminal would act on.", Hint: "Take it out."}
	}
	switch w.Kind {
	case KindKitty:
		return d.typeKitty(ctx, w, text, true)
	case KindWezterm:
		return d.typeWezterm(ctx, w, text, true)
	}
	return cannotType(w)
}

// SendEnter presses Enter in the window.
func (d *Desk) SendEnter(ctx context.Context, w Window) error {
	switch w.Kind {
	case KindKitty:
		return d.typeKitty(ctx, w, "\r", false)
	case KindWezterm:
		return d.typeWezterm(ctx, w, "\r", false)
	}
	return cannotType(w)
}

// Text returns what the window shows now, without what has scrolled away.
func (d *Desk) Text(ctx context.Context, w Window) (string, error) {
	if w.Kind == KindKitty {
		return d.textKitty(ctx, w)
	}
	return "", &core.Refusal{What: "Not read.", Why: fmt.Sprintf("%s lets nobody read its screen.", w.name()), Hint: "Jump to it."}
}

func cannotType(w Window) error {
	return &core.Refusal{What: notSent, Why: fmt.Sprintf("%s takes no text from outside, only from the keyboard.", w.name()),
		Hint: "Jump to it and type there."}
}

// name is the terminal at the head of a sentence.
func (w Window) name() string {
	if w.Terminal == "" {
		return "Its terminal"
	}
	return w.Terminal
}

// own returns a variable of the tower's own environment; the last one of a name counts.
func (d *Desk) own(name string) string {
	value := ""
	for _, e := range d.environ() {
		if k, v, ok := strings.Cut(e, "="); ok && k == name {
			value = v
		}
	}
	return value
}

// sight is a process with all that stands above it.
type sight struct {
	t    core.Table
	proc core.Proc
	line []core.Proc // itself, then its ancestors, nearest first, without pid 1
	tty  string      // path of its terminal, "" when it has none or none is known by that number
}

// look reads a process's ancestry from the table.
func look(t core.Table, p core.Process) (*sight, error) {
	row, ok := t.Proc(p.PID)
	if !ok || !core.Alive(t, p) {
		return nil, &core.Refusal{What: noWindow, Why: fmt.Sprintf("The process that was recorded (pid %d) does not run any more.", p.PID),
			Hint: "Resume the session."}
	}
	s := &sight{t: t, proc: row, tty: ttyPath(row.TTY)}
	// A parent is older than its child: what is not is another process under a number used again.
	for len(s.line) < 256 {
		s.line = append(s.line, row)
		above, ok := t.Proc(row.PPID)
		if !ok || row.PPID <= 1 || above.Start > row.Start {
			break
		}
		row = above
	}
	return s, nil
}

// environ returns a variable of the nearest process that has it, among the first n of the line.
func (s *sight) environ(n int, name string) string {
	for _, p := range s.line[:n] {
		if env, ok := s.t.Environ(p.PID); ok && env[name] != "" {
			return env[name]
		}
	}
	return ""
}

// sameTTY is how many processes of the line, from p up, have p's own terminal: those that were started in it.
// The one above them made it.
func (s *sight) sameTTY() int {
	if s.proc.TTY == 0 {
		return 0
	}
	n := 0
	for n < len(s.line) && s.line[n].TTY == s.proc.TTY {
		n++
	}
	return n
}

// who is the process at the head of a sentence.
func (s *sight) who() string {
	if s.tty == "" {
		return fmt.Sprintf("The agent runs (pid %d, without a terminal)", s.proc.PID)
	}
	return fmt.Sprintf("The agent runs (pid %d, %s)", s.proc.PID, s.tty)
}

// refuse says why there is no window.
func (s *sight) refuse(why, hint string) *core.Refusal {
	return &core.Refusal{What: noWindow, Why: s.who() + " " + why, Hint: hint}
}

// focusLimit is how long a desktop may take to bring a window to the front.
const focusLimit = time.Second

// poll asks until the answer is yes, and returns whether it became so in time.
func poll(ctx context.Context, limit time.Duration, yes func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if yes() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}
