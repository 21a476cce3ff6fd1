package codex

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

// ledger merges scans as the one who keeps their results does.
type ledger struct {
	cursor core.Cursor
	facts  core.Facts
	turns  map[int64]core.Turn
}

func (l *ledger) take(s core.Scan) {
	if s.Reset || l.turns == nil {
		l.turns = map[int64]core.Turn{}
	}
	for _, d := range s.Deltas {
		l.facts = d.Facts
		for _, turn := range d.Turns {
			l.turns[turn.UID] = turn
		}
	}
	l.cursor = s.Cursor
}

func (l *ledger) sum() (core.Facts, []core.Turn) {
	turns := slices.Collect(maps.Values(l.turns))
	slices.SortFunc(turns, func(a, b core.Turn) int {
		if a.At != b.At {
			return int(a.At - b.At)
		}
		return int(a.UID>>1 - b.UID>>1)
	})
	return l.facts, turns
}

// grower scans a file as it grows. The file is only ever appended to and then removed: to overwrite it
// would make the file system flush it each time.
type grower struct {
	a    *Adapter
	path string
}

func newGrower(t testing.TB) grower {
	return grower{New(info(t.TempDir())), filepath.Join(t.TempDir(), rolloutName(idP))}
}

func (g grower) scan(t testing.TB, from core.Cursor) core.Scan {
	t.Helper()
	s, err := g.a.Scan(poisoned(), core.Source{Agent: Name, Path: g.path}, from)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// grow scans the file at each of the given sizes, then as a whole, and compares.
func (g grower) grow(t testing.TB, content []byte, sizes []int) {
	t.Helper()
	f, err := os.Create(g.path)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(g.path)
	defer f.Close()
	var pieces ledger
	done := 0
	for _, n := range append(sizes[:len(sizes):len(sizes)], len(content)) {
		if _, err := f.Write(content[done:n]); err != nil {
			t.Fatal(err)
		}
		done = n
		pieces.take(g.scan(t, pieces.cursor))
	}
	var whole ledger
	whole.take(g.scan(t, core.Cursor{}))
	f1, t1 := whole.sum()
	f2, t2 := pieces.sum()
	if d := cmp.Diff(f1, f2); d != "" {
		t.Errorf("facts of scans at %v differ (-whole +pieces):\n%s", sizes, d)
	}
	if d := cmp.Diff(t1, t2); d != "" {
		t.Errorf("turns of scans at %v differ (-whole +pieces):\n%s", sizes, d)
	}
}

// hard is a small file in which a later line changes the meaning of an earlier one in every way there is.
func hard() []byte {
	return []byte(strings.Join([]string{
		meta(d9+"100Z", idC, `,"forked_from_id":"`+idP+`"`), meta(d9+"101Z", idP, ""), said(d9+"102Z", "old"), um(d9+"103Z", "old"),
		said("2026-11-09T12:05:00.000Z", "<environment_context><cwd>/e</cwd></environment_context>"),
		said("2026-11-09T12:05:00.000Z", "c é \"q\""), um("2026-11-09T12:05:00.010Z", "c é \"q\""), item("2026-11-09T12:05:00.011Z", "u1", "c é \"q\""),
		tc("2026-11-09T12:05:09.000Z", "2300", "5300"), "{torn\n", "\n", line("2026-11-09T12:05:10.000Z", "compacted", `{}`), tc("2026-11-09T12:05:11.000Z", "2300", "5300"),
		said("2026-11-09T12:06:00.000Z", "<skill><name>x</name></skill>"), um("2026-11-09T12:06:00.001Z", "<skill><name>x</name></skill>"), um("2026-11-09T12:06:01.000Z", "d"), um("2026-11-09T12:06:01.000Z", "d"),
	}, ""))
}

func TestSplitAtEveryByte(t *testing.T) {
	late := []byte(strings.Join([]string{ // prompts are counted as sent until the client reports one
		meta(d1+"0.000Z", idP, ""), said(d1+"1.000Z", "a"), said(d1+"2.000Z", "b"), um(d1+"3.000Z", "c"), line(d1+"4.000Z", "turn_context", `{"model":"m"}`),
	}, ""))
	flat := []byte(`{"id":"` + idP + `","timestamp":"2025-07-01T09:00:00.000Z","git":{}}` + "\n" +
		strings.Repeat(`{"type":"message","role":"user","content":[{"type":"input_text","text":"again"}]}`+"\n", 3))
	for name, content := range map[string][]byte{"fork": hard(), "late report": late, "flat": flat, "no newline at the end": late[:len(late)-1]} {
		t.Run(name, func(t *testing.T) {
			g := newGrower(t)
			for n := range len(content) {
				g.grow(t, content, []int{n})
				if t.Failed() {
					t.FailNow()
				}
			}
		})
	}
}

func TestSplitSamples(t *testing.T) {
	paths, _ := filepath.Glob("testdata/rollouts/*.jsonl")
	g := newGrower(t)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		for n := 997; n < len(content); n += 1999 {
			sizes = append(sizes, n)
		}
		g.grow(t, content, sizes)
	}
}

func TestAppendReadsLittle(t *testing.T) {
	path := filepath.Join(t.TempDir(), rolloutName(idP))
	filler := line(d1+"1.000Z", "response_item", `{"type":"function_call_output","output":"`+strings.Repeat("x", 4000)+`"}`)
	if err := os.WriteFile(path, []byte(meta(d1+"0.000Z", idP, "")+strings.Repeat(filler, 500)+um(d1+"2.000Z", "a")), 0o600); err != nil {
		t.Fatal(err)
	}
	a := New(info(t.TempDir()))
	first := scanFile(t, a, path, core.Cursor{})
	more := um(d1+"3.000Z", "b")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(more); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s := scanFile(t, a, path, first.Cursor)
	if s.Reset || len(s.Deltas[0].Turns) != 1 || s.Deltas[0].Facts.Turns != 2 || s.Read > int64(len(more))+16<<10 {
		t.Errorf("append of %d bytes: reset %v, %d new turns of %d, %d bytes read", len(more), s.Reset, len(s.Deltas[0].Turns), s.Deltas[0].Facts.Turns, s.Read)
	}
}

// FuzzScan feeds foreign bytes: no panic, and a scan in two pieces tells what one of the whole tells.
func FuzzScan(f *testing.F) {
	f.Add(hard(), uint(200))
	f.Add([]byte(`{"id":"x","timestamp":"2025-07-01T09:00:00.000Z"}`+"\n"+`{"type":"message","role":"user","content":"s"}`), uint(30))
	f.Add([]byte(`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","changes":{"/":1,"C:/":2}}}}`), uint(3))
	paths, _ := filepath.Glob("testdata/rollouts/exec-plain.jsonl")
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content, uint(5000))
	}
	g := newGrower(f)
	f.Fuzz(func(t *testing.T, content []byte, at uint) {
		if len(content) > 1<<16 {
			return
		}
		g.grow(t, content, []int{int(at % uint(len(content)+1))})
	})
}

// FuzzInstant compares the fast reading of a time with the library's.
func FuzzInstant(f *testing.F) {
	for _, s := range []string{"2026-11-30T17:37:07.155Z", "2024-02-29T00:00:00.000Z", "2023-02-29T00:00:00.000Z", "0000-01-01T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-11-30T17:37:07Z", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Skip("not a string of JSON")
		}
		var back string
		if json.Unmarshal(raw, &back) != nil {
			t.Skip("not a string of JSON")
		}
		if got, want := instant(raw), core.ParseInstant(back); got != want {
			t.Errorf("instant(%s) = %d, want %d", raw, got, want)
		}
	})
}
