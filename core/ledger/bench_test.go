//go:build cgo && unix

package ledger

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"tower/core"
)

// cpu returns the processor time this process has used: wall time says little on a busy machine.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkApplyImport(b *testing.B) {
	for _, size := range []struct{ sessions, turns int }{{300, 20}, {10_000, 50}} {
		b.Run(fmt.Sprintf("%dx%d", size.sessions, size.turns), func(b *testing.B) {
			all := corpus(size.sessions, size.turns)
			var bytes int64
			var used time.Duration
			for b.Loop() {
				before := cpu()
				d := openTest(b)
				for _, w := range all {
					apply(b, d, w)
				}
				b.StopTimer()
				used += cpu() - before
				if err := d.Checkpoint(context.Background()); err != nil {
					b.Fatal(err)
				}
				info, err := os.Stat(d.path)
				if err != nil {
					b.Fatal(err)
				}
				bytes = info.Size()
				d.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(bytes)/1e6, "MB")
			b.ReportMetric(used.Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
}

func BenchmarkLoad10k(b *testing.B) {
	d := openTest(b)
	for _, w := range corpus(10_000, 50) {
		apply(b, d, w)
	}
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			load(b, d)
		}
	})
	b.Run("turns", func(b *testing.B) {
		for b.Loop() {
			n := 0
			if err := d.Turns(b.Context(), func(core.SessionID, core.Instant) error { n++; return nil }); err != nil || n != 500_000 {
				b.Fatal(n, err)
			}
		}
	})
}
