package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tower/core"
	"tower/core/claim"
	"tower/core/home"
	"tower/core/launch"
	"tower/core/term"
	"tower/core/tmux"
)

const notLaunched = "Not launched."

// launch starts a new session of an agent in a folder.
func (e *Engine) launch(ctx context.Context, c core.Command) (core.Result, error) {
	a, err := e.installed(ctx, notLaunched, c.Agent)
	if err != nil {
		return core.Result{}, err
	}
	if err := e.presentable(notLaunched, &c); err != nil {
		return core.Result{}, err
	}
	if err := folder(notLaunched, c.CWD); err != nil {
		return core.Result{}, err
	}
	spec := core.LaunchSpec{CWD: c.CWD, Prompt: c.Text, Model: c.Model, Name: c.Name}
	return e.begin(ctx, c, a, order{what: notLaunched, doing: "launching", spec: spec})
}

// order is a launch as it was asked for, checked.
type order struct {
	what, doing string // the verdict of a refusal; the claim
	spec        core.LaunchSpec
	resume      *subject // the session to take up again, or nil
	continues   core.SessionID
	over        core.SessionID // what it takes up or goes on with, which must not run; "" = nothing
	hint        string         // the way on when it does
}

// installed returns the adapter of an agent whose command is there.
func (e *Engine) installed(ctx context.Context, what string, agent core.Agent) (core.Adapter, error) {
	a := e.adapters[agent]
	if a == nil {
		var known []string
		for _, i := range e.agents {
			known = append(known, string(i.Agent))
		}
		return nil, &core.Refusal{What: what, Why: fmt.Sprintf("There is no agent %q.", agent), Hint: "Known: " + strings.Join(known, ", ") + "."}
	}
	f, ok := a.(core.Finder)
	if !ok {
		return a, nil
	}
	command, looked := f.Find(e.searchPath())
	if command == "" {
		e.login(ctx) // it may be on the person's PATH and not on ours
		command, looked = f.Find(e.searchPath())
	}
	if command == "" {
		info := a.Agent()
		return nil, &core.Refusal{What: what, Why: fmt.Sprintf("%s is not installed: it was looked for in %s.", info.Display, looked), Hint: info.Install}
	}
	return a, nil
}

// presentable checks the free text of a command that becomes part of a command line.
func (e *Engine) presentable(what string, c *core.Command) error {
	for _, f := range []struct {
		which string
		s     *string
		limit int
	}{{"The name", &c.Name, core.MaxName}, {"The model", &c.Model, core.MaxWord}, {"The terminal", &c.Terminal, core.MaxWord}} {
		t, err := text(what, f.which, *f.s, f.limit, false)
		if err != nil {
			return err
		}
		*f.s = t
	}
	if strings.HasPrefix(c.Model, "-") {
		return &core.Refusal{What: what, Why: "A model's name does not begin with a dash."}
	}
	return prompt(what, c.Text)
}

// prompt checks a text that goes to an agent as it is.
func prompt(what, s string) error {
	switch {
	case len(s) > core.MaxPrompt:
		return &core.Refusal{What: what, Why: fmt.Sprintf("The text has %d bytes, more than %d.", len(s), core.MaxPrompt)}
	case strings.ContainsRune(s, 0):
		return &core.Refusal{What: what, Why: "The text holds a NUL character, which no command line can carry."}
	case !utf8.ValidString(s):
		return &core.Refusal{What: what, Why: "The text is not valid UTF-8."}
	}
	return nil
}

// folder proves that an agent can be started in a folder.
func folder(what, dir string) error {
	if dir == "" || !filepath.IsAbs(dir) {
		return &core.Refusal{What: what, Why: "No folder is given as an absolute path.", Hint: "Name the folder it is to work in."}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &core.Refusal{What: what, Why: fmt.Sprintf("The folder %s does not exist.", dir), Hint: "Make it, or name another."}
	case err != nil:
		return &core.Refusal{What: what, Why: fmt.Sprintf("The folder %s cannot be looked at: %v.", dir, err)}
	case !info.IsDir():
		return &core.Refusal{What: what, Why: fmt.Sprintf("%s is a file, not a folder.", dir), Hint: "Name the folder it is to work in."}
	}
	if f, err := os.Open(dir); err != nil {
		return &core.Refusal{What: what, Why: fmt.Sprintf("The folder %s cannot be entered: %v.", dir, err)}
	} else {
		f.Close()
	}
	return nil
}

// terminal is the one asked for, else the one configured.
func (e *Engine) terminal(want string) string {
	if want == "" {
		return e.o.Config.Terminal
	}
	return want
}

// homeOf decides where a launch lives: a window, unless tmux is configured or nothing can show one. A
// terminal that was asked for by name is a window or a refusal.
func (e *Engine) homeOf(what, want string) (home, terminal string, err error) {
	if want == "tmux" || want == "" && e.o.Config.LaunchHome == core.HomeTmux {
		if e.o.Tmux == nil {
			return "", "", &core.Refusal{What: what, Why: "tmux is not installed.", Hint: "Install tmux, or set launch.home to window."}
		}
		return core.HomeTmux, "tmux", nil
	}
	terminal, err = e.o.Desktop.Choose(e.terminal(want))
	if err != nil && want == "" && e.o.Tmux != nil {
		// A configured terminal that is missing on a display is a refusal; without a display none is missed.
		if _, none := e.o.Desktop.Choose(""); none != nil {
			return core.HomeTmux, "tmux", nil
		}
	}
	var r *core.Refusal
	if errors.As(err, &r) {
		err = &core.Refusal{What: what, Why: r.Why, Hint: r.Hint}
	}
	return core.HomeWindow, terminal, err
}

// begin starts what was ordered: refusals first, then the claims, then the record, then the window.
func (e *Engine) begin(ctx context.Context, c core.Command, a core.Adapter, o order) (core.Result, error) {
	place, terminal, err := e.homeOf(o.what, c.Terminal)
	if err != nil {
		return core.Result{}, err
	}
	token := core.UUID4()
	text := o.spec.Prompt
	promptPath := filepath.Join(e.o.Home.Launches(), token+".prompt")
	var cautions []string
	if len(text) > launch.MaxArg {
		// One argument holds no more. The agent is told where the rest is.
		o.spec.Prompt = "Your instructions are in the file " + promptPath + ". Read all of it first, then follow it."
		cautions = append(cautions, fmt.Sprintf("The prompt has %d bytes, more than one argument holds: the session was given the file %s to read.", len(text), promptPath))
	}
	l, err := e.commandLine(a, o)
	if err != nil {
		return core.Result{}, err
	}
	if e.o.Config.InHarness(l.Dir) {
		cautions = append(cautions, "Its folder counts as machinery (sessions.harness_roots): the session is listed under --all only.")
	}
	release, err := e.claim(o.what, c, o.doing, claim.Session(o.over), claim.Launch(token))
	if err != nil {
		return core.Result{}, err
	}
	if o.over != "" { // once more: another launch may have come and gone before the claim
		su, err := e.subject(ctx, o.over)
		if err == nil {
			err = e.idle(ctx, o.what, &su, o.hint)
		}
		if err != nil {
			release()
			return core.Result{}, err
		}
	}
	u := &underway{release: release, moved: make(chan struct{}), state: core.LaunchOpening, LaunchRecord: core.LaunchRecord{
		Token: token, Agent: a.Agent().Agent, CWD: l.Dir, Name: o.spec.Name, Model: o.spec.Model, AskedBy: c.By,
		RequestedAt: core.InstantOf(time.Now()), Continues: o.continues, Home: place, Terminal: terminal,
	}}
	switch {
	case o.resume != nil:
		u.Expect, u.Resumes = o.resume.ID, true
	case l.Preset != "":
		u.Expect, u.native = core.NewSessionID(u.Agent, l.Preset), l.Preset
	}
	l.Argv[0] = e.program(u.Agent, l.Argv[0])
	f := launch.Order{Token: token, Agent: u.Agent, Argv: slices.Clone(l.Argv), PromptAt: -1, Dir: l.Dir, Set: l.Set, Unset: l.Unset,
		NullIn: l.NullIn, Socket: e.o.Home.Socket(), Inbox: e.o.Home.Inbox(), Umask: e.o.Umask}
	if err := e.write(u, &f, o.spec.Prompt, text, promptPath); err != nil {
		release()
		return core.Result{}, err
	}
	in, err := e.intend(ctx, c, token)
	if err != nil {
		release()
		return core.Result{}, fmt.Errorf("write down the launch, so nothing was started: %w", err)
	}
	failed := e.post(ctx, func(ctx context.Context) error {
		e.launches[token] = u
		e.note(u)
		err := e.commit(ctx)
		e.publish()
		return err
	})
	if failed == nil {
		failed = e.open(ctx, u, o.spec.Name)
	}
	if failed == nil {
		failed = e.awaitLaunch(ctx, o.what, u)
	} else {
		e.post(context.WithoutCancel(ctx), func(context.Context) error { e.launchFailed(u, sentence(failed), nil); return nil })
	}
	e.settle(ctx, in, failed, "")
	if failed != nil {
		return core.Result{}, failed
	}
	return e.launchedResult(ctx, u, append(cautions, l.Cautions...))
}

// write puts the launcher's order and the prompt into files. The prompt is the argument that equals it;
// one that is too long for an argument lies in its file and the argument names that.
func (e *Engine) write(u *underway, f *launch.Order, given, text, promptPath string) (err error) {
	// An adapter may put a blank before a prompt that its agent would take for a command.
	argument := ""
	at := slices.IndexFunc(f.Argv, func(arg string) bool { return arg == given || arg == " "+given })
	if given != "" && at > 0 && given == text && len(f.Argv[at]) <= launch.MaxArg {
		f.PromptAt, argument = at, f.Argv[at]
		f.Argv[at] = ""
	}
	if text != "" {
		u.PromptPath = promptPath
	}
	if text != "" && argument == "" {
		if err := os.MkdirAll(e.o.Home.Launches(), 0o700); err != nil {
			return fmt.Errorf("write prompt: %w", err)
		}
		if err := home.Write(promptPath, []byte(text)); err != nil {
			return err
		}
	}
	u.ScriptPath, err = launch.Write(e.o.Home.Launches(), *f, argument)
	return err
}

// commandLine asks the adapter for the command that starts or resumes.
func (e *Engine) commandLine(a core.Adapter, o order) (core.Launch, error) {
	if o.resume == nil {
		return a.Launch(o.spec)
	}
	s := o.resume.Session
	s.CWD = o.spec.CWD
	l, err := a.Resume(s, o.spec.Model)
	if err != nil || o.spec.Prompt == "" {
		return l, err
	}
	p, ok := a.(core.Prompter)
	if !ok {
		return l, &core.Refusal{What: o.what, Why: a.Agent().Display + " takes no prompt when it resumes."}
	}
	return p.WithPrompt(l, o.spec.Prompt), nil
}

// open has the launcher run in a new window or pane.
func (e *Engine) open(ctx context.Context, u *underway, title string) error {
	argv := []string{e.o.Exe, "exec", u.ScriptPath}
	if u.Home == core.HomeTmux {
		pane, err := e.o.Tmux.Start(ctx, tmux.Start{ID: u.Token, Dir: u.CWD, Argv: argv, Title: title,
			Ephemeral: e.o.Config.LaunchHome == core.HomeTmux})
		if err != nil {
			return fmt.Errorf("open a pane: %w", err)
		}
		return e.post(ctx, func(context.Context) error {
			u.Pane = pane.ID
			e.note(u)
			return nil
		})
	}
	o, err := e.o.Desktop.Open(ctx, u.Terminal, term.Spec{Title: title, Dir: u.CWD, Argv: argv, Env: e.windowEnv(),
		Control: filepath.Join(e.o.Home.Runtime, "window-"+u.Token[:8])})
	if err != nil {
		return fmt.Errorf("open %s: %w", u.Terminal, err)
	}
	if !e.actions.begin() {
		return nil // the window is on its way; the next tower hears of it
	}
	go func() { // the opening command may fail long after it was started
		defer e.actions.wg.Done()
		t := time.NewTimer(toOpen)
		defer t.Stop()
		select {
		case <-o.Done():
		case <-t.C:
			return
		case <-e.actions.closed:
			return
		}
		if err := o.Err(); err != nil {
			e.post(context.Background(), func(context.Context) error {
				if u := e.launches[u.Token]; u != nil && u.state == core.LaunchOpening {
					e.launchFailed(u, fmt.Sprintf("%s opened no window: %v.", u.Terminal, err), nil)
				}
				return nil
			})
		}
	}()
	return nil
}

// awaitLaunch waits until the agent's process runs, and a moment longer in which most failures show.
func (e *Engine) awaitLaunch(ctx context.Context, what string, u *underway) error {
	deadline := time.Now().Add(toOpen)
	var failed error
	for {
		var moved chan struct{}
		done := false
		var wait time.Duration
		err := e.post(ctx, func(context.Context) error {
			moved = u.moved
			switch u.state {
			case core.LaunchFailed:
				failed, done = &core.Refusal{What: what, Why: u.text, Hint: lastHint(u)}, true
			case core.LaunchOpening:
				if wait = time.Until(deadline); wait <= 0 {
					text := fmt.Sprintf("%s opened no window within %.0f s.", u.Terminal, toOpen.Seconds())
					e.launchFailed(u, text, nil)
					failed, done = &core.Refusal{What: what, Why: text, Hint: "If it still comes, its session is taken over all the same."}, true
				}
			case core.LaunchStarted, core.LaunchBlocked:
				wait = 1200*time.Millisecond - time.Since(u.started)
				done = wait <= 0
			default: // its session is known
				done = true
			}
			return nil
		})
		if err != nil || done {
			return errors.Join(err, failed)
		}
		t := time.NewTimer(wait)
		select {
		case <-moved:
		case <-t.C:
		case <-ctx.Done():
		}
		t.Stop()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// lastHint shows the last lines of a launch that failed, or where to look when it never came so far.
func lastHint(u *underway) string {
	switch {
	case len(u.lines) > 0:
		return "It said: " + strings.Join(u.lines, " / ")
	case u.Proc.PID == 0 && u.Home == core.HomeWindow:
		return "See whether " + u.Terminal + " opens by hand, or choose another terminal, or tmux."
	}
	return ""
}

// launchedResult tells what came of a launch.
func (e *Engine) launchedResult(ctx context.Context, u *underway, cautions []string) (core.Result, error) {
	r := &core.LaunchResult{Cautions: cautions}
	if r.Cautions == nil {
		r.Cautions = []string{}
	}
	said := ""
	err := e.post(ctx, func(context.Context) error {
		r.Token, r.Agent, r.Terminal = u.Token, u.Agent, u.Terminal
		r.Proc, r.Session = u.Proc, u.Matched
		if r.Session == "" {
			r.Session = u.Expect
		}
		display := e.adapters[u.Agent].Agent().Display
		verb := "Launched"
		switch {
		case u.Resumes:
			verb = "Resumed"
		case u.Continues != "":
			verb = "Continued with"
		}
		said = fmt.Sprintf("%s %s in %s (pid %d).", verb, display, u.Terminal, u.Proc.PID)
		if u.Home == core.HomeTmux {
			said += " Attach shows it."
		}
		if u.text != "" {
			said += " " + u.text
		}
		return nil
	})
	for _, c := range cautions {
		said += " " + c
	}
	return core.Result{Said: said, Launch: r}, err
}

// sentence is an error as the text of a launch that failed.
func sentence(err error) string {
	var r *core.Refusal
	if errors.As(err, &r) {
		return r.Why
	}
	s := err.Error()
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
