package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"tower/core"
	"tower/core/alert"
	"tower/core/engine"
	"tower/core/home"
	"tower/core/proc"
	"tower/installer"
	"tower/tray/cli"
	"tower/tray/icon"
	"tower/web"
)

// serve is the tower: it runs until ctx ends or it is told to stop, and returns what to exit with.
func serve(ctx context.Context, env *cli.Env, icon bool, first mainThread) error {
	if err := env.Open(); err != nil {
		return err
	}
	unlock, err := env.TakeHome()
	if errors.Is(err, cli.ErrHeld) {
		return second(ctx, env, icon)
	}
	if err != nil {
		return err
	}
	again, err := (&app{env: env, icon: icon, first: first}).run(ctx)
	unlock()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // told to end before it was up
	}
	if err == nil && again {
		err = execAnew()
	}
	return err
}

// second is a tower started while another runs: it shows the window of the first.
func second(ctx context.Context, env *cli.Env, icon bool) error {
	if !icon {
		fmt.Fprintln(env.Out, "Tower runs already.")
		return nil
	}
	// The first may hold the lock for a moment before it answers.
	deadline := time.Now().Add(5 * time.Second)
	for {
		said, err := env.OpenPage(ctx, "/")
		var refused *core.Refusal
		switch {
		case err == nil:
			fmt.Fprintln(env.Out, "Tower runs already. "+said)
			return nil
		case errors.As(err, &refused):
			// Without a display: what was asked for runs all the same.
			fmt.Fprintln(env.Out, "Tower runs already. "+refused.Error())
			return nil
		case time.Now().After(deadline) || ctx.Err() != nil:
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// app is one run of the tower.
type app struct {
	env   *cli.Env
	icon  bool
	first mainThread

	log     *slog.Logger
	engine  *engine.Engine
	popups  *alert.Popups
	restart atomic.Bool
}

// run tells whether the program is to be executed anew afterwards.
func (a *app) run(ctx context.Context) (again bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	umask := privately()
	debug.SetGCPercent(50) // it idles for days: less memory is worth a little more work
	logFile, err := openLog(a.env.Home.Log())
	if err != nil {
		return false, err
	}
	defer logFile.Close()
	a.log = slog.New(slog.NewTextHandler(logFile, nil))
	exe, _ := os.Executable()
	o := a.env.EngineOptions(a.log)
	o.Build = engine.Build(exe)
	o.Exe, o.Environ, o.Umask = exe, os.Environ(), umask
	closeTerminals := a.terminals(&o)
	defer closeTerminals()
	o.Stop = stop
	o.Restart = func() { a.restart.Store(true); stop() }

	a.prepare(exe)
	if a.engine, err = engine.New(ctx, o); err != nil {
		return false, err
	}
	tcp, url, bindErr := web.Listen(ctx, a.env.Config.Port)
	if bindErr != nil {
		a.log.Error("page does not answer", "error", bindErr)
		fmt.Fprintf(a.env.Err, "tower: the page does not answer: %v\n", bindErr)
	}
	socket, err := listenSocket(a.env.Home.Socket())
	if err != nil {
		closeAll(tcp)
		a.engine.Close()
		return false, err
	}
	server := web.New(web.Options{Engine: a.engine, Build: o.Build, Log: a.log, Secrets: a.engine})
	a.engine.Listening(url, addresses(tcp), bindErr)

	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.engine.Run(ctx) })
	g.Go(func() error { return server.Serve(ctx, tcp, socket) })
	a.popups = a.newPopups()
	g.Go(func() error { return a.popups.Run(ctx, a.updates(ctx), a.engine.Snapshot) })
	g.Go(func() error { return a.watchRules(ctx) })
	g.Go(func() error { return a.progress(ctx) })
	g.Go(func() error { return a.keepHome(ctx) })
	if a.icon {
		g.Go(func() error { return a.tray(ctx) })
	}
	if err := a.announce(url, o.Build); err != nil {
		stop()
		return false, errors.Join(err, g.Wait())
	}
	defer a.leave()
	a.log.Info("tower is up", "version", a.env.Version, "build", o.Build, "url", url, "mode", a.env.Config.Mode, "pid", os.Getpid())
	fmt.Fprintf(a.env.Err, "tower: the page is at %s; tower url --ticket signs a browser in\n", url)
	err = g.Wait()
	a.log.Info("tower is down", "restart", a.restart.Load(), "error", err)
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return a.restart.Load(), err
}

// leave removes what says where this tower answers, unless it is another's by now.
func (a *app) leave() {
	if !a.env.Lost() {
		os.Remove(a.env.Home.Endpoint())
		os.Remove(a.env.Home.Socket())
	}
}

// homeEvery is how often a tower looks whether its home is still its own.
const homeEvery = 5 * time.Second

// keepHome ends the tower when the home belongs to another one: a person removed the folder and began
// anew, and two would answer for one home.
func (a *app) keepHome(ctx context.Context) error {
	t := time.NewTicker(homeEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if a.env.Lost() {
				return fmt.Errorf("%s was removed and made anew while this tower ran: it ends", a.env.Home.Data)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// prepare puts the hook program and what it needs in place. Failing at it costs hooks, not the tower.
func (a *app) prepare(exe string) {
	hook := filepath.Join(filepath.Dir(exe), hookName)
	if _, err := os.Stat(hook); err == nil {
		if _, err := installer.InstallHookBinary(hook, a.env.Home.HookBinary()); err != nil {
			a.log.Error("hook program not put in place", "error", err)
		}
	} else {
		a.log.Warn("no hook program beside this one", "looked", hook)
	}
	a.prepareRules()
}

func (a *app) prepareRules() {
	if err := installer.Prepare(a.env.Home, a.env.Adapters); err != nil {
		a.log.Error("standing rules not prepared", "error", err)
	}
}

// announce leaves word where this tower answers.
func (a *app) announce(url, build string) error {
	me := proc.Self()
	text, err := json.Marshal(cli.Endpoint{
		URL: url, Socket: a.env.Home.Socket(), PID: me.PID, Start: me.Start, Boot: me.Boot, Build: build, Since: core.InstantOf(time.Now()),
	})
	if err != nil {
		return err
	}
	return home.Write(a.env.Home.Endpoint(), text)
}

// updates wakes a face for every new Snapshot; it wakes once however many came meanwhile.
func (a *app) updates(ctx context.Context) <-chan struct{} {
	c := make(chan struct{}, 1)
	go func() {
		for {
			moved := a.engine.Moved()
			select {
			case c <- struct{}{}:
			default:
			}
			select {
			case <-moved:
			case <-ctx.Done():
				return
			}
		}
	}()
	return c
}

// newPopups makes what shows popups; without its picture they do without.
func (a *app) newPopups() *alert.Popups {
	picture, err := icon.PNG(icon.Alert, 32)
	if err != nil {
		a.log.Error("no picture for popups", "error", err)
	}
	return alert.NewPopups(picture, a.log)
}

// tray runs the icon. Where none can be shown everything else runs on.
func (a *app) tray(ctx context.Context) error {
	t := newTray(trayConfig{
		Snapshot: a.engine.Snapshot,
		Updates:  a.updates(ctx),
		Act:      a.act,
		// The icon cannot be put up twice by one process.
		OnBusBack: func() {
			a.log.Info("session bus is back, starting anew for the icon")
			a.command(ctx, core.Command{Kind: core.CommandRestart})
		},
		OnHidden: func(why string) {
			fmt.Fprintf(a.env.Err, "tower: no icon yet: %s; the page and the command line do without\n", why)
		},
		OnBusLost: func() { a.log.Warn("session bus is gone, and the icon with it") },
		Main:      a.first,
		Log:       a.log,
	})
	if err := t.Run(ctx); err != nil && ctx.Err() == nil {
		a.log.Error("no icon", "error", err)
	}
	return nil
}

func listenSocket(path string) (net.Listener, error) {
	// The lock is ours, so a socket found here is what a killed tower left.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("clear socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on socket: %w", err)
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // by then the path may be another tower's
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("protect socket: %w", err)
	}
	return l, nil
}

func addresses(list []net.Listener) []string {
	var out []string
	for _, l := range list {
		out = append(out, l.Addr().String())
	}
	return out
}

func closeAll(list []net.Listener) {
	for _, l := range list {
		l.Close()
	}
}

const logLimit = 5 << 20

// openLog opens the log for appending; one that grew large becomes the old one.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > logLimit {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("put log aside: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return f, nil
}
