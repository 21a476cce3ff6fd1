package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tower/core"
)

const notResumed = "Not resumed."

// resume hands a session back to the agent that made it. Nothing stored changes before the agent is
// there.
func (e *Engine) resume(ctx context.Context, c core.Command) (core.Result, error) {
	su, err := e.subject(ctx, c.Session)
	if err != nil {
		return core.Result{}, err
	}
	return e.resumeWith(ctx, c, &su, c.Text)
}

func (e *Engine) resumeWith(ctx context.Context, c core.Command, su *subject, prompt string) (core.Result, error) {
	a, err := e.installed(ctx, notResumed, su.Agent)
	if err != nil {
		return core.Result{}, err
	}
	c.Text = prompt
	if err := e.presentable(notResumed, &c); err != nil {
		return core.Result{}, err
	}
	if err := e.idle(ctx, notResumed, su, "Jump to it."); err != nil {
		return core.Result{}, err
	}
	switch su.Class {
	case core.ClassSubagent:
		return core.Result{}, &core.Refusal{What: notResumed, Why: "It is a sub-agent's thread, which only its parent can take up.", Hint: "Resume the parent."}
	case core.ClassExport:
		return core.Result{}, &core.Refusal{What: notResumed, Why: "It is an exported document, not a session."}
	}
	if k, ok := a.(core.Keeper); ok {
		if err := k.Holds(ctx, su.Session); err != nil {
			return core.Result{}, verdict(notResumed, err)
		}
	}
	dir, err := e.ownFolder(notResumed, su, c.CWD, a.Agent().ResumeAnywhere)
	if err != nil {
		return core.Result{}, err
	}
	spec := core.LaunchSpec{CWD: dir, Model: c.Model, Prompt: prompt}
	return e.begin(ctx, c, a, order{what: notResumed, doing: "resuming", spec: spec, resume: su, over: su.ID, hint: "Jump to it."})
}

// verdict gives a refusal of another part the verdict of this action.
func verdict(what string, err error) error {
	var r *core.Refusal
	if errors.As(err, &r) {
		return &core.Refusal{What: what, Why: r.Why, Hint: r.Hint}
	}
	return err
}

// idle refuses when the session runs: as the ledger knows, or as the agent's own records show although
// the tower did not know.
func (e *Engine) idle(ctx context.Context, what string, su *subject, hint string) error {
	if su.running() {
		return &core.Refusal{What: what, Why: "It is running.", Hint: hint}
	}
	seen, _, err := e.sight(ctx, su.Agent)
	if err != nil {
		return err
	}
	if x := of(seen, su); x != nil {
		wake(e.wakes.poll)
		return &core.Refusal{What: what, Why: fmt.Sprintf("It is running in process %d.", x.Proc.PID), Hint: hint}
	}
	return nil
}

// ownFolder returns the folder to take a session up in: its own. When that is gone, the repository it
// lay in is offered, and taken when it was asked for.
func (e *Engine) ownFolder(what string, su *subject, want string, anywhere bool) (string, error) {
	if su.CWD == "" {
		if want != "" && anywhere {
			return want, folder(what, want)
		}
		return "", &core.Refusal{What: what, Why: "Nobody recorded the folder it ran in."}
	}
	_, err := os.Stat(su.CWD)
	if err == nil {
		if want != "" && !same(want, su.CWD) {
			return "", &core.Refusal{What: what, Why: fmt.Sprintf("It belongs in its own folder %s, which is still there.", su.CWD)}
		}
		return su.CWD, folder(what, su.CWD)
	}
	offer := parentRepository(su.CWD)
	if want != "" && anywhere {
		return want, folder(what, want)
	}
	r := &core.Refusal{What: what, Why: fmt.Sprintf("Its folder %s is gone.", su.CWD)}
	display := e.adapters[su.Agent].Agent().Display
	switch {
	case anywhere && offer != "":
		r.Hint = fmt.Sprintf("Resume in %s instead, or continue with another agent.", offer)
	case anywhere:
		r.Hint = "Name a folder to resume in, or continue with another agent."
	case offer != "":
		r.Hint = fmt.Sprintf("%s finds a session only from its own folder. Make it again, or continue the work in %s.", display, offer)
	default:
		r.Hint = display + " finds a session only from its own folder. Make it again, or continue the work elsewhere."
	}
	return "", r
}

// parentRepository returns the repository nearest above a folder that is gone, or "".
func parentRepository(dir string) string {
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

const notContinued = "Not continued."

// continueWith opens a new session of an agent that goes on where another session stopped: its prompt
// names the predecessor and where the work is written down.
func (e *Engine) continueWith(ctx context.Context, c core.Command) (core.Result, error) {
	su, err := e.subject(ctx, c.Session)
	if err != nil {
		return core.Result{}, err
	}
	a, err := e.installed(ctx, notContinued, c.Agent)
	if err != nil {
		return core.Result{}, err
	}
	if err := e.presentable(notContinued, &c); err != nil {
		return core.Result{}, err
	}
	if su.running() {
		return core.Result{}, &core.Refusal{What: notContinued, Why: "It is still running, and two agents never work on one thread.", Hint: "End it first."}
	}
	if err := e.idle(ctx, notContinued, &su, "End it first."); err != nil {
		return core.Result{}, err
	}
	dir := su.CWD
	if c.CWD != "" {
		dir = c.CWD
	} else if _, err := os.Stat(dir); err != nil && dir != "" {
		r := &core.Refusal{What: notContinued, Why: fmt.Sprintf("Its folder %s is gone.", dir), Hint: "Name another folder to work in."}
		if offer := parentRepository(dir); offer != "" {
			r.Hint = fmt.Sprintf("Continue in %s instead.", offer)
		}
		return core.Result{}, r
	}
	if err := folder(notContinued, dir); err != nil {
		return core.Result{}, err
	}
	prefix := e.prefix(ctx, &su, dir)
	if c.Text != "" {
		prefix += "\n" + c.Text
	}
	spec := core.LaunchSpec{CWD: dir, Prompt: prefix, Model: c.Model, Name: c.Name}
	if spec.Name == "" {
		spec.Name = su.Name
	}
	return e.begin(ctx, c, a, order{what: notContinued, doing: "continuing", spec: spec, continues: su.ID, over: su.ID, hint: "End it first."})
}

// maxLast bounds the predecessor's last message in a prefix, in bytes.
const maxLast = 6000

// prefix tells the new session whose work it goes on with. What is not known is not mentioned.
func (e *Engine) prefix(ctx context.Context, su *subject, dir string) string {
	var b strings.Builder
	display := string(su.Agent)
	if a := e.adapters[su.Agent]; a != nil {
		display = a.Agent().Display
	}
	b.WriteString("You take over work that another session began.\n\n")
	fmt.Fprintf(&b, "Predecessor: %s session %s\n", display, su.Native)
	if t := su.Title(); t != "" {
		fmt.Fprintf(&b, "Title: %s\n", line(t, maxLine))
	}
	if su.CWD != "" {
		fmt.Fprintf(&b, "It worked in: %s\n", su.CWD)
	}
	if su.Transcript != "" {
		fmt.Fprintf(&b, "Its transcript: %s\n", su.Transcript)
	}
	if log := e.workLog(dir); log != "" {
		fmt.Fprintf(&b, "The project's work log: %s\n", log)
	}
	if t, ok := e.adapters[su.Agent].(core.Teller); ok {
		last, err := t.LastMessage(ctx, su.Session)
		if err != nil {
			e.log.Warn("last message not read", "session", su.Native, "error", err)
		}
		if last = cut(strings.ReplaceAll(last, "\x00", ""), maxLast); last != "" {
			b.WriteString("\nThe last it said:\n")
			for l := range strings.Lines(last) {
				b.WriteString("> " + strings.TrimRight(l, "\r\n") + "\n")
			}
		}
	}
	b.WriteString("\nRead what you need of this first, then go on with the work.\n")
	return b.String()
}

// workLog returns the first of the configured work logs that exists in the folder's repository or in the
// folder itself.
func (e *Engine) workLog(dir string) string {
	places := []string{dir}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		if root := parentRepository(dir); root != "" {
			places = []string{root, dir}
		}
	}
	for _, name := range e.o.Config.WorkLog {
		for _, at := range places {
			path := filepath.Join(at, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path
			}
		}
	}
	return ""
}

const notClosed = "Not closed out."

// closeout has a session run its agent's closeout skill: typed where it runs, else by resuming it with
// the skill as its prompt.
func (e *Engine) closeout(ctx context.Context, c core.Command) (core.Result, error) {
	su, err := e.subject(ctx, c.Session)
	if err != nil {
		return core.Result{}, err
	}
	a := e.adapters[su.Agent]
	if a == nil {
		return core.Result{}, &core.Refusal{What: notClosed, Why: fmt.Sprintf("This tower does not know the agent %q.", su.Agent)}
	}
	info := a.Agent()
	sk, ok := a.(core.Skiller)
	if !ok || info.Closeout == "" {
		return core.Result{}, &core.Refusal{What: notClosed, Why: info.Display + " has no closeout skill."}
	}
	if su.Closeout == core.CloseoutClosed {
		return core.Result{}, &core.Refusal{What: notClosed, Why: "It was closed out already.", Hint: "Nothing was started."}
	}
	text, installed := sk.Skill(info.Closeout, su.CWD)
	if !installed {
		return core.Result{}, &core.Refusal{What: notClosed, Why: fmt.Sprintf("The skill %q is not installed for %s.", info.Closeout, info.Display),
			Hint: "Install a skill of that name, or name yours in agents.toml."}
	}
	if su.running() {
		return e.typeInto(ctx, c, &su, text, false)
	}
	if c.Text == "live" {
		return core.Result{}, &core.Refusal{What: notClosed, Why: "It does not run.", Hint: "Close it out by resuming it."}
	}
	return e.resumeWith(ctx, c, &su, text)
}
