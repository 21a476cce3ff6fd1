//go:build unix

package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tower/adapters/jsonl"
	"tower/core"
)

// cpu measures processor time, which a busy machine does not change much; the wall time it does.
func cpu(b *testing.B, f func()) {
	b.Helper()
	used := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	begin := used()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(used()-begin)/float64(b.N)/1e6, "cpu-ms/op")
}

func BenchmarkTranscripts10000(b *testing.B) {
	root := b.TempDir()
	for i := range 10000 {
		dir := filepath.Join(root, "sessions", "2026", "11", fmt.Sprintf("%02d", i%30+1))
		if i < 30 {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("rollout-2026-11-01T10-00-00-019a0000-0000-7000-8000-%012d.jsonl", i)), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	a := New(info(root))
	cpu(b, func() {
		n := 0
		if err := a.Transcripts(b.Context(), func(core.Source) bool { n++; return true }); err != nil || n != 10000 {
			b.Fatal(n, err)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	var content strings.Builder
	content.WriteString(meta(d1+"0.000Z", idP, ""))
	for i := 0; content.Len() < 8<<20; i++ {
		at := d1 + fmt.Sprintf("%d.%03dZ", i%10, i%1000)
		content.WriteString(said(at, "please do"))
		content.WriteString(um(at, "please do"))
		content.WriteString(line(at, "response_item", `{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"c"}`))
		content.WriteString(line(at, "response_item", `{"type":"function_call_output","call_id":"c","output":`+quoted(strings.Repeat("some output \"quoted\" and more\n", 60))+`}`))
		content.WriteString(tc(at, "1000", "1000"))
	}
	path := filepath.Join(b.TempDir(), rolloutName(idP))
	if err := os.WriteFile(path, []byte(content.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	a := New(info(b.TempDir()))
	b.SetBytes(int64(content.Len()))
	cpu(b, func() {
		if _, err := a.Scan(b.Context(), core.Source{Path: path}, core.Cursor{}); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkEvidence50(b *testing.B) {
	root := b.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "thread-writer-locks"), 0o700); err != nil {
		b.Fatal(err)
	}
	tab := &table{}
	dir := filepath.Join(root, "sessions", "2026", "11", "30")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	for i := range 50 {
		id := fmt.Sprintf("01a22d78-4adb-76e2-811e-%012d", i)
		path := filepath.Join(root, "thread-writer-locks", id+".lock")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			b.Fatal(err)
		}
		print, ok := jsonl.Fingerprint(path)
		if !ok {
			b.Fatal("no fingerprint of " + path)
		}
		tab.add(100+i, 1, native, native)
		tab.locks = append(tab.locks, core.Lock{PID: 100 + i, Device: print.Device, Inode: print.Inode})
		if err := os.WriteFile(filepath.Join(dir, rolloutName(id)), []byte(begun(id)), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	a := New(info(root))
	cpu(b, func() {
		if all, err := a.Evidence(b.Context(), tab); err != nil || len(all) != 50 {
			b.Fatal(len(all), err)
		}
	})
}
