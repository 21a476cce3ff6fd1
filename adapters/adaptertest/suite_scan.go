package adaptertest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

// below fails unless path lies below root.
func below(t *testing.T, root, path string) {
	t.Helper()
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsAbs(path) || strings.HasPrefix(rel, "..") {
		t.Errorf("%s does not lie below the agent's folder", path)
	}
}

func sources(t *testing.T, a core.Adapter) []core.Source {
	t.Helper()
	var all []core.Source
	if err := a.Transcripts(t.Context(), func(s core.Source) bool { all = append(all, s); return true }); err != nil {
		t.Fatalf("Transcripts: %v", err)
	}
	return all
}

func (s Suite) transcripts(t *testing.T) {
	empty, root := s.adapter(t)
	if got := sources(t, empty); len(got) != 0 {
		t.Errorf("Transcripts of an empty folder found %v", got)
	}
	if err := os.Remove(root); err != nil {
		t.Fatalf("Transcripts left something behind: %v", err)
	}
	if got := sources(t, empty); len(got) != 0 {
		t.Errorf("Transcripts without a folder found %v", got)
	}
	if s.Fill == nil {
		t.Skip("no recorded transcripts")
	}
	a, root := s.adapter(t)
	s.Fill(t, root)
	all := sources(t, a)
	if len(all) == 0 {
		t.Fatal("Transcripts found nothing in a filled folder")
	}
	seen := map[string]bool{}
	for _, src := range all {
		below(t, root, src.Path)
		st, err := os.Stat(src.Path)
		if err != nil {
			t.Fatal(err)
		}
		if src.Agent != s.Info.Agent || src.Size != st.Size() || src.MTime != st.ModTime().UnixNano() || seen[src.Path] {
			t.Errorf("source %+v: agent or fingerprint is wrong, or it was found twice", src)
		}
		seen[src.Path] = true
	}
	n := 0
	if err := a.Transcripts(t.Context(), func(core.Source) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("Transcripts called found %d times after it answered false, %v", n, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Transcripts(over, func(core.Source) bool { return true }); err == nil {
		t.Error("Transcripts went on in a context that is over")
	}
	s.changes(t, a, all[0])
}

// changes shows that an append changes the fingerprint and that a vanished file is found no more.
func (s Suite) changes(t *testing.T, a core.Adapter, src core.Source) {
	t.Helper()
	f, err := os.OpenFile(src.Path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	i := slices.IndexFunc(sources(t, a), func(x core.Source) bool { return x.Path == src.Path })
	if i < 0 || sources(t, a)[i].Fingerprint == src.Fingerprint {
		t.Error("an append left the fingerprint as it was")
	}
	if err := os.Remove(src.Path); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(sources(t, a), func(x core.Source) bool { return x.Path == src.Path }) {
		t.Error("a vanished file is still found")
	}
	if _, err := a.Scan(t.Context(), src, core.Cursor{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Scan of a vanished file = %v, want that it does not exist", err)
	}
}

// told is what one source told so far: the facts of each session and its turns.
type told struct {
	Facts map[string]core.Facts
	Turns map[string][]core.Turn
}

// take adds a scan, as the sweep does. A last line without its newline may be told again with it, so
// a turn counts once by its UID.
func (x *told) take(scan core.Scan) {
	if scan.Reset || x.Facts == nil {
		x.Facts, x.Turns = map[string]core.Facts{}, map[string][]core.Turn{}
	}
	for _, d := range scan.Deltas {
		x.Facts[d.Facts.Native] = d.Facts
		for _, turn := range d.Turns {
			if have := x.Turns[d.Facts.Native]; !slices.ContainsFunc(have, func(t core.Turn) bool { return t.UID == turn.UID }) {
				x.Turns[d.Facts.Native] = append(have, turn)
			}
		}
	}
}

// cuts returns the places at which a source is cut: around the ends of lines, and spread between.
func cuts(b []byte) []int {
	var at []int
	for i, c := range b {
		if c == '\n' && len(at) < 36 {
			at = append(at, i, i+1, i+2)
		}
	}
	for i := 1; i <= 16; i++ {
		at = append(at, len(b)*i/17)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	return slices.DeleteFunc(at, func(i int) bool { return i <= 0 || i >= len(b) })
}

func (s Suite) scan(t *testing.T) {
	if s.Fill == nil {
		t.Skip("no recorded transcripts")
	}
	a, root := s.adapter(t)
	s.Fill(t, root)
	for _, src := range sources(t, a) {
		rel, _ := filepath.Rel(root, src.Path)
		t.Run(rel, func(t *testing.T) { s.scanOne(t, a, src) })
	}
}

func (s Suite) scanOne(t *testing.T, a core.Adapter, src core.Source) {
	scan := func(from core.Cursor) core.Scan {
		t.Helper()
		got, err := a.Scan(t.Context(), src, from)
		if err != nil {
			t.Fatalf("Scan: %v", err)
		}
		return got
	}
	first := scan(core.Cursor{})
	if !first.Reset {
		t.Error("Scan from the start does not say Reset")
	}
	for _, d := range first.Deltas {
		if d.Facts.Native == "" || d.Facts.Agent != s.Info.Agent {
			t.Errorf("a delta without session or agent: %+v", d.Facts)
		}
		uids := map[int64]bool{}
		for _, turn := range d.Turns {
			if uids[turn.UID] {
				t.Errorf("turn %d of %s is told twice", turn.UID, d.Facts.Native)
			}
			uids[turn.UID] = true
		}
	}
	var whole told
	whole.take(first)
	same := whole
	same.take(scan(first.Cursor))
	if d := cmp.Diff(whole, same); d != "" {
		t.Errorf("Scan of an unchanged source tells something new:\n%s", d)
	}
	if s.Whole {
		return
	}
	body, err := os.ReadFile(src.Path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(src.Path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range cuts(body) {
		var parts told
		put(body[:at])
		half := scan(core.Cursor{})
		parts.take(half)
		put(body)
		rest := scan(half.Cursor)
		parts.take(rest)
		if d := cmp.Diff(whole, parts); d != "" {
			t.Fatalf("cut at byte %d of %d, the whole and its parts differ:\n%s", at, len(body), d)
		}
		if !cmp.Equal(rest.Cursor, first.Cursor) {
			t.Errorf("cut at byte %d, the cursor ends as %+v, want %+v", at, rest.Cursor, first.Cursor)
		}
	}
	put(body[:len(body)/2])
	if got := scan(first.Cursor); !got.Reset && first.Cursor.Offset > int64(len(body)/2) {
		t.Error("Scan of a source that shrank does not say Reset")
	}
	put(append([]byte(" "), body...))
	if got := scan(first.Cursor); !got.Reset {
		t.Error("Scan of a source with another head does not say Reset")
	}
	put(body)
}
