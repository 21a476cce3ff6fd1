//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// idleRun lets a tower that knows 10,000 sessions do nothing for half a minute. It uses what the sweep
// left behind.
func (b *bench) idleRun() error {
	root, home := b.path("many"), b.path("manyhome")
	if _, err := os.Stat(filepath.Join(home, "ledger.sqlite")); err != nil {
		return fmt.Errorf("it needs the part sweep before it: %w", err)
	}
	ctx, stop := context.WithCancel(b.ctx)
	cmd := exec.CommandContext(ctx, b.tower, "serve")
	cmd.Env = append(b.environ(home, root), "TOWER_PORT=0", "XDG_RUNTIME_DIR="+b.dir, "TOWER_SESSIONS_HARNESS_ROOTS=/nowhere")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		stop()
		return err
	}
	defer func() { stop(); cmd.Wait() }()
	ready := func() bool {
		c, err := once(ctx, cmd.Env, b.tower, "status", "--json")
		return err == nil && strings.Contains(string(c.out), `"all":10000`)
	}
	if err := eventually(ctx, 30*time.Second, ready); err != nil {
		return fmt.Errorf("it never knew its sessions: %w", err)
	}
	select { // what a start leaves to do is done by then
	case <-time.After(8 * time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	before, err := used(cmd.Process.Pid)
	if err != nil {
		return err
	}
	const span = 30 * time.Second
	select {
	case <-time.After(span):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := used(cmd.Process.Pid)
	if err != nil {
		return err
	}
	b.line("idle for 30 s with 10,000 sessions, CPU", ms(after-before), "", 100*float64(after-before)/float64(span), .25, " %")
	b.line("the same, resident memory", "", "", mb(resident(cmd.Process.Pid)), 64, " MB")
	return nil
}

// used returns the CPU time of a process, in clock ticks of 10 ms.
func used(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, err1 := strconv.Atoi(f[11])
	system, err2 := strconv.Atoi(f[12])
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("read /proc/%d/stat: %q", pid, text)
	}
	return time.Duration(user+system) * 10 * time.Millisecond, nil
}

// resident returns the resident memory of a process in bytes.
func resident(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
