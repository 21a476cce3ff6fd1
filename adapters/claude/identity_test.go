package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

func TestIdentity(t *testing.T) {
	const parent = "75ee2d1b-f2b7-4471-bd52-b4a0c28aa2a0"
	old := fields{"sessionId": "01d00000-0000-4000-8000-000000000000"}
	tests := []struct {
		name, path             string
		lines                  []string
		class                  core.Class
		native, parent, forked string
	}{
		{"a session", session + suffix, []string{user(1, "x")}, core.ClassMain, session, "", ""},
		{"a resumed copy keeps the old id inside", session + suffix, []string{user(1, "x", old), user(2, "y", old)}, core.ClassMain, session, "", ""},
		{"a renamed file", "notes" + suffix, []string{user(1, "x", old), user(2, "y")}, core.ClassMain, session, "", ""},
		{"a fork", session + suffix, []string{user(1, "x", fields{"forkedFrom": fields{"sessionId": parent, "messageUuid": "m"}})}, core.ClassMain, session, "", parent},
		{"a sub-agent", filepath.Join(parent, subagents, "agent-a1"+suffix), []string{user(1, "x", fields{"isSidechain": true, "sessionId": parent})}, core.ClassSubagent, "a1", parent, ""},
		{"a fork of the machinery", filepath.Join(parent, subagents, "agent-aprompt_suggestion-1"+suffix), []string{user(1, "x")}, core.ClassSubagent, "aprompt_suggestion-1", parent, ""},
		{"a sub-agent of older versions, two ids", "agent-b2" + suffix, []string{user(1, "Warmup", old, fields{"isSidechain": true}), answer(2, 9, fields{"isSidechain": true})}, core.ClassSubagent, "b2", "01d00000-0000-4000-8000-000000000000", ""},
		{"a renamed file of a sub-agent", "notes" + suffix, []string{user(1, "x", fields{"isSidechain": true, "agentId": "c3"})}, core.ClassSubagent, "c3", session, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), tt.path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(strings.Join(tt.lines, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			f, turns := scanFile(t, path)
			if f.Class != tt.class || f.Native != tt.native || f.Parent != tt.parent || f.ForkedFrom != tt.forked {
				t.Errorf("class %q native %q parent %q forked from %q, want %q %q %q %q", f.Class, f.Native, f.Parent, f.ForkedFrom, tt.class, tt.native, tt.parent, tt.forked)
			}
			if tt.class == core.ClassSubagent && (f.Turns != 0 || len(turns) != 0) {
				t.Errorf("a sub-agent has %d turns and told %d", f.Turns, len(turns))
			}
		})
	}
}

// TestCopiesAreOneTurn scans a session and the copies that forks and resumes make of it: over all
// files together each prompt is one turn.
func TestCopiesAreOneTurn(t *testing.T) {
	lines := []string{user(1, "one"), answer(2, 9), user(3, "two"), queue(4, "enqueue", fields{"content": "busy"}), queue(5, "remove"), answer(6, 9)}
	_, original := scanFile(t, writeLines(t, lines...))
	other := "22222222-0000-4000-8000-000000000002"
	forked := strings.ReplaceAll(strings.Join(lines, "\n"), session, other)
	_, copied := scanFile(t, writeLines(t, append(strings.Split(forked, "\n"), user(9, "own", fields{"sessionId": other}))...))
	all := byUID(append(original, copied...))
	if len(original) != 3 || len(copied) != 4 || len(all) != 4 {
		t.Errorf("%d turns and a copy with %d are %d together, want 3, 4 and 4", len(original), len(copied), len(all))
	}
}

// TestOpened holds copies against their originals: the original must have been opened first, or its
// copy takes its turns. The first two are as the program writes them in a terminal, the answer before
// the prompt included.
func TestOpened(t *testing.T) {
	snapshot := func(second int) string {
		return fmt.Sprintf(`{"type":"file-history-snapshot","messageId":"m","snapshot":{"timestamp":"2026-03-01T10:00:%02d.000Z"}}`, second)
	}
	inside := func(id string) fields { return fields{"sessionId": id} }
	const other = "3ee5ebae-6a69-4b9e-833c-add33628f6bd"
	original := []string{answer(2, 9), snapshot(1), user(1, "one"), snapshot(3), user(3, "two"), answer(4, 9)}
	tests := []struct {
		name  string
		lines []string
		at    core.Instant // milliseconds behind the minute
	}{
		{"an original", original, 1000},
		{"a fork", []string{snapshot(1), snapshot(3), snapshot(30), user(1, "one"), answer(2, 9), user(3, "two"), answer(4, 9), user(30, "three")}, 30_000},
		{"a fork without a terminal", []string{queue(30, "enqueue", fields{"content": "three"}), queue(30, "dequeue"), user(1, "one"), answer(2, 9), user(30, "three")}, 30_000},
		{"a resumed copy of older versions", []string{user(1, "one", inside(other)), answer(2, 9, inside(other)), user(30, "three")}, 1001},
		{"text queued later", []string{user(1, "one"), queue(5, "enqueue", fields{"content": "x"}), snapshot(6), answer(7, 9)}, 1000},
		{"only a queue", []string{queue(5, "enqueue", fields{"content": "/usage"})}, 5000},
		{"only a snapshot", []string{snapshot(6)}, 6000},
		{"no time at all", []string{`{"type":"summary","summary":"x","leafUuid":"y"}`}, 0},
	}
	for _, tt := range tests {
		f, _ := scanFile(t, writeLines(t, tt.lines...))
		var want core.Instant
		if tt.at != 0 {
			want = core.ParseInstant("2026-03-01T10:00:00Z") + tt.at
		}
		if f.Opened != want {
			t.Errorf("%s: opened %s, want %s", tt.name, f.Opened, want)
		}
	}
}

func TestNamesAndTimes(t *testing.T) {
	state := func(kind, key, val string) string {
		return fmt.Sprintf(`{"type":%q,%q:%q,"sessionId":%q}`, kind, key, val, session)
	}
	path := writeLines(t, state("ai-title", "aiTitle", "first title"), user(9, "early in file"), user(3, "late in file"), state("agent-name", "agentName", "agent"), state("ai-title", "aiTitle", "second title"))
	f, _ := scanFile(t, path)
	if f.Name != "agent" || f.AgentTitle != "second title" || f.First != "early in file" {
		t.Errorf("name %q title %q first %q", f.Name, f.AgentTitle, f.First)
	}
	at := func(s string) core.Instant { return core.ParseInstant("2026-03-01T10:00:0" + s + "Z") }
	if f.FirstAt != at("3") || f.LastAt != at("9") || f.Opened != at("3") {
		t.Errorf("first %s last %s opened %s", f.FirstAt, f.LastAt, f.Opened)
	}
	appendTo(t, path, state("custom-title", "customTitle", "mine")+"\n"+state("custom-title", "customTitle", "mine too")+"\n"+`{"type":"last-prompt","lastPrompt":"x"}`+"\n")
	g, turns := scanFile(t, path)
	if g.Name != "mine too" || g.LastAt != f.LastAt || g.Turns != f.Turns || len(turns) != 2 {
		t.Errorf("after state lines: name %q last %s, %d turns", g.Name, g.LastAt, g.Turns)
	}
	long, _ := scanFile(t, writeLines(t, user(1, strings.Repeat("é", 5000))))
	if n := len([]rune(long.First)); n != firstLimit {
		t.Errorf("the first prompt has %d characters, want %d", n, firstLimit)
	}
}
