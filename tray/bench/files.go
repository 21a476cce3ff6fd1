//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"tower/core"
)

// importRun measures the import of the reference corpus, ledger included, beside wc and ccusage.
func (b *bench) corpusRun(size int) error {
	root, err := b.corpus("corpus", "--sessions", "300", "--mb", fmt.Sprint(size))
	if err != nil {
		return err
	}
	all := filepath.Join(root, "*", "*", "*")
	n := 0
	product := func() (cost, error) {
		n++
		return once(b.ctx, b.environ(b.path(fmt.Sprintf("home%d", n)), root), b.tower, "import", "--json")
	}
	list := func() (cost, error) { return b.wc(root) }
	runs := []func() (cost, error){product, list}
	peer := b.ccusage()
	if peer != "" {
		runs = append(runs, func() (cost, error) {
			return once(b.ctx, append(b.environ("", root), "LOG_LEVEL=0"), peer, "daily", "--offline", "--json")
		})
	}
	got, err := turns(5, runs...)
	if err != nil {
		return err
	}
	var r core.ImportResult
	if err := json.Unmarshal(got[0][0].out, &r); err != nil || r.Opened != 300 {
		return fmt.Errorf("import read %d of 300 files in %s: %v", r.Opened, all, err)
	}
	b.line(fmt.Sprintf("import of %d MB, CPU, beside wc -l", size), ms(cpus(got[0])), ms(cpus(got[1])), ratio(cpus(got[0]), cpus(got[1])), 7, "x")
	if peer != "" {
		b.line("the same beside ccusage", ms(cpus(got[0])), ms(cpus(got[2])), ratio(cpus(got[0]), cpus(got[2])), .35, "x")
	} else {
		fmt.Printf("%-46s not measured: %s\n", "the same beside ccusage", "make bench-peers fetches it")
	}
	b.line("import, peak memory", "", "", mb(peak(got[0])), 64, " MB")
	scan, err := turns(3, func() (cost, error) { return b.scanAll(root) }, list)
	if err != nil {
		return err
	}
	b.line("scan alone, CPU, beside wc -l", ms(cpus(scan[0])), ms(cpus(scan[1])), ratio(cpus(scan[0]), cpus(scan[1])), 0, "x")
	return nil
}

// wc counts the lines of every file, the cheapest pass over the same bytes.
func (b *bench) wc(root string) (cost, error) {
	return once(b.ctx, os.Environ(), "sh", "-c", `find "$1" -name '*.jsonl' -print0 | xargs -0 wc -l | tail -n 1`, "sh", root)
}

func (b *bench) scanAll(root string) (cost, error) {
	return once(b.ctx, b.environ(b.path("scanhome"), root), "sh", "-c", `find "$2" -name '*.jsonl' -print0 | xargs -0 "$1" scan --json`, "sh", b.tower, root)
}

// ccusage returns its native binary, or "" when it is not to be fetched or cannot be had.
func (b *bench) ccusage() string {
	if !b.peers {
		return ""
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir := filepath.Join(cache, "tower-bench")
	if out, err := exec.CommandContext(b.ctx, "npm", "install", "--prefix", dir, "--no-fund", "--no-audit", "--loglevel=error", "ccusage@20.0.24").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "bench: ccusage could not be fetched: %v\n%s", err, out)
		return ""
	}
	var native string
	filepath.WalkDir(filepath.Join(dir, "node_modules"), func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() == "ccusage" && strings.Contains(p, "linux") {
			native = p
		}
		return nil
	})
	if native == "" {
		fmt.Fprintln(os.Stderr, "bench: no native ccusage for this system")
		return ""
	}
	mine := b.path("ccusage")
	text, err := os.ReadFile(native)
	if err != nil || os.WriteFile(mine, text, 0o700) != nil {
		return ""
	}
	return mine
}

func (b *bench) escapeRun() error {
	root, err := b.corpus("dense", "--sessions", "30", "--mb", "60", "--escape-dense")
	if err != nil {
		return err
	}
	got, err := turns(5, func() (cost, error) { return b.scanAll(root) }, func() (cost, error) { return b.wc(root) })
	if err != nil {
		return err
	}
	b.line("escape-dense text, CPU, beside wc -l", ms(cpus(got[0])), ms(cpus(got[1])), ratio(cpus(got[0]), cpus(got[1])), 9, "x")
	return nil
}

// giants measures one file of 300 MB and one line of 50 MB.
func (b *bench) giants() error {
	root, err := b.corpus("big", "--sessions", "1", "--mb", "1", "--big-mb", "300")
	if err != nil {
		return err
	}
	var big string
	var size int64
	filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if info, e := d.Info(); err == nil && e == nil && info.Size() > size && !d.IsDir() {
			big, size = p, info.Size()
		}
		return nil
	})
	c, err := once(b.ctx, b.environ(b.path("scanhome"), ""), b.tower, "scan", "--json", big)
	if err != nil {
		return err
	}
	b.line(fmt.Sprintf("one file of %.0f MB, peak memory", mb(size)), "", "", mb(c.rss), 40, " MB")
	line := b.path("line.jsonl")
	if err := giantLine(line); err != nil {
		return err
	}
	if c, err = once(b.ctx, b.environ(b.path("scanhome"), ""), b.tower, "scan", "--json", "--agent", "claude", line); err != nil {
		return err
	}
	var got struct{ Turns int64 }
	if err := json.Unmarshal(c.out, &got); err != nil || got.Turns != 2 {
		return fmt.Errorf("a line of 50 MB and one behind it gave %d turns: %v", got.Turns, err)
	}
	b.line("one line of 50 MB, peak memory", "", "", mb(c.rss), 40, " MB")
	return nil
}

// giantLine writes a prompt of 50 MB and a short one behind it. It is written in pieces: a child's peak
// memory begins at what its parent holds when it forks.
func giantLine(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	const head = `{"type":"user","uuid":"11111111-2222-4333-8444-55555555555%d","sessionId":"s","cwd":"/p","timestamp":"2026-01-01T00:00:0%d.000Z","message":{"role":"user","content":"`
	fmt.Fprintf(w, head, 1, 1)
	for range 50 << 20 / 21 {
		w.WriteString("all work and no play ")
	}
	fmt.Fprintf(w, "\"}}\n"+head+"after\"}}\n", 2, 2)
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
