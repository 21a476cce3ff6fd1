//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"tower/adapters"
	"tower/core"
	"tower/core/config"
	"tower/core/proc"
	"tower/core/sweep"
)

// adaptersOver returns the real adapters with their folders below root.
func (b *bench) adaptersOver(root string, agents string) ([]core.Adapter, error) {
	file := b.path("agents.toml")
	if err := os.WriteFile(file, []byte(agents), 0o600); err != nil {
		return nil, err
	}
	env := map[string]string{"CLAUDE_CONFIG_DIR": root + "/.claude", "CODEX_HOME": root + "/.codex"}
	c, _, err := config.Load(config.Options{
		AgentsFile: file, Agents: adapters.Defaults, Getenv: func(k string) string { return env[k] }, UserHome: root, Data: b.dir, Temp: b.dir,
	})
	if err != nil {
		return nil, err
	}
	return adapters.All(c.Agents), nil
}

// sweepRun lists 10,000 files of which none changed.
func (b *bench) sweepRun() error {
	root := b.path("many")
	const n = 10_000
	line := `{"type":"user","uuid":"%s","sessionId":"%s","cwd":"/p","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hello"}}` + "\n"
	old := time.Now().Add(-time.Hour)
	for i := range n {
		id := core.UUID5(core.Namespace, fmt.Sprint(i))
		dir := filepath.Join(root, ".claude", "projects", fmt.Sprintf("-home-dev-p%d", i%100))
		if i%4 == 3 {
			dir = filepath.Join(root, ".codex", "sessions", "2026", "01", fmt.Sprintf("%02d", 1+i%28))
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		name := filepath.Join(dir, id+".jsonl")
		text := fmt.Sprintf(line, id, id)
		if i%4 == 3 {
			name = filepath.Join(dir, "rollout-2026-01-01T00-00-00-"+id+".jsonl")
			text = `{"timestamp":"2026-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"` + id + `","cwd":"/p"}}` + "\n"
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(name, old, old); err != nil {
			return err
		}
	}
	list, err := b.adaptersOver(root, "")
	if err != nil {
		return err
	}
	x := sweep.NewIndex(nil)
	o := sweep.Options{
		Adapters: list, Index: x,
		Cursor: func(context.Context, string) (core.Cursor, error) { return core.Cursor{}, nil },
		Emit: func(r sweep.Result) error {
			x.Put(core.SourceState{Path: r.Source.Path, Fingerprint: r.Source.Fingerprint, Cursor: r.Scan.Cursor})
			return nil
		},
	}
	st, err := sweep.Run(b.ctx, o)
	if err != nil || st.Opened < n {
		return fmt.Errorf("first sweep opened %d of %d: %v", st.Opened, n, err)
	}
	var costs []cost
	for range 7 {
		before := self()
		st, err := sweep.Run(b.ctx, o)
		if err != nil || st.Opened != 0 || st.Sources < n {
			return fmt.Errorf("an unchanged sweep opened %d of %d: %v", st.Opened, st.Sources, err)
		}
		costs = append(costs, cost{cpu: self() - before})
	}
	c := cpus(costs)
	b.line("unchanged sweep of 10,000 files, CPU, 0 opened", ms(c), "", float64(c.Microseconds())/1000, 60, " ms")
	home := b.path("manyhome")
	first, err := once(b.ctx, b.environ(home, root), b.tower, "import", "--json")
	if err != nil {
		return err
	}
	second, err := once(b.ctx, b.environ(home, root), b.tower, "import", "--json")
	if err != nil {
		return err
	}
	if !bytes.Contains(second.out, []byte(`"opened":0`)) || !bytes.Contains(second.out, []byte(`"rows_written":0`)) {
		return fmt.Errorf("a second import wrote or opened: %s", second.out)
	}
	b.line("the same as a program, start and ledger included", ms(second.cpu), ms(first.cpu), ratio(second.cpu, first.cpu), 0, "x first")
	return nil
}

// appendRun appends one turn to a file of 60 MB.
func (b *bench) appendRun() error {
	root, err := b.corpus("grow", "--sessions", "1", "--mb", "1", "--big-mb", "60", "--codex-share", "0")
	if err != nil {
		return err
	}
	list, err := b.adaptersOver(root, "")
	if err != nil {
		return err
	}
	var big core.Source
	var a core.Adapter
	for _, x := range list {
		if err := x.Transcripts(b.ctx, func(s core.Source) bool {
			if s.Size > big.Size {
				big, a = s, x
			}
			return true
		}); err != nil {
			return err
		}
	}
	scan, err := a.Scan(b.ctx, big, core.Cursor{})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(big.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	const times = 200
	var read, appended int64
	before := self()
	for i := range times {
		line := fmt.Sprintf(`{"type":"user","uuid":"%s","sessionId":"s","cwd":"/p","timestamp":"2026-11-30T00:%02d:%02d.000Z","message":{"role":"user","content":"more"}}`+"\n", core.UUID5(core.Namespace, fmt.Sprint("append", i)), i/60, i%60)
		if _, err := io.WriteString(f, line); err != nil {
			return err
		}
		appended += int64(len(line))
		fp, err := sweep.Stat(big.Path)
		if err != nil {
			return err
		}
		big.Fingerprint = fp
		next, err := a.Scan(b.ctx, big, scan.Cursor)
		if err != nil {
			return err
		}
		if next.Reset || len(next.Deltas) != 1 || len(next.Deltas[0].Turns) != 1 {
			return fmt.Errorf("append %d to %s was read as reset %v with %d deltas, %+v", i, big.Path, next.Reset, len(next.Deltas), next.Deltas)
		}
		read += next.Read
		scan = next
	}
	c := (self() - before) / times
	b.line("append of a turn to a file of 60 MB, CPU", ms(c), "", float64(c.Microseconds())/1000, 1, " ms")
	b.line("the same, bytes read beyond the appended", "", "", float64(read-appended)/times/1024, 16, " KB")
	return nil
}

// pollRun reads the table of a machine with 600 more processes, 50 of them agents with a record.
func (b *bench) pollRun() error {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(sleep)
	if err != nil {
		return err
	}
	root := b.path("pollroot")
	records := filepath.Join(root, ".claude", "sessions")
	if err := os.MkdirAll(records, 0o700); err != nil {
		return err
	}
	agent := filepath.Join(root, "claude")
	if err := os.WriteFile(agent, text, 0o700); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	var all []*exec.Cmd
	defer func() {
		stop()
		for _, c := range all {
			c.Wait()
		}
	}()
	for i := range 600 {
		name := sleep
		if i < 50 {
			name = agent
		}
		c := exec.CommandContext(ctx, name, "600")
		if err := c.Start(); err != nil {
			return err
		}
		all = append(all, c)
		if i >= 50 {
			continue
		}
		start, _ := proc.Start(c.Process.Pid)
		record := fmt.Sprintf(`{"pid":%d,"sessionId":"%s","cwd":"/p","startedAt":1796059174475,"procStart":"%d","version":"2.1.197","kind":"interactive","entrypoint":"cli","name":"p-1","nameSource":"derived","status":"idle","updatedAt":1796059200670,"statusUpdatedAt":1796059200670}`, c.Process.Pid, core.UUID4(), start)
		if err := os.WriteFile(filepath.Join(records, fmt.Sprintf("%d.json", c.Process.Pid)), []byte(record), 0o600); err != nil {
			return err
		}
	}
	list, err := b.adaptersOver(root, "[claude]\nexe = [\""+agent+"\"]\n")
	if err != nil {
		return err
	}
	reader := proc.NewReader()
	tick := func() error {
		t, err := reader.Read()
		if err != nil {
			return err
		}
		seen := 0
		for _, a := range list {
			s, err := a.Evidence(b.ctx, t)
			if err != nil {
				return err
			}
			seen += len(s)
		}
		if seen != 50 {
			return fmt.Errorf("saw %d of 50 sessions", seen)
		}
		return nil
	}
	if err := tick(); err != nil {
		return err
	}
	const times = 60
	before := self()
	for range times {
		if err := tick(); err != nil {
			return err
		}
	}
	c := (self() - before) / times
	b.line("poll tick, 600 more processes, 50 live, CPU", ms(c), "", float64(c.Microseconds())/1000, 8, " ms")
	return nil
}
