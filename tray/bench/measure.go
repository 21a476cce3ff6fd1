//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// cost is what one run of a program took.
type cost struct {
	cpu, wall time.Duration
	rss       int64 // peak, bytes
	out       []byte
}

// once runs a program to its end.
func once(ctx context.Context, env []string, name string, args ...string) (cost, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = env
	began := time.Now()
	out, err := cmd.Output()
	if err != nil {
		if e, ok := err.(*exec.ExitError); ok {
			err = fmt.Errorf("%w: %s", err, e.Stderr)
		}
		return cost{}, fmt.Errorf("run %s: %w", name, err)
	}
	c := cost{wall: time.Since(began), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), out: out}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.rss = r.Maxrss * 1024
	}
	return c, nil
}

// turns runs several programs alternately and returns the costs of each.
func turns(n int, programs ...func() (cost, error)) ([][]cost, error) {
	all := make([][]cost, len(programs))
	for range n {
		for i, f := range programs {
			c, err := f()
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], c)
		}
	}
	return all, nil
}

func cpus(list []cost) time.Duration {
	return quantile(list, .5, func(c cost) time.Duration { return c.cpu })
}

func quantile(list []cost, q float64, of func(cost) time.Duration) time.Duration {
	var d []time.Duration
	for _, c := range list {
		d = append(d, of(c))
	}
	slices.Sort(d)
	return d[min(len(d)-1, int(q*float64(len(d))))]
}

func peak(list []cost) (max int64) {
	for _, c := range list {
		if c.rss > max {
			max = c.rss
		}
	}
	return max
}

// self returns the CPU time this process has used so far.
func self() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

func mb(n int64) float64 { return float64(n) / (1 << 20) }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// environ is that of a program under measurement: the tower's home and the agents' folders are ours.
func (b *bench) environ(home, corpus string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "TOWER_HOME=" + home, "TMPDIR=" + b.dir}
	if corpus != "" {
		env = append(env, "CLAUDE_CONFIG_DIR="+corpus+"/.claude", "CODEX_HOME="+corpus+"/.codex")
	}
	return env
}

// corpus has the generator write transcripts.
func (b *bench) corpus(name string, args ...string) (string, error) {
	root := b.path(name)
	args = append([]string{b.top + "/installer/rig/gen_corpus.py", "--root", root, "--seed", "7"}, args...)
	_, err := once(b.ctx, os.Environ(), "python3", args...)
	return root, err
}
