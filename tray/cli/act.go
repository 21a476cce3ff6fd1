package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tower/core"
)

// meant tells which of several sessions of one name an action can only be for: a session that was resumed
// or continued often shares its name with others.
var meant = map[string]func(core.Row) bool{
	"focus": living, "end": living, "type": living, "attach": living, "resume": finished, "continue": finished,
}

// act sends one action on a session to the running tower and returns what came of it.
func (e *Env) act(c *cobra.Command, which, action string, body any) (core.Result, error) {
	var r core.Result
	if err := e.Open(); err != nil {
		return r, err
	}
	cl, err := e.client()
	if err != nil {
		return r, err
	}
	s, err := cl.snapshot(c.Context(), true)
	if err != nil {
		return r, err
	}
	row, err := find(s.Rows, which, meant[action])
	if err != nil {
		return r, err
	}
	return r, cl.call(c.Context(), http.MethodPost, "/api/sessions/"+url.PathEscape(string(row.ID))+"/"+action, body, &r)
}

// doing makes the function of a command that acts on its first argument and says what came of it.
func (e *Env) doing(action string, body func() (any, error)) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, a []string) error {
		b, err := body()
		if err != nil {
			return err
		}
		r, err := e.act(c, a[0], action, b)
		if err != nil {
			return err
		}
		return e.say(r)
	}
}

func (e *Env) end() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "end SESSION", Short: "End a running session and close its window",
		Long: `End a running session and close the window it lives in. The process is proven
before it is signalled and the end is verified afterwards; what cannot be proven
is refused, and nothing is signalled. Resume takes an ended session up again.

Exits with 1 when the process still runs after 5 seconds; --force then kills it,
after the same proof.
` + which,
		Args: args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			r, err := e.act(c, a[0], "end", map[string]bool{"force": force})
			if err != nil {
				return err
			}
			if err := e.say(r); err != nil {
				return err
			}
			if r.End != nil && !r.End.Ended {
				if !force {
					e.hint("end it by force: tower end --force " + a[0])
				}
				return quiet(ExitError)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&force, "force", false, "kill it (SIGKILL) instead of asking it to end")
	return c
}

func (e *Env) jump() *cobra.Command {
	return &cobra.Command{
		Use: "jump SESSION", Short: "Bring a session's window to the front",
		Long: "Bring the window of a running session to the front." + which,
		Args: args(1, 1), RunE: e.doing("focus", nothing),
	}
}

// known are the names of the agents, to choose from.
func (e *Env) known() string {
	var names []string
	for _, a := range e.Adapters {
		names = append(names, string(a.Agent().Agent))
	}
	return strings.Join(names, " or ")
}

func nothing() (any, error) { return struct{}{}, nil }

func (e *Env) attach() *cobra.Command {
	var window bool
	c := &cobra.Command{
		Use: "attach SESSION", Short: "Show a session that runs in tmux or in the background",
		Long: `Show a session that runs without a window of its own: in tmux, or in its agent's
background. It is shown in this terminal; with --window, or without a terminal,
in a new window.
` + which,
		Args: args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			here := !window && !e.JSON && term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
			r, err := e.act(c, a[0], "attach", map[string]bool{"here": here})
			if err != nil {
				return err
			}
			if r.Run == nil {
				return e.say(r)
			}
			return become(r.Run)
		},
	}
	c.Flags().BoolVar(&window, "window", false, "open a new window")
	return c
}

// started are the flags of every command that starts an agent.
type started struct{ model, cwd, terminal, file string }

func (s *started) flags(c *cobra.Command, without string) {
	c.Flags().StringVar(&s.model, "model", "", "the model; without it "+without)
	c.Flags().StringVar(&s.terminal, "terminal", "", "the terminal to open, or tmux; without it the configured one")
}

// body is what the flags say, with what the command adds. What was not given is not in it.
func (s *started) body(more map[string]string) (map[string]string, error) {
	b := map[string]string{}
	for k, v := range more {
		if v != "" {
			b[k] = v
		}
	}
	if s.model != "" {
		b["model"] = s.model
	}
	if s.terminal != "" {
		b["terminal"] = s.terminal
	}
	if s.cwd != "" {
		dir, err := filepath.Abs(s.cwd)
		if err != nil {
			return nil, fmt.Errorf("find folder %q: %w", s.cwd, err)
		}
		b["cwd"] = dir
	}
	if s.file != "" {
		text, err := prompt(s.file)
		if err != nil {
			return nil, err
		}
		b["prompt"] = text
	}
	return b, nil
}

func (e *Env) launch() *cobra.Command {
	var s started
	var agent, name string
	c := &cobra.Command{
		Use: "launch --agent AGENT [-]", Short: "Start a new session in a window of its own",
		Long: `Start a new session of an agent, in a terminal window of its own. Closing the
window ends it. The prompt is read from a file, or from standard input with "-";
without one the agent waits for yours. It goes to the agent byte for byte.

  tower launch --agent claude --cwd ~/code/app --name "Fix the build" --prompt-file todo.md
  git diff | tower launch --agent codex -

Needs a running tower.`,
		Args: args(0, 1),
		RunE: func(c *cobra.Command, a []string) error {
			if err := e.Open(); err != nil {
				return err
			}
			if agent == "" {
				return usageError{fmt.Errorf("say which agent: --agent %s", e.known())}
			}
			if len(a) == 1 {
				if a[0] != "-" {
					return usageError{fmt.Errorf(`the prompt is read from --prompt-file FILE, or from standard input with "-", not %q`, a[0])}
				}
				if s.file != "" {
					return usageError{errors.New(`give the prompt once: by --prompt-file or by "-"`)}
				}
				s.file = "-"
			}
			if s.cwd == "" {
				s.cwd = "."
			}
			body, err := s.body(map[string]string{"agent": agent, "name": name})
			if err != nil {
				return err
			}
			var r core.Result
			if err := e.post(c, "/api/launch", body, &r); err != nil {
				return err
			}
			return e.say(r)
		},
	}
	s.flags(c, "the agent decides")
	c.Flags().StringVar(&agent, "agent", "", "which agent")
	c.Flags().StringVar(&s.cwd, "cwd", "", "the folder it works in; without it this one")
	c.Flags().StringVar(&name, "name", "", "a name for the session")
	c.Flags().StringVar(&s.file, "prompt-file", "", `the file that holds the prompt; "-" is standard input`)
	return c
}

func (e *Env) resume() *cobra.Command {
	var s started
	c := &cobra.Command{
		Use: "resume SESSION", Short: "Take an ended session up again, with the agent that made it",
		Long: `Take an ended session up again, in its own folder. An agent reads its own
transcripts only, so the agent cannot be changed: "tower continue" hands the work
to another one.
` + which,
		Args: args(1, 1),
		RunE: e.doing("resume", func() (any, error) { return s.body(nil) }),
	}
	s.flags(c, "that of its last turn")
	c.Flags().StringVar(&s.cwd, "cwd", "", "another folder, when its own is gone and the agent allows it")
	return c
}

func (e *Env) continueCommand() *cobra.Command {
	var s started
	var with, name string
	c := &cobra.Command{
		Use: "continue SESSION --with AGENT", Short: "Hand the work of an ended session to a new session",
		Long: `Open a new session of an agent that goes on where another session stopped. Its
prompt names the predecessor, its folder, transcript and last message, and the
project's work log; what --prompt-file holds is added.
` + which,
		Args: args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			if with == "" {
				if err := e.Open(); err != nil {
					return err
				}
				return usageError{fmt.Errorf("say who goes on: --with %s", e.known())}
			}
			return e.doing("continue", func() (any, error) { return s.body(map[string]string{"agent": with, "name": name}) })(c, a)
		},
	}
	s.flags(c, "the agent decides")
	c.Flags().StringVar(&with, "with", "", "which agent goes on")
	c.Flags().StringVar(&name, "name", "", "a name for the new session; without it that of the old one")
	c.Flags().StringVar(&s.cwd, "cwd", "", "another folder than that of the old session")
	c.Flags().StringVar(&s.file, "prompt-file", "", `a file whose text is added to the prompt; "-" is standard input`)
	return c
}

func (e *Env) typeCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "type SESSION [-]", Short: "Give a running session a prompt",
		Long: `Give a running session a prompt, read from standard input or --text-file. It is
delivered by the agent's own queue where it has one, else pasted into its pane,
and only where it is proven to reach that agent: never into a dialog. Done means
that the agent has it. Control characters are left out; a blank is put before a
leading "/" or "!", so that it stays a prompt.
` + which,
		Args: args(1, 2),
		RunE: func(c *cobra.Command, a []string) error {
			if len(a) == 2 && (a[1] != "-" || file != "") {
				return usageError{errors.New(`the text is read from standard input, or from --text-file FILE`)}
			}
			if file == "" {
				file = "-"
			}
			return e.doing("type", func() (any, error) {
				text, err := prompt(file)
				if err == nil && strings.TrimSpace(text) == "" {
					err = &core.Refusal{What: "Not delivered.", Why: "The text is empty.", Hint: "Give it on standard input, or by --text-file."}
				}
				return map[string]string{"text": text}, err
			})(c, a)
		},
	}
	c.Flags().StringVar(&file, "text-file", "", "the file that holds the text; without it standard input")
	return c
}

func (e *Env) closeout() *cobra.Command {
	return &cobra.Command{
		Use: "closeout SESSION", Short: "Have a session run its closeout skill",
		Long: `Have a session run its agent's closeout skill: typed into it when it runs, else
by resuming it.
` + which,
		Args: args(1, 1), RunE: e.doing("closeout", nothing),
	}
}

// prompt reads a text a person means for an agent; "-" is standard input.
func prompt(file string) (string, error) {
	in := io.Reader(os.Stdin)
	if file == "-" {
		if term.IsTerminal(int(os.Stdin.Fd())) {
			fmt.Fprintln(os.Stderr, "tower: type the text, then Ctrl-D")
		}
	} else {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", hinted{fmt.Errorf("there is no file %q", file), "Name a file that holds the text."}
		case err == nil && info.IsDir():
			return "", hinted{fmt.Errorf("%q is a folder", file), "Name a file that holds the text."}
		}
		f, err := os.Open(file)
		if err != nil {
			return "", fmt.Errorf("read text: %w", err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, core.MaxPrompt+1))
	if err != nil {
		return "", fmt.Errorf("read text: %w", err)
	}
	if len(b) > core.MaxPrompt {
		return "", hinted{fmt.Errorf("the text is longer than %d bytes", core.MaxPrompt), "Put it into a file of the project and name that file."}
	}
	if !utf8.Valid(b) {
		// JSON would carry another character in its place, and a text is a text to the byte.
		return "", &core.Refusal{What: "Not sent.", Why: "The text is not valid UTF-8.", Hint: "Convert it first, with iconv for example."}
	}
	if len(b) == 0 {
		what := "The file is empty."
		if file == "-" {
			what = "Standard input is empty."
		}
		return "", &core.Refusal{What: "Not sent.", Why: what, Hint: "Give it the text, or leave the prompt away."}
	}
	return string(b), nil
}
