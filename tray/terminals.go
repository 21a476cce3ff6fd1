package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tower/core/engine"
	"tower/core/tmux"
)

// terminals gives the engine the machine's windows and its tmux. The result lets go of the tmux server,
// whose sessions go on.
func (a *app) terminals(o *engine.Options) (leave func()) {
	o.Desktop = engine.NewDesktop(o.Environ, a.log)
	bin, err := exec.LookPath("tmux")
	if err != nil {
		a.log.Info("no tmux: launches need a display", "error", err)
		return func() {}
	}
	own := tmux.New(tmux.Options{Bin: bin, Socket: a.env.Home.TmuxSocket(), Conf: filepath.Join(a.env.Home.Runtime, "tmux.conf"), Env: muxEnv(o.Environ), Log: a.log})
	o.Tmux, o.Panes = own, own.Changed()
	var mu sync.Mutex
	others := map[string]*tmux.Server{}
	o.Foreign = func(socket string) engine.Panes {
		mu.Lock()
		defer mu.Unlock()
		s := others[socket]
		if s == nil {
			if len(others) > 64 {
				clear(others) // sockets of servers long gone
			}
			s = tmux.Foreign(bin, socket)
			others[socket] = s
		}
		return s
	}
	return func() {
		ctx, stop := context.WithTimeout(context.Background(), 3*time.Second)
		defer stop()
		// Sessions in it outlive the tower. A server without any would be litter.
		if panes, err := own.Panes(ctx); err == nil && len(panes) == 0 {
			if err := own.End(ctx); err != nil {
				a.log.Warn("tmux server not ended", "error", err)
			}
		}
		if err := own.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			a.log.Warn("tmux not let go", "error", err)
		}
	}
}

// muxed are the variables the tmux server is started with: it hands them to every session for ever, and
// the launcher in each asks for the rest.
var muxed = map[string]bool{
	"HOME": true, "USER": true, "LOGNAME": true, "SHELL": true, "PATH": true, "LANG": true, "LC_ALL": true, "LC_CTYPE": true, "TZ": true,
	"TMPDIR": true, "XDG_RUNTIME_DIR": true, "XDG_CONFIG_HOME": true, "XDG_DATA_HOME": true, "XDG_CACHE_HOME": true, "XDG_STATE_HOME": true,
}

func muxEnv(environ []string) []string {
	env := []string{"TERM=xterm-256color"}
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); muxed[name] {
			env = append(env, kv)
		}
	}
	return env
}
