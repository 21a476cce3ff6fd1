package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

func put(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTranscripts(t *testing.T) {
	root := t.TempDir()
	for _, p := range []string{
		"projects/-p-demo/" + session + ".jsonl",
		"projects/-p-demo/agent-0ld.jsonl",
		"projects/-p-demo/" + session + "/subagents/agent-a1.jsonl",
		"projects/-p-demo/" + session + "/subagents/agent-a1.meta.json",
		"projects/-p-demo/" + session + "/tool-results/x.jsonl",
		"projects/-p-demo/memory/notes.jsonl",
		"projects/-p-other/" + session + ".jsonl",
		"projects/stray.jsonl",
		"history.jsonl",
	} {
		put(t, filepath.Join(root, p))
	}
	if err := os.Mkdir(filepath.Join(root, "projects/-p-demo/folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "gone"), filepath.Join(root, "projects/-p-demo/broken.jsonl")); err != nil {
		t.Fatal(err)
	}

	a := New(core.AgentInfo{Root: root})
	var got []string
	err := a.Transcripts(context.Background(), func(s core.Source) bool {
		rel, _ := filepath.Rel(root, s.Path)
		got = append(got, filepath.ToSlash(rel)+" "+s.Hint)
		if s.Agent != Name || s.Size != 3 || s.MTime == 0 {
			t.Errorf("source %+v lacks its agent or fingerprint", s)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	want := []string{
		"projects/-p-demo/" + session + ".jsonl ",
		"projects/-p-demo/" + session + "/subagents/agent-a1.jsonl subagent/" + session,
		"projects/-p-demo/agent-0ld.jsonl subagent/",
		"projects/-p-other/" + session + ".jsonl ",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Transcripts (-want +got):\n%s", d)
	}

	calls := 0
	if err := a.Transcripts(context.Background(), func(core.Source) bool { calls++; return false }); err != nil || calls != 1 {
		t.Errorf("told to stop, Transcripts called on %d times and said %v", calls, err)
	}
}

func TestTranscriptsRefuses(t *testing.T) {
	if err := New(core.AgentInfo{Root: filepath.Join(t.TempDir(), "gone")}).Transcripts(context.Background(), nil); err != nil {
		t.Errorf("an agent that never ran: %v, want no error", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	root := t.TempDir()
	put(t, filepath.Join(root, "projects/a/x.jsonl"))
	if err := New(core.AgentInfo{Root: root}).Transcripts(ctx, func(core.Source) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled walk: %v", err)
	}
	// A folder that cannot be read must not hide the others. A link to itself is one for any user.
	loop := filepath.Join(root, "projects/loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := New(core.AgentInfo{Root: root}).Transcripts(context.Background(), func(core.Source) bool { n++; return true })
	if err == nil || !strings.Contains(err.Error(), "loop") || n != 1 {
		t.Errorf("with a folder that cannot be read: %d sources, %v", n, err)
	}
}

func TestScanRefuses(t *testing.T) {
	a := New(core.AgentInfo{})
	if _, err := a.Scan(context.Background(), core.Source{Path: filepath.Join(t.TempDir(), "gone.jsonl")}, core.Cursor{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a vanished transcript: %v", err)
	}
	path := writeLines(t, user(1, "x"))
	s := scanFrom(t, path, core.Cursor{})
	s.Cursor.State = []byte(`{"seen":"AAAA"}`) // three bytes are no hash
	if again := scanFrom(t, path, s.Cursor); !again.Reset || again.Deltas[0].Facts.Turns != 1 {
		t.Errorf("a damaged state: reset %v, %d turns", again.Reset, again.Deltas[0].Facts.Turns)
	}
}

// FuzzScan feeds lines nobody vouches for: no panic, nothing told twice, and a turn that is counted is
// told.
func FuzzScan(f *testing.F) {
	for _, l := range odd() {
		f.Add([]byte(l), uint16(len(l)/2))
	}
	f.Add([]byte(strings.Join(odd(), "\n")), uint16(3000))
	path := filepath.Join(f.TempDir(), session+suffix)
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		facts, turns := scanFile(t, path)
		if len(byUID(turns)) != len(turns) {
			t.Fatalf("a turn of %q is told twice", data)
		}
		if facts.Class == core.ClassMain && int64(len(turns)) != facts.Turns {
			t.Fatalf("%d turns told, %d counted in %q", len(turns), facts.Turns, data)
		}
		if err := os.WriteFile(path, data[:int(at)%(len(data)+1)], 0o600); err != nil {
			t.Fatal(err)
		}
		first := scanFrom(t, path, core.Cursor{})
		if err := os.WriteFile(path, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(facts, scanFrom(t, path, first.Cursor).Deltas[0].Facts); d != "" {
			t.Fatalf("split at %d of %q (-want +got):\n%s", int(at)%(len(data)+1), data, d)
		}
	})
}

// BenchmarkTranscripts walks 10,000 unchanged transcripts and compares each with what was known.
func BenchmarkTranscripts(b *testing.B) {
	root := b.TempDir()
	for i := range 10_000 {
		put(b, filepath.Join(root, "projects", fmt.Sprintf("-p-%02d", i%40), fmt.Sprintf("00000000-0000-4000-8000-%012d.jsonl", i)))
	}
	a := New(core.AgentInfo{Root: root})
	known := map[string]core.Fingerprint{}
	remember := func(s core.Source) bool { known[s.Path] = s.Fingerprint; return true }
	if err := a.Transcripts(context.Background(), remember); err != nil || len(known) != 10_000 {
		b.Fatalf("%d sources, %v", len(known), err)
	}
	b.ReportAllocs()
	for b.Loop() {
		same := 0
		if err := a.Transcripts(context.Background(), func(s core.Source) bool {
			if known[s.Path] == s.Fingerprint {
				same++
			}
			return true
		}); err != nil || same != 10_000 {
			b.Fatalf("%d unchanged, %v", same, err)
		}
	}
}

// BenchmarkAppend goes on from a cursor in a large file.
func BenchmarkAppend(b *testing.B) {
	path := filepath.Join(b.TempDir(), session+suffix)
	block := user(1, []fields{{"type": "tool_result", "content": strings.Repeat("x", 4000)}}) + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(block, 60<<20/len(block))), 0o600); err != nil {
		b.Fatal(err)
	}
	a := New(core.AgentInfo{})
	first, err := a.Scan(context.Background(), core.Source{Path: path}, core.Cursor{})
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(user(2, "more") + "\n"); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := a.Scan(context.Background(), core.Source{Path: path}, first.Cursor)
		if err != nil || s.Reset || s.Read > 17<<10 {
			b.Fatalf("read %d bytes, reset %v, %v", s.Read, s.Reset, err)
		}
	}
}
