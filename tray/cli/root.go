package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tower/core"
)

// Exit codes.
const (
	ExitDone = iota
	ExitError
	ExitUsage
	ExitRefused
	ExitNotRunning
)

// Program is what package main hands to the command line.
type Program struct {
	Version  string
	HookName string // file name of the hook program, beside this one
	Out      io.Writer
	Err      io.Writer
	Getenv   func(string) string
	// Serve runs the tower until it is told to stop; with tray, the icon too. It returns what Run
	// should exit with.
	Serve func(ctx context.Context, env *Env, tray bool) error
}

// notRunning is the error of a command that needs a running tower.
var errNotRunning = errors.New("tower is not running")

// usageError is a command line that cannot be understood.
type usageError struct{ error }

// quiet is an exit code whose reason has been told already.
type quiet int

func (q quiet) Error() string { return fmt.Sprintf("exit %d", int(q)) }

// Run carries out a command line and returns the exit code.
func Run(ctx context.Context, p Program, args []string) int {
	env := &Env{Program: p, Bare: p.Err}
	env.Out, env.Err = plain{p.Out}, plain{p.Err}
	root := env.root()
	root.SetArgs(args)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	c, err := root.ExecuteContextC(ctx)
	see := "tower help"
	if c.HasParent() && c.Name() != "help" {
		see = c.CommandPath() + " --help"
	}
	return env.exit(err, see)
}

// exit tells an error and chooses the code; see is where a command line is explained.
func (e *Env) exit(err error, see string) int {
	var refused *core.Refusal
	var used usageError
	var q quiet
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &q):
		return int(q)
	case errors.As(err, &refused):
		fmt.Fprintf(e.Err, "tower: refused: %s\n", refused.Verdict())
		e.hint(refused.Hint)
		return ExitRefused
	case errors.Is(err, errNotRunning):
		fmt.Fprintf(e.Err, "tower: %v\n", err)
		e.hint("start it with: tower   (or, without an icon: tower serve)")
		return ExitNotRunning
	case errors.As(err, &used) || strings.HasPrefix(err.Error(), "unknown command") || strings.HasPrefix(err.Error(), "unknown flag") || strings.HasPrefix(err.Error(), "unknown shorthand"):
		fmt.Fprintf(e.Err, "tower: %v\n", err)
		e.hint("see: " + see)
		return ExitUsage
	case errors.Is(err, context.Canceled):
		return ExitError
	}
	fmt.Fprintf(e.Err, "tower: error: %v\n", err)
	var h hinted
	if errors.As(err, &h) {
		e.hint(h.hint)
	}
	return ExitError
}

// hinted is an error with a way on.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

func (e *Env) hint(s string) {
	if s != "" {
		fmt.Fprintf(e.Err, "tower: hint: %s\n", s)
	}
}

// root builds the tree of commands.
func (e *Env) root() *cobra.Command {
	c := &cobra.Command{
		Use:   "tower",
		Short: "The control tower for the terminal coding agents on this machine",
		Long: `Tower watches every session of every terminal coding agent on this machine:
what runs, what waits for you, and everything that ran before.

Without a command it starts the tower with its icon in the menu bar, or opens
the window of the one that runs already.

TOWER_HOME=/some/folder keeps data and settings there. Exit codes: 0 done,
1 error, 2 not understood, 3 refused, 4 no tower runs.`,
		Args:          noArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(c *cobra.Command, _ []string) error { return e.Serve(c.Context(), e, true) },
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	c.PersistentFlags().BoolVar(&e.JSON, "json", false, "answer in JSON: one object, or one a line")
	c.AddGroup(&cobra.Group{ID: "look", Title: "Looking:"}, &cobra.Group{ID: "act", Title: "Acting on sessions:"},
		&cobra.Group{ID: "change", Title: "Changing what is kept of one:"},
		&cobra.Group{ID: "run", Title: "Running the tower:"}, &cobra.Group{ID: "set", Title: "Setting up:"})
	add := func(group string, list ...*cobra.Command) {
		for _, x := range list {
			x.GroupID = group
			c.AddCommand(x)
		}
	}
	add("look", e.status(), e.sessions(), e.show(), e.scan())
	add("act", e.launch(), e.resume(), e.continueCommand(), e.attach(), e.jump(), e.typeCommand(), e.closeout(), e.end())
	add("change", e.rename(), e.describe(), e.tag(), e.hide(), e.unhide())
	add("run", e.serve(), e.stop(), e.restart(), e.url(), e.password(), e.token())
	add("set", e.importCommand(), e.hooks(), e.doctor(), e.versionCommand())
	c.AddCommand(e.execCommand())
	e.finish(c)
	return c
}

func noArgs(_ *cobra.Command, args []string) error { return count(args, 0, 0) }

// args asks for between least and most arguments; most < 0 is no limit.
func args(least, most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, a []string) error { return count(a, least, most) }
}

func count(a []string, least, most int) error {
	switch {
	case len(a) < least:
		return usageError{errors.New(some(least-len(a), "more argument") + " needed")}
	case most == 0 && len(a) > 0:
		return usageError{fmt.Errorf("unknown command or argument %q", a[0])}
	case most > 0 && len(a) > most:
		return usageError{fmt.Errorf("%s given, %d at most", some(len(a), "argument"), most)}
	}
	return nil
}
