//go:build cgo

package ledger

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"
	"tower/core"
)

// TestTogether reads and writes from many goroutines at once.
func TestTogether(t *testing.T) {
	d := openTest(t)
	var g errgroup.Group
	for n := range 8 {
		g.Go(func() error {
			_, err := d.Apply(t.Context(), batchOf(n+1))
			return err
		})
		g.Go(func() error { return d.SetSetting(t.Context(), "n", string(rune('a'+n))) })
		g.Go(func() error {
			l, err := d.Load(t.Context())
			if len(l.Sessions)%40 != 0 || len(l.Sessions) != len(l.Fingerprints) {
				t.Errorf("a reader saw %d sessions and %d sources, want whole writes of 40", len(l.Sessions), len(l.Fingerprints))
			}
			return err
		})
		g.Go(func() error { return d.Turns(t.Context(), func(core.SessionID, core.Instant) error { return nil }) })
		g.Go(func() error { return d.Checkpoint(t.Context()) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := len(load(t, d).Sessions); n != 320 {
		t.Errorf("%d sessions, want 320", n)
	}
}

// TestInBubble opens, uses and closes a ledger under a false clock, as the tests of the loops do.
func TestInBubble(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	synctest.Test(t, func(t *testing.T) {
		d, err := Open(t.Context(), path, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		at := now()
		w := batchOf(1)
		apply(t, d, w)
		list, err := d.Events(t.Context(), core.NewSessionID("fake", "x"), 1)
		if err != nil || len(list) != 1 || list[0].Ingested != at {
			t.Errorf("events = %v, %v, want one kept at %v", list, err, at)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
