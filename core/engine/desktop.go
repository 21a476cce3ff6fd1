package engine

import (
	"context"
	"log/slog"
	"os/exec"
	"runtime"
	"strings"

	"tower/core"
	"tower/core/term"
	"tower/core/tmux"
)

// Desktop is what the engine needs of terminal windows; core/term does it.
type Desktop interface {
	// Choose returns the terminal that would be opened, or a *core.Refusal.
	Choose(want string) (string, error)
	// Open has a terminal run a command. It returns at once; Done of the result tells when the opening
	// command, which is not the window, has ended.
	Open(ctx context.Context, name string, s term.Spec) (Opening, error)
	Find(ctx context.Context, t core.Table, p core.Process) (term.Window, error)
	Focus(ctx context.Context, w term.Window) error
	Exists(ctx context.Context, w term.Window) (bool, error)
	SendText(ctx context.Context, w term.Window, text string) error
	SendEnter(ctx context.Context, w term.Window) error
	Text(ctx context.Context, w term.Window) (string, error)
}

// Opening is a command that opens a window.
type Opening interface {
	Done() <-chan struct{}
	Err() error
}

// Panes is what the engine needs of a tmux server; core/tmux does it.
type Panes interface {
	Start(ctx context.Context, s tmux.Start) (tmux.Pane, error)
	Panes(ctx context.Context) ([]tmux.Pane, error)
	Pane(ctx context.Context, id string) (tmux.Pane, bool, error)
	Capture(ctx context.Context, id string, lines int) (string, error)
	Paste(ctx context.Context, id, text string) error
	Enter(ctx context.Context, id string) error
	Kill(ctx context.Context, id string) error
	Clients(ctx context.Context) ([]tmux.Client, error)
	Show(ctx context.Context, client, pane string) error
	AttachArgv(p tmux.Pane) []string
}

// desktop is the machine's own.
type desktop struct {
	*term.Desk
	look term.Look
}

// NewDesktop returns the desktop that an environment leads to.
func NewDesktop(environ []string, log *slog.Logger) Desktop {
	get := func(name string) string { return valueOf(environ, name) }
	return desktop{
		Desk: term.NewDesk(func() []string { return environ }, log),
		look: term.Look{GOOS: runtime.GOOS, Getenv: get, Has: func(program string) (string, bool) {
			path, err := exec.LookPath(program)
			return path, err == nil
		}},
	}
}

func (d desktop) Choose(want string) (string, error) { return d.look.Choose(want) }

func (d desktop) Open(ctx context.Context, name string, s term.Spec) (Opening, error) {
	c, err := term.Build(name, s, d.look.GOOS)
	if err != nil {
		return nil, err
	}
	o, err := term.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	return o, nil
}

// valueOf returns a variable's value in a list as os.Environ returns it; the last one counts.
func valueOf(environ []string, name string) string {
	v := ""
	for _, kv := range environ {
		if k, x, ok := strings.Cut(kv, "="); ok && k == name {
			v = x
		}
	}
	return v
}
