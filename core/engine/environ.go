package engine

import (
	"context"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tower/core"
	"tower/core/launch"
)

// environ is the person's login environment: what a terminal of theirs would have. It is kept in memory
// and nowhere else.
type environ struct {
	mu   sync.Mutex
	vars []string
	at   time.Time
}

// environAge is how long a login environment is taken for the present one: a person who installs an
// agent expects the next launch to find it.
const environAge = 5 * time.Minute

// login returns the login environment. A shell that cannot be asked leaves the tower's own.
func (e *Engine) login(ctx context.Context) []string {
	e.environ.mu.Lock()
	defer e.environ.mu.Unlock()
	if e.environ.vars != nil && time.Since(e.environ.at) < environAge {
		return e.environ.vars
	}
	// A launcher that gives up must not end the question: the next one has the same.
	vars, err := launch.Login(context.WithoutCancel(ctx), valueOf(e.o.Environ, "SHELL"), e.o.Environ)
	if err != nil {
		e.log.Warn("login environment not read", "error", err)
		if vars = e.environ.vars; vars == nil {
			vars = launch.Scrub(e.o.Environ)
		}
	}
	e.environ.vars, e.environ.at = vars, time.Now()
	return vars
}

// LoginEnvironment is what the launcher of a launch that waits asks for; anybody else is told that there
// is no such launch.
func (e *Engine) LoginEnvironment(ctx context.Context, token string, pid int) ([]string, error) {
	err := e.post(ctx, func(context.Context) error {
		u := e.launches[token]
		if u == nil || u.Proc.Known() || e.overtaken(u) {
			return fmt.Errorf("launch %q: %w", token, fs.ErrNotExist)
		}
		return nil // a window that comes late is welcome
	})
	if err != nil {
		return nil, err
	}
	e.log.Info("login environment handed over", "token", token, "pid", pid)
	return e.login(ctx), nil
}

// program returns the full path of an agent's command: as the adapter finds it, on the login PATH first,
// since one that was started by the desktop may have a poor PATH of its own.
func (e *Engine) program(agent core.Agent, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	path := e.searchPath()
	if f, ok := e.adapters[agent].(core.Finder); ok {
		if found, _ := f.Find(path); found != "" && strings.TrimSuffix(filepath.Base(found), filepath.Ext(found)) == name {
			return found
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(found) {
			return found
		}
	}
	return name
}

// searchPath is the login PATH followed by the tower's own.
func (e *Engine) searchPath() string {
	e.environ.mu.Lock()
	own := valueOf(e.environ.vars, "PATH")
	e.environ.mu.Unlock()
	if own == "" || own == e.o.Path {
		return e.o.Path
	}
	return own + string(filepath.ListSeparator) + e.o.Path
}

// windowEnv is the environment of a command that opens a window: the tower's own, without what the
// terminal or the agent it was started from left in it.
func (e *Engine) windowEnv() []string {
	return launch.Opener(launch.Scrub(e.o.Environ))
}

// runTool runs an agent's own command that works without a terminal, and returns its last words.
func (e *Engine) runTool(ctx context.Context, agent core.Agent, l core.Launch) (string, error) {
	ctx, stop := context.WithTimeout(ctx, 15*time.Second)
	defer stop()
	cmd := exec.CommandContext(ctx, e.program(agent, l.Argv[0]), l.Argv[1:]...)
	cmd.Dir = l.Dir
	cmd.Env = launch.Compose(e.login(ctx), nil, launch.Order{Set: l.Set, Unset: l.Unset})
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	said := strings.Join(tailOf(string(out), 3), " ")
	if err != nil {
		return said, fmt.Errorf("%s: %w: %s", filepath.Base(l.Argv[0]), err, said)
	}
	return said, nil
}
