package claude

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"tower/core"
)

func said(id string, blocks ...fields) fields {
	return fields{"message": fields{"id": id, "role": "assistant", "model": "claude-opus-4-8", "content": blocks}}
}

func text(s string) fields { return fields{"type": "text", "text": s} }

func TestLastMessage(t *testing.T) {
	thinking := fields{"type": "thinking", "thinking": "hm"}
	use := fields{"type": "tool_use", "id": "t", "name": "Bash", "input": fields{"command": "ls"}}
	result := user(4, []fields{{"type": "tool_result", "tool_use_id": "t", "content": "x"}})
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"none":            {[]string{user(1, "x")}, ""},
		"empty":           {nil, ""},
		"one":             {[]string{user(1, "x"), answer(2, 9, said("a", text("yes")))}, "yes"},
		"the last":        {[]string{answer(1, 9, said("a", text("no"))), user(2, "x"), answer(3, 9, said("b", text("yes")))}, "yes"},
		"before a prompt": {[]string{answer(1, 9, said("a", text("yes"))), user(2, "x")}, "yes"},
		"blocks of one answer": {[]string{
			answer(1, 9, said("a", text("other"))), answer(2, 9, said("b", thinking)), answer(2, 9, said("b", text("first"))),
			answer(3, 9, said("b", use)), result, answer(4, 9, said("b", text("second"))), answer(5, 9, said("b", use)), result,
		}, "first\n\nsecond"},
		"blocks on one line": {[]string{answer(1, 9, said("a", text("one"), text("two")))}, "one\ntwo"},
		"tools alone":        {[]string{answer(1, 9, said("a", text("yes"))), answer(2, 9, said("b", use)), result}, "yes"},
		"a side chain":       {[]string{answer(1, 9, said("a", text("yes"))), answer(2, 9, said("b", text("no")), fields{"isSidechain": true})}, "yes"},
		"made up by the client": {[]string{answer(1, 9, said("a", text("yes"))),
			answer(2, 9, fields{"message": fields{"id": "b", "model": synthetic, "content": []fields{text("No response requested.")}}})}, "yes"},
		"an error of the service":  {[]string{answer(1, 9, said("a", text("yes"))), answer(2, 9, said("b", text("API Error: 429")), fields{"isApiErrorMessage": true})}, "yes"},
		"a prompt that quotes one": {[]string{answer(1, 9, said("a", text("yes"))), user(2, answer(3, 9, said("b", text("no"))))}, "yes"},
		"a torn line":              {[]string{answer(1, 9, said("a", text("yes"))), `{"type":"assistant","message":{"id":"b","content":[{"type":"te`}, "yes"},
		"without ids":              {[]string{answer(1, 9, said("", text("no"))), answer(2, 9, said("", text("yes")))}, "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			s := core.Session{Native: session, Transcript: writeLines(t, c.lines...)}
			if got, err := New(testInfo(t.TempDir())).LastMessage(t.Context(), s); err != nil || got != c.want {
				t.Errorf("LastMessage = %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestLastMessageFarBack shows how far back an answer is looked for.
func TestLastMessageFarBack(t *testing.T) {
	a := New(testInfo(t.TempDir()))
	noise := user(5, strings.Repeat("n", 1<<20))
	for mb, want := range map[int]string{0: "yes", 3: "yes", 9: ""} {
		lines := []string{answer(1, 9, said("z", text("other"))), answer(1, 9, said("a", text("yes")))}
		for range mb {
			lines = append(lines, noise)
		}
		s := core.Session{Native: session, Transcript: writeLines(t, lines...)}
		if got, err := a.LastMessage(t.Context(), s); err != nil || got != want {
			t.Errorf("behind %d MB: %q, %v, want %q", mb, got, err, want)
		}
	}
	if got, err := a.LastMessage(t.Context(), core.Session{Native: session, Transcript: "/nowhere"}); got != "" || err != nil {
		t.Errorf("of a transcript that is gone: %q, %v", got, err)
	}
}

func TestLastMessageIsCut(t *testing.T) {
	for _, long := range []string{strings.Repeat("é", 6000) + "the end?", strings.Repeat("x", maxTold+1), strings.Repeat("😀", 4000)} {
		s := core.Session{Native: session, Transcript: writeLines(t, answer(1, 9, said("a", text(long))))}
		got, err := New(testInfo(t.TempDir())).LastMessage(t.Context(), s)
		if err != nil || len(got) > maxTold || len(got) < maxTold-8 || !utf8.ValidString(got) || !strings.HasPrefix(got, "…") || !strings.HasSuffix(long, strings.TrimPrefix(got, "…")) {
			t.Errorf("LastMessage of %d bytes has %d, %v: %.20q", len(long), len(got), err, got)
		}
	}
}

// TestLastMessageRecorded reads what real sessions said last.
func TestLastMessageRecorded(t *testing.T) {
	for name, want := range map[string]string{
		"main.jsonl": "Sub-agent returned.", "fork.jsonl": "ok (mock)", "skill.jsonl": "ok (mock)", "compacted-then-resumed.jsonl": "ok (mock)", "background.jsonl": "",
	} {
		got, err := New(testInfo(t.TempDir())).LastMessage(t.Context(), core.Session{Native: session, Transcript: filepath.Join("testdata", "transcripts", name)})
		if err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
}
