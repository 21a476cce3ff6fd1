package inbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"tower/core"

	"github.com/google/go-cmp/cmp"
)

func TestArchive(t *testing.T) {
	b, f := box(t)
	write(t, f, event(7))
	it := drain(t, b).Items[0]
	for range 2 { // the second time it is gone, which is no error
		if err := b.Archive(it); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{it.Name}, names(filepath.Join(f.processed, "2026-11-30"))); diff != "" {
		t.Error(diff)
	}
	if got := names(f.in); got != nil {
		t.Errorf("inbox = %v", got)
	}
}

func TestQuarantineKeepsBoth(t *testing.T) {
	b, f := box(t)
	for _, content := range []string{"one", "two"} {
		plant(t, f, "x.json", content)
		if _, err := b.Quarantine(Bad{"x.json", "why"}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"x.json", "x.json.2"}, names(f.bad)); diff != "" {
		t.Error(diff)
	}
}

func TestPrune(t *testing.T) {
	b, f := box(t)
	name := "5-" + core.UUID4() + suffix
	for _, p := range []string{
		"2026-11-15/" + name, "2026-11-16/" + name, "2026-11-30/" + name, "2020-01-01/" + name,
		"2020-01-02/" + name, "2020-01-02/notes.json", "old/" + name, "2020-13-77/" + name,
	} {
		p = filepath.Join(f.processed, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plant(t, f, name, "{}")
	old, young := "6-"+core.UUID4()+tmpSuffix, "7-"+core.UUID4()+tmpSuffix
	for _, tmp := range []string{old, young, "foreign.json.tmp"} {
		plant(t, f, tmp, "{")
	}
	long := noon.Add(-48 * time.Hour)
	for _, tmp := range []string{old, "foreign.json.tmp"} {
		if err := os.Chtimes(filepath.Join(f.in, tmp), long, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(f.in, young), noon, noon); err != nil {
		t.Fatal(err)
	}
	removed, err := b.Prune(noon, 14)
	if err != nil || removed != 4 {
		t.Errorf("Prune = %d, %v, want 4", removed, err)
	}
	if diff := cmp.Diff([]string{"2020-01-02", "2020-13-77", "2026-11-16", "2026-11-30", "old"}, names(f.processed)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"notes.json"}, names(filepath.Join(f.processed, "2020-01-02"))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{name, young, "foreign.json.tmp"}, names(f.in)); diff != "" {
		t.Error(diff)
	}
	empty, _ := box(t)
	if n, err := empty.Prune(noon, 14); n != 0 || err != nil {
		t.Errorf("Prune of nothing = %d, %v", n, err)
	}
}
