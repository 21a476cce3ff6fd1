//go:build unix

package inbox

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestHostileFiles lays into the inbox what must not be opened, followed or waited for.
func TestHostileFiles(t *testing.T) {
	b, f := box(t)
	good := write(t, f, event(9))
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(`{"v":1,"event_id":"x","event":"Stop","agent":"a","ts":"2026-11-30T00:00:00Z"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		syscall.Mkfifo(filepath.Join(f.in, "1-fifo.json"), 0o600),
		os.Symlink(secret, filepath.Join(f.in, "2-link.json")),
		os.Symlink("/dev/zero", filepath.Join(f.in, "3-endless.json")),
		os.Symlink("/nowhere", filepath.Join(f.in, "4-dangling.json")),
		os.Mkdir(filepath.Join(f.in, "5-folder.json"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	result := make(chan Batch, 1)
	go func() {
		batch, err := b.Drain()
		if err != nil {
			t.Error(err)
		}
		result <- batch
	}()
	select {
	case batch := <-result:
		if len(batch.Items) != 1 || batch.Items[0].Name != good {
			t.Errorf("items = %+v", batch.Items)
		}
		if len(batch.Bad) != 5 {
			t.Errorf("bad = %+v, want 5", batch.Bad)
		}
		for _, bad := range batch.Bad {
			if _, err := b.Quarantine(bad); err != nil {
				t.Error(err)
			}
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the drain hangs")
	}
	if n := b.CountBad(); n != 5 {
		t.Errorf("CountBad = %d", n)
	}
	if _, err := os.Stat(secret); err != nil {
		t.Error("quarantine moved what the link pointed to")
	}
}

func TestUnreadableStays(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	b, f := box(t)
	name := write(t, f, event(9))
	if err := os.Chmod(filepath.Join(f.in, name), 0); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		batch := drain(t, b)
		if len(batch.Unreadable) != 1 || len(batch.Bad)+batch.Later != 0 {
			t.Fatalf("drain = %+v, want one unreadable file", batch)
		}
	}
	if err := os.Chmod(filepath.Join(f.in, name), 0o600); err != nil {
		t.Fatal(err)
	}
	if batch := drain(t, b); len(batch.Items) != 1 {
		t.Errorf("drain = %+v, want the event", batch)
	}
}
