package codex

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

func TestHolds(t *testing.T) {
	flat := `{"id":"` + t1 + `","timestamp":"2025-05-07T17:24:21.123Z","instructions":null}` + "\n"
	for name, c := range map[string]struct {
		set     func(h *home) core.Session
		refused string // a part of the reason, "" = it holds
	}{
		"its own transcript": {func(h *home) core.Session {
			return core.Session{Native: t1, Transcript: h.rollout(t1, begun(t1))}
		}, ""},
		"found by its id": {func(h *home) core.Session {
			h.rollout(t1, begun(t1))
			return core.Session{Native: t1}
		}, ""},
		"moved into the archive": {func(h *home) core.Session {
			h.file("archived_sessions/rollout-2026-11-30T17-19-47-"+t1+".jsonl", begun(t1))
			return core.Session{Native: t1, Transcript: filepath.Join(h.root, "sessions/2026/11/30/rollout-x-"+t1+".jsonl")}
		}, ""},
		"in a folder of another day": {func(h *home) core.Session {
			h.file("sessions/2026/01/02/rollout-2026-01-02T17-19-47-"+t1+".jsonl", begun(t1))
			return core.Session{Native: t1}
		}, ""},
		"packed": {func(h *home) core.Session {
			pack(h.t, h.file("sessions/2026/11/30/rollout-2026-11-30T17-19-47-"+t1+".jsonl.zst", ""), begun(t1))
			return core.Session{Native: t1}
		}, ""},
		"of the oldest form": {func(h *home) core.Session { return core.Session{Native: t1, Transcript: h.rollout(t1, flat)} }, ""},
		"a first line of half a megabyte": {func(h *home) core.Session {
			return core.Session{Native: t1, Transcript: h.rollout(t1, strings.Replace(begun(t1), `"payload":{`, `"payload":{"base_instructions":"`+strings.Repeat("x", 500_000)+`",`, 1))}
		}, ""},
		"no id":            {func(*home) core.Session { return core.Session{} }, "no Codex id"},
		"no id of Codex's": {func(*home) core.Session { return core.Session{Native: "--yolo"} }, "no Codex id"},
		"gone": {func(h *home) core.Session {
			return core.Session{Native: t1, Transcript: filepath.Join(h.root, "sessions/gone.jsonl")}
		}, "is gone"},
		"never written": {func(h *home) core.Session { h.rollout(t2, begun(t2)); return core.Session{Native: t1} }, "before the first turn"},
		"of another thread": {func(h *home) core.Session {
			return core.Session{Native: t1, Transcript: h.rollout(t1, begun(t2))}
		}, "another thread, " + t2},
		"of a fork: the parent's header comes second": {func(h *home) core.Session {
			return core.Session{Native: t2, Transcript: h.rollout(t2, begun(t1, begun(t2)))}
		}, "another thread, " + t1},
		"that says nothing": {func(h *home) core.Session {
			return core.Session{Native: t1, Transcript: h.rollout(t1, "{}\n{}\n")}
		}, "does not say"},
		"that is a folder": {func(h *home) core.Session {
			path := filepath.Join(h.root, "sessions/2026/11/30/rollout-x-"+t1+".jsonl")
			if err := os.MkdirAll(path, 0o700); err != nil {
				h.t.Fatal(err)
			}
			return core.Session{Native: t1, Transcript: path}
		}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			s := c.set(h)
			err := h.a.Holds(t.Context(), s)
			if c.refused == "" {
				if err != nil {
					t.Errorf("Holds = %v", err)
				}
				return
			}
			var r *core.Refusal
			if !errors.As(err, &r) || r.What != "Not resumed." || !strings.Contains(r.Why, c.refused) {
				t.Errorf("Holds = %v, want a refusal that says %q", err, c.refused)
			}
		})
	}
}
