package claude

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

// BenchmarkScan reads every transcript of a corpus. TOWER_BENCH_CORPUS names one already generated
// (the reference: seed 7, 300 sessions, 300 MB); else a small one is made.
func BenchmarkScan(b *testing.B) {
	root := os.Getenv("TOWER_BENCH_CORPUS")
	if root == "" {
		root = corpus(b, "--sessions", "20", "--mb", "10", "--codex-share", "0")
	}
	var files []string
	var size int64
	err := filepath.WalkDir(filepath.Join(root, ".claude"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, suffix) {
			files = append(files, path)
			info, err := d.Info()
			if err != nil {
				return err
			}
			size += info.Size()
		}
		return err
	})
	if err != nil || len(files) == 0 {
		b.Fatalf("no corpus below %s: %v", root, err)
	}
	a := New(core.AgentInfo{})
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, path := range files {
			if _, err := a.Scan(context.Background(), core.Source{Path: path}, core.Cursor{}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/(float64(size)*float64(b.N)/1e6), "ms/MB")
}
