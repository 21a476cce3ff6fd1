package installer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tower/core"
	"tower/core/home"
)

// CanaryVerdict is how far the canary got.
type CanaryVerdict string

// The verdicts.
const (
	CanaryOK           CanaryVerdict = "ok"            // an event landed
	CanaryNotInstalled CanaryVerdict = "not installed" // nothing to try
	CanaryNotTrusted   CanaryVerdict = "not trusted"   // the agent would pass the hooks over
	CanaryDidNotRun    CanaryVerdict = "did not run"   // the agent failed before it called a hook
	CanaryNoFile       CanaryVerdict = "ran, no file"  // the agent ran, and no event landed
)

// CanaryResult is what the canary found.
type CanaryResult struct {
	Agent   core.Agent    `json:"agent"`
	Verdict CanaryVerdict `json:"verdict"`
	Said    string        `json:"said"`   // one plain sentence or two
	Output  string        `json:"output"` // the agent's last lines, if it failed
	Seconds float64       `json:"seconds"`
}

// Canary runs the agent once, for one word, and tells whether its hooks arrive. landed answers
// whether an event of the agent came in since a time; it is asked until it says yes or the time is up.
// The agent gets no input, a folder of its own and a minute. An error means that nothing can be said.
func (h *Hooks) Canary(ctx context.Context, agent core.Agent, landed func(since time.Time, agent core.Agent) (bool, error)) (CanaryResult, error) {
	info, hooks, err := h.find(agent, "Not tried.")
	if err != nil {
		return CanaryResult{}, err
	}
	r := CanaryResult{Agent: agent}
	status, err := h.Status(agent)
	if err != nil {
		return r, err
	}
	switch status.State {
	case core.HooksNotInstalled, core.HooksUnreadable:
		r.Verdict, r.Said = CanaryNotInstalled, strings.TrimSpace(fmt.Sprintf("The hooks of %s are not installed. %s", info.Display, status.Reason))
		return r, nil
	case core.HooksNeedTrust:
		r.Verdict, r.Said = CanaryNotTrusted, fmt.Sprintf("The hooks of %s are installed and not trusted. %s", info.Display, status.Reason)
		return r, nil
	}
	dir, err := os.MkdirTemp("", "tower-canary-")
	if err != nil {
		return r, fmt.Errorf("make canary's folder: %w", err)
	}
	defer os.Remove(dir) // it stays if the agent left something in it
	shot, err := hooks.OneShot(dir)
	if err != nil {
		return r, fmt.Errorf("prepare canary: %w", err)
	}
	since := time.Now()
	output, failed := h.shoot(ctx, shot)
	r.Seconds = time.Since(since).Seconds()
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	arrived, err := h.wait(ctx, since, agent, landed)
	if err != nil {
		return r, err
	}
	called := h.called(since, agent)
	switch {
	case arrived:
		r.Verdict, r.Said = CanaryOK, fmt.Sprintf("The hooks of %s work: an event arrived.", info.Display)
	case called != "":
		r.Verdict, r.Said = CanaryNoFile, fmt.Sprintf("%s called the hook, and no event arrived. The hook's log says: %s", info.Display, called)
	case failed != nil:
		r.Verdict, r.Output = CanaryDidNotRun, output
		r.Said = fmt.Sprintf("%s did not run: %s.", info.Display, describe(failed))
	default:
		r.Verdict = CanaryNoFile
		r.Said = strings.TrimSpace(fmt.Sprintf("%s ran and did not call the hook. %s", info.Display, status.Reason))
	}
	return r, nil
}

// wait asks landed until it says yes.
func (h *Hooks) wait(ctx context.Context, since time.Time, agent core.Agent, landed func(time.Time, core.Agent) (bool, error)) (bool, error) {
	limit := h.landing
	if limit == 0 {
		limit = 2 * time.Second
	}
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(min(limit, 50*time.Millisecond))
	defer tick.Stop()
	for {
		if ok, err := landed(since, agent); ok || err != nil {
			return ok, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-end.C:
			return landed(since, agent)
		case <-tick.C:
		}
	}
}

// shoot runs the one-shot and returns the last lines of what it said.
func (h *Hooks) shoot(ctx context.Context, l core.Launch) (string, error) {
	limit := h.deadline
	if limit == 0 {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	env := environ(os.Environ(), l)
	program, err := h.look(l.Argv[0])
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, l.Argv[1:]...)
	cmd.Args[0] = l.Argv[0]
	cmd.Dir, cmd.Env = l.Dir, env
	said := &tail{}
	cmd.Stdout, cmd.Stderr = said, said // and null for its input, as os/exec gives it
	endAll(cmd)
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Run()
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		err = fmt.Errorf("it had not ended after %v", limit)
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil // it ended and left a child that holds its output open
	}
	return said.lines(), err
}

// look finds the agent's command.
func (h *Hooks) look(name string) (string, error) {
	if h.Path == "" || filepath.IsAbs(name) {
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(h.Path) {
		if program, err := exec.LookPath(filepath.Join(dir, name)); err == nil && dir != "" {
			return program, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

func describe(err error) string {
	if errors.Is(err, exec.ErrNotFound) {
		var e *exec.Error
		if errors.As(err, &e) {
			return fmt.Sprintf("there is no command %q in PATH", e.Name)
		}
	}
	return err.Error()
}

// environ returns base as a launch wants it.
func environ(base []string, l core.Launch) []string {
	var env []string
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		_, set := l.Set[name]
		for _, u := range l.Unset {
			family, ok := strings.CutSuffix(u, "*")
			set = set || u == name || ok && strings.HasPrefix(name, family)
		}
		if !set {
			env = append(env, kv)
		}
	}
	for name, value := range l.Set {
		env = append(env, name+"="+value)
	}
	return env
}

// called returns what the hook's log says last of a call by the agent since a time, or "".
func (h *Hooks) called(since time.Time, agent core.Agent) string {
	f, err := home.Open(h.HookLog)
	if err != nil {
		return ""
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() > 64<<10 {
		if _, err := f.Seek(-64<<10, 2); err != nil {
			return ""
		}
	}
	last := ""
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		at, rest, _ := strings.Cut(lines.Text(), " ")
		who, rest, _ := strings.Cut(rest, " ")
		if core.Agent(who) == agent && core.ParseInstant(at) >= core.InstantOf(since) {
			last = rest
		}
	}
	return last
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	end []byte
}

const tailSize = 4 << 10

// Write never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, b...)
	if len(t.end) > 2*tailSize {
		t.end = bytes.Clone(t.end[len(t.end)-tailSize:])
	}
	return len(b), nil
}

// lines returns the last five lines that say something.
func (t *tail) lines() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for _, l := range strings.Split(strings.ToValidUTF8(string(t.end), ""), "\n") {
		l = strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return ' '
			}
			return r
		}, l))
		if l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
