//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"tower/core"
)

// menuRun measures from the end of a hook call to the change of the menu on a private session bus: a
// real tower with a real icon, a real hook, and nobody's desktop.
func (b *bench) menuRun() error {
	daemon, err := exec.LookPath("dbus-daemon")
	if err != nil {
		return fmt.Errorf("dbus-daemon is needed: %w", err)
	}
	ctx, stop := context.WithCancel(b.ctx)
	bus := exec.CommandContext(ctx, daemon, "--session", "--nofork", "--print-address=1")
	out, err := bus.StdoutPipe()
	if err != nil {
		stop()
		return err
	}
	if err := bus.Start(); err != nil {
		stop()
		return err
	}
	defer func() { stop(); bus.Wait() }()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("read bus address: %w", err)
	}
	address = strings.TrimSpace(address)
	home := b.path("menuhome")
	env := append(b.environ(home, b.path("nobody")), "DBUS_SESSION_BUS_ADDRESS="+address, "TOWER_PORT=0", "XDG_RUNTIME_DIR="+b.path("run"))
	if err := os.MkdirAll(b.path("run"), 0o700); err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	// The hook's parent is this program, so this program is the agent of the test.
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, "agents.toml"), fmt.Appendf(nil, "[claude]\nexe = [%q]\n", exe), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("[sessions]\nharness_roots = []\n"), 0o600); err != nil {
		return err
	}
	tower := exec.CommandContext(ctx, b.tower)
	tower.Env = env
	tower.Cancel = func() error { return tower.Process.Signal(os.Interrupt) }
	if err := tower.Start(); err != nil {
		return err
	}
	defer func() { stop(); tower.Wait() }()
	conn, err := dbus.Connect(address)
	if err != nil {
		return err
	}
	defer conn.Close()
	signals := make(chan *dbus.Signal, 256)
	conn.Signal(signals)
	if err := conn.AddMatchSignal(dbus.WithMatchInterface("com.canonical.dbusmenu")); err != nil {
		return err
	}
	name := fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", tower.Process.Pid)
	if err := eventually(ctx, 20*time.Second, func() bool {
		var owned bool
		err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&owned)
		return err == nil && owned
	}); err != nil {
		return fmt.Errorf("the icon never came: %w", err)
	}
	hook := filepath.Join(home, "bin", "tower-hook")
	if err := eventually(ctx, 10*time.Second, func() bool { _, err := os.Stat(hook); return err == nil }); err != nil {
		return fmt.Errorf("the hook was never put in place: %w", err)
	}
	var took []time.Duration
	for i := range 25 {
		drainSignals(signals)
		id := core.UUID5(core.Namespace, fmt.Sprint("menu", i))
		cmd := exec.CommandContext(ctx, hook, "claude", "SessionStart")
		cmd.Env = env
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"cwd":"/home/dev/proj","hook_event_name":"SessionStart","source":"startup"}`, id))
		if err := cmd.Run(); err != nil {
			return err
		}
		began := time.Now()
		select {
		case <-signals:
			took = append(took, time.Since(began))
		case <-time.After(5 * time.Second):
			return fmt.Errorf("the menu did not follow event %d within 5 s", i)
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := quiet(ctx, signals); err != nil {
			return err
		}
	}
	slices.Sort(took)
	b.line("event to menu, median of 25 (wall)", ms(took[len(took)/2]), "", float64(took[len(took)/2].Microseconds())/1000, 300, " ms")
	b.line("event to menu, slowest of 25 (wall)", ms(took[len(took)-1]), "", float64(took[len(took)-1].Microseconds())/1000, 300, " ms")
	return nil
}

func drainSignals(c chan *dbus.Signal) {
	for {
		select {
		case <-c:
		default:
			return
		}
	}
}

// quiet waits until the menu has come to rest, so that the next change is the next event's.
func quiet(ctx context.Context, c chan *dbus.Signal) error {
	for {
		select {
		case <-c:
		case <-time.After(400 * time.Millisecond):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func eventually(ctx context.Context, limit time.Duration, done func() bool) error {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	for !done() {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
