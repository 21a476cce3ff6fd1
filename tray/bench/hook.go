//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const payload = `{"session_id":"11111111-2222-4333-8444-555555555555","transcript_path":"/home/dev/.claude/projects/-home-dev-proj/1.jsonl","cwd":"/home/dev/proj","hook_event_name":"UserPromptSubmit","prompt":"look at the parser"}`

// hookRun alternates the hook with an empty Go program. Standard input is never closed, as some agents
// leave it.
func (b *bench) hookRun() error {
	bin := b.path("hookhome", "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return err
	}
	hook := filepath.Join(bin, "tower-hook")
	text, err := os.ReadFile(b.hook)
	if err != nil {
		return err
	}
	if err := os.WriteFile(hook, text, 0o700); err != nil {
		return err
	}
	open := func(name string, args ...string) func() (cost, error) {
		return func() (cost, error) {
			r, w, err := os.Pipe()
			if err != nil {
				return cost{}, err
			}
			defer r.Close()
			defer w.Close()
			if _, err := io.WriteString(w, payload); err != nil {
				return cost{}, err
			}
			cmd := exec.CommandContext(b.ctx, name, args...)
			cmd.Stdin, cmd.Env = r, b.environ(b.path("elsewhere"), "")
			began := time.Now()
			err = cmd.Run()
			return cost{wall: time.Since(began)}, err
		}
	}
	const n = 400
	all, err := turns(n, open(hook, "claude", "UserPromptSubmit"), open(b.path("empty")))
	if err != nil {
		return err
	}
	wall := func(c cost) time.Duration { return c.wall }
	mine, ref := quantile(all[0], .5, wall), quantile(all[1], .5, wall)
	b.line("hook, start to end, median of 400 (wall)", ms(mine), ms(ref), ratio(mine, ref), 2, "x")
	mine, ref = quantile(all[0], .99, wall), quantile(all[1], .99, wall)
	b.line("hook, p99, over the empty program's", ms(mine), ms(ref), float64((mine-ref).Microseconds())/1000, 10, " ms")
	landed, err := filepath.Glob(b.path("hookhome", "inbox", "*.json"))
	if err != nil || len(landed) != n {
		return fmt.Errorf("%d of %d events landed", len(landed), n)
	}
	return nil
}
