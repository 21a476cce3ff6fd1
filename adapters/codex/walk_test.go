package codex

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"tower/core"
)

func TestTranscripts(t *testing.T) {
	h := newHome(t)
	want := []string{
		h.file(indexFile, "{}\n"),
		h.file("sessions/2026/11/30/"+rolloutName(t1), "x"),
		h.file("sessions/2025/07/01/"+rolloutName(t2)+".zst", "xx"),
		h.file("sessions/"+rolloutName(t3), "as the oldest generation lay"),
		h.file("archived_sessions/"+rolloutName(t3), ""),
	}
	h.file("sessions/2026/11/30/notes.jsonl", "")
	h.file("sessions/2026/11/30/rollout-x.json", "")
	h.file("sessions/2026/11/30/deeper/"+rolloutName(t1), "")
	if err := os.Mkdir(filepath.Join(h.root, "sessions/2026/11/30", "rollout-dir.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(want[1], filepath.Join(h.root, "sessions/2026/11/30", rolloutName(idC))); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := h.a.Transcripts(t.Context(), func(s core.Source) bool {
		got = append(got, s.Path)
		info, err := os.Stat(s.Path)
		if err != nil || s.Agent != Name || s.Size != info.Size() || s.MTime != info.ModTime().UnixNano() || s.Inode == 0 || s.CTime == 0 {
			t.Errorf("source %+v, %v", s, err)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Transcripts (-want +got):\n%s", d)
	}
	n := 0
	if err := h.a.Transcripts(t.Context(), func(core.Source) bool { n++; return n < 2 }); err != nil || n != 2 {
		t.Errorf("stopped after 2: found %d, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.a.Transcripts(ctx, func(core.Source) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := New(info(filepath.Join(t.TempDir(), "none"))).Transcripts(t.Context(), func(core.Source) bool { return true }); err != nil {
		t.Errorf("without a home: %v", err)
	}
}

func TestTranscriptsGoOn(t *testing.T) {
	h := newHome(t)
	h.file("sessions", "a file where the folder should be")
	h.file("archived_sessions/"+rolloutName(t1), "")
	n := 0
	if err := h.a.Transcripts(t.Context(), func(core.Source) bool { n++; return true }); err == nil || n != 1 {
		t.Errorf("found %d, error %v; want the one that can be had, and an error", n, err)
	}
}

func TestScanRefuses(t *testing.T) {
	a := New(info(t.TempDir()))
	for name, path := range map[string]string{
		"missing": filepath.Join(t.TempDir(), rolloutName(t1)), "a folder": t.TempDir(), "packed, missing": filepath.Join(t.TempDir(), rolloutName(t1)+".zst"),
		"packed, torn": write(t, rolloutName(t1)+".zst", "not zstd at all"),
	} {
		if s, err := a.Scan(t.Context(), core.Source{Path: path}, core.Cursor{}); err == nil {
			t.Errorf("%s: Scan = %+v", name, s)
		}
	}
}

func TestScanPacked(t *testing.T) {
	content := hard()
	plainPath := write(t, rolloutName(idC), string(content))
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packedPath := write(t, rolloutName(idC)+".zst", string(enc.EncodeAll(content, nil)))
	a := New(info(t.TempDir()))
	want, got := scanFile(t, a, plainPath, core.Cursor{}), scanFile(t, a, packedPath, core.Cursor{})
	if d := cmp.Diff(want.Deltas, got.Deltas); d != "" {
		t.Errorf("a packed rollout tells something else (-plain +packed):\n%s", d)
	}
	info, err := os.Stat(packedPath)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Reset || got.Read != info.Size() {
		t.Errorf("reset %v, read %d of %d", got.Reset, got.Read, info.Size())
	}
	if n := len(want.Deltas[0].Turns); n < 2 {
		t.Errorf("the sample has %d turns", n)
	}
	torn := enc.EncodeAll(content, nil)
	path := write(t, rolloutName(idC)+".zst", string(torn[:len(torn)-20]))
	if _, err := a.Scan(t.Context(), core.Source{Path: path}, core.Cursor{}); err == nil {
		t.Error("half a packed rollout is no error")
	}
}

func TestIDOf(t *testing.T) {
	for path, want := range map[string]string{
		"/s/" + rolloutName(t1):          t1,
		"/s/" + rolloutName(t1) + ".zst": t1,
		"/s/rollout-x.jsonl":             "",
		"/s/exec-plain.jsonl":            "",
		"/s/rollout-2026-11-30T17-19-47-zzzzzzzz-4adb-76e2-811e-3f453ff66974.jsonl": "",
	} {
		if got := idOf(path); got != want {
			t.Errorf("idOf(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestRecognizes(t *testing.T) {
	a := New(info(t.TempDir()))
	for _, tt := range []struct {
		name, path, head string
		want             bool
	}{
		{"an envelope", "full.jsonl", `{"timestamp":"x","type":"session_meta","payload":{}}`, true},
		{"a flat header", "full.jsonl", `{"id":"x","timestamp":"y","instructions":null}`, true},
		{"bare items behind a header that says nothing", "full.jsonl", "{\"id\":\"x\",\"timestamp\":\"y\"}\n{\"record_type\":\"state\"}", true},
		{"bare items alone", "full.jsonl", `{"type":"message","role":"user","content":[]}`, true},
		{"nothing but its name", rolloutName(t1), "torn", true},
		{"another agent's lines", "full.jsonl", `{"type":"user","sessionId":"x","message":{"role":"user","content":"payload"}}`, false},
		{"another agent's messages", "full.jsonl", `{"id":"1","timestamp":"x","type":"user","content":"hi"}`, false},
		{"another agent's items", "full.jsonl", `{"type":"text","role":"user","content":"hi"}`, false},
		{"a document", "full.jsonl", "{\n  \"id\": \"x\"\n}", false},
		{"nothing", "full.jsonl", "", false},
	} {
		if got := a.Recognizes(tt.path, []byte(tt.head)); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
