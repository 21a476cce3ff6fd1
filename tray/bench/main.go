//go:build linux

// Package main is the benchmark program behind "make bench": it measures every promise of speed and
// memory beside a reference in the same run and prints one line each, with the limit and whether it is
// kept. The machine may be busy: product and reference take turns, medians of CPU time are compared,
// and wall time is only told. It exits 1 when a limit is broken.
//
// It is for developers and changes nothing outside its own temporary folder; the processes it starts
// are its own children, and it ends them. With -peers it also runs ccusage, fetched by npm into a cache
// outside the checkout, for the comparison that the import is held to.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// bench is one run of the program.
type bench struct {
	ctx    context.Context
	dir    string // temporary
	tower  string
	hook   string
	top    string // the checkout
	peers  bool
	broken int
}

func main() {
	peers := flag.Bool("peers", false, "compare the import with ccusage too (fetched by npm)")
	only := flag.String("only", "", "run only the parts whose name contains this")
	corpus := flag.Int("mb", 300, "size of the corpus in MB")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, *peers, *only, *corpus))
}

func run(ctx context.Context, peers bool, only string, mb int) int {
	dir, err := os.MkdirTemp("", "tower-bench-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	b := &bench{ctx: ctx, dir: dir, peers: peers}
	if err := b.build(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	fmt.Printf("%-46s %12s %12s %9s  %s\n", "what", "product", "reference", "ratio", "limit")
	parts := []struct {
		name string
		f    func() error
	}{
		{"hook", b.hookRun},
		{"import", func() error { return b.corpusRun(mb) }},
		{"escape-dense", b.escapeRun},
		{"giants", b.giants},
		{"sweep", b.sweepRun},
		{"sweep, idle", b.idleRun},
		{"append", b.appendRun},
		{"poll", b.pollRun},
		{"menu", b.menuRun},
	}
	for _, p := range parts {
		if ctx.Err() != nil || only != "" && !strings.Contains(p.name, only) {
			continue
		}
		began := time.Now()
		if err := p.f(); err != nil {
			fmt.Printf("%-46s FAILED: %v\n", p.name, err)
			b.broken++
		}
		fmt.Fprintf(os.Stderr, "bench: %s took %.0f s\n", p.name, time.Since(began).Seconds())
	}
	if b.broken > 0 {
		fmt.Printf("%d limits broken\n", b.broken)
		return 1
	}
	fmt.Println("all limits kept")
	return 0
}

// build builds the two programs and an empty one to compare with.
func (b *bench) build() error {
	top, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	b.top = strings.TrimSpace(string(top))
	b.tower, b.hook = filepath.Join(b.dir, "bin", "tower"), filepath.Join(b.dir, "bin", "tower-hook")
	empty := filepath.Join(b.dir, "empty.go")
	if err := os.WriteFile(empty, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return err
	}
	for _, x := range []struct {
		cgo string
		arg []string
	}{
		{"1", []string{"-o", b.tower, "./tray"}},
		{"0", []string{"-o", b.hook, "./hooks"}},
		{"0", []string{"-o", b.path("empty"), empty}},
	} {
		cmd := exec.CommandContext(b.ctx, "go", append([]string{"build"}, x.arg...)...)
		cmd.Dir, cmd.Env = b.top, append(os.Environ(), "CGO_ENABLED="+x.cgo)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	return nil
}

func (b *bench) path(parts ...string) string {
	return filepath.Join(append([]string{b.dir}, parts...)...)
}

// line prints one result. limit 0 is no limit.
func (b *bench) line(what, product, reference string, figure, limit float64, unit string) {
	verdict := "(no limit)"
	if limit > 0 {
		verdict = fmt.Sprintf("<= %g%s", limit, unit)
		if figure > limit {
			verdict += "  BROKEN"
			b.broken++
		}
	}
	fmt.Printf("%-46s %12s %12s %9s  %s\n", what, product, reference, fmt.Sprintf("%.3g%s", figure, unit), verdict)
}
