package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tower/core"
	"tower/core/home"
	"tower/core/proc"
)

// Exit is the error of Exec where it had to stay beside the agent: the agent's own exit code.
type Exit int

// Error says the code.
func (x Exit) Error() string { return fmt.Sprintf("exit %d", int(x)) }

// Exec carries out the order at path: it becomes the agent and does not return. Its process, which it
// reports first, is then the agent's, with the same pid and start; signals are as in a fresh process,
// and nothing is open but standard input, output and error. When it does return, nothing was
// started: the reason is in the inbox and has been printed to out. (On Windows it returns [Exit] once
// the agent has ended.)
//
// It waits 5 s for a tower that is not there and a second longer for one that is asking the person's
// shell, then goes on without.
func Exec(ctx context.Context, path string, out io.Writer) error {
	l := &launcher{path: path, own: os.Environ(), patience: 5 * time.Second, each: loginTime + time.Second}
	err := l.run(ctx)
	var x Exit
	if errors.As(err, &x) {
		return err
	}
	fmt.Fprintf(out, "tower: not started: %v\n", err)
	if told := l.tellFailure(err); told != nil {
		fmt.Fprintf(out, "tower: error: %v\n", told)
	}
	return err
}

// sentence is why nothing was started, for a person to read.
type sentence string

// Error returns the sentence.
func (s sentence) Error() string { return string(s) }

func say(format string, args ...any) error { return sentence(fmt.Sprintf(format, args...)) }

// launcher is one run of the exec half.
type launcher struct {
	path     string
	own      []string // the environment it was started with
	patience time.Duration
	each     time.Duration // for one question to the tower, which may have to ask a login shell first

	order Order
	note  string
	told  core.Instant // when the last report was written
}

// run returns only when there is no agent in its place; the error is a sentence for a person.
func (l *launcher) run(ctx context.Context) error {
	hangUp() // a window that is closed while this waits has to end it
	order, err := read(l.path)
	if err != nil {
		return say("The launch file %s cannot be used: %v.", l.path, bare(err))
	}
	l.order = order
	if err := l.order.take(l.path); err != nil {
		return err
	}
	argv, err := l.argv()
	if err != nil {
		return err
	}
	if err := enter(l.order.Dir); err != nil {
		return err
	}
	env, err := l.environ(ctx)
	if err != nil {
		return err
	}
	program, err := find(argv[0], env)
	if err != nil {
		return err
	}
	if l.order.NullIn {
		if err := nullIn(); err != nil {
			return say("Standard input cannot be made empty: %v.", err)
		}
	}
	err = l.become(program, argv, env)
	switch {
	case errors.Is(err, syscall.E2BIG):
		return say("The prompt and the environment together are more than the system takes.")
	case errors.Is(err, syscall.ENOEXEC):
		return say("%s is not a program that this system can run.", program)
	case errors.Is(err, fs.ErrNotExist):
		return say("%s needs a program that is not there, the one its first line names.", program)
	}
	var x Exit
	if err != nil && !errors.As(err, &x) {
		return say("%s could not be started: %v.", program, err)
	}
	return err
}

// argv returns the argument list with the prompt in it.
func (l *launcher) argv() ([]string, error) {
	if l.order.PromptAt < 0 {
		return l.order.Argv, nil
	}
	prompt, err := home.ReadFile(l.order.Prompt, maxOrder)
	if err != nil {
		return nil, say("The prompt cannot be read: %v.", err)
	}
	argv := append([]string{}, l.order.Argv...)
	argv[l.order.PromptAt] = string(prompt)
	return argv, nil
}

// environ makes the agent's environment, with the tower's help if it answers.
func (l *launcher) environ(ctx context.Context) ([]string, error) {
	login, err := l.ask(ctx)
	var o over
	switch {
	case errors.As(err, &o):
		return nil, err
	case ctx.Err() != nil:
		return nil, say("It was interrupted before the agent was started.")
	case err != nil:
		l.note = fmt.Sprintf("The login environment is unknown (%v), the terminal's own is used.", cause(err))
		return Environ(l.own, l.order), nil
	}
	env := Compose(login, l.own, l.order)
	if _, ok := lookup(login, "GPG_TTY"); ok {
		// A start file asks tty(1), which in a login without a terminal has no answer.
		if row, ok := proc.Row(os.Getpid()); ok && row.TTY != 0 {
			env = append(env, "GPG_TTY="+ttyName(row.TTY))
		}
	}
	return env, nil
}

// cause leaves out by which address a socket was asked for.
func cause(err error) error {
	var errno syscall.Errno
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("the tower did not answer in time")
	case errors.As(err, &errno):
		return fmt.Errorf("the tower did not answer: %w", errno)
	}
	return err
}

// enter changes to the folder and proves that it is there.
func enter(dir string) error {
	want, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return say("The folder %s does not exist.", dir)
	case errors.Is(err, syscall.ENOTDIR):
		return say("The folder %s does not exist: a part of its path is a file.", dir)
	case err == nil && !want.IsDir():
		return say("%s is a file, not a folder.", dir)
	case err == nil:
		err = os.Chdir(dir)
	}
	if err != nil {
		return say("The folder %s cannot be entered: %v.", dir, bare(err))
	}
	if is, err := os.Stat("."); err != nil || !os.SameFile(want, is) {
		return say("The folder %s was exchanged for another one just now.", dir)
	}
	return nil
}

// bare is the system's word without the path, which the sentence names already.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// find looks a program up on the PATH of the environment it will have, as a shell does, but never in
// the folder it is in.
func find(name string, env []string) (string, error) {
	if filepath.IsAbs(name) {
		if why := runnable(name); why != nil {
			return "", say("%s cannot be started: %v.", name, why)
		}
		return name, nil
	}
	if strings.ContainsAny(name, `/\`) {
		return "", say("%s is neither a full path nor a plain name.", name)
	}
	path, _ := lookup(env, "PATH")
	var looked []string
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, ending := range endings(name, env) {
			if file := filepath.Join(dir, name+ending); runnable(file) == nil {
				return file, nil
			}
		}
		looked = append(looked, dir)
	}
	if len(looked) == 0 {
		return "", say("%s cannot be looked for: the environment has no PATH.", name)
	}
	return "", say("%s is not installed: it is not in %s.", name, strings.Join(looked, ", "))
}

func runnable(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("it does not exist")
	case err != nil:
		return bare(err)
	case info.IsDir():
		return errors.New("it is a folder")
	}
	return executable(file)
}

// tellFailure writes the reason into the inbox. Without an order the file's place tells which.
func (l *launcher) tellFailure(why error) error {
	if l.order.Token == "" {
		stem, ok := strings.CutSuffix(l.path, orderSuffix)
		l.order.Token = filepath.Base(stem)
		l.order.Inbox = home.Home{Data: filepath.Dir(filepath.Dir(l.path))}.Inbox()
		if _, err := os.Stat(l.order.Inbox); !ok || !filepath.IsAbs(l.path) || !isToken(l.order.Token) || err != nil {
			return nil // no home has such a launch
		}
		l.order.Agent = core.Agent("tower")
	}
	return l.tell(EventFailed, proc.Self(), why.Error())
}
