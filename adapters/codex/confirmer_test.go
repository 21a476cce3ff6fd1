package codex

import (
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

// TestTypedSample looks for what was pasted or queued in the rollout the real program wrote of it.
func TestTypedSample(t *testing.T) {
	a := New(info(t.TempDir()))
	s := core.Session{Native: t1, Transcript: filepath.Join("testdata/prompts", "typed.jsonl")}
	lines := make([]string, 24)
	for i := range lines {
		lines[i] = "line " + string(rune('0'+i/10)) + string(rune('0'+i%10))
	}
	for i := range 10 {
		lines[i] = "line " + string(rune('0'+i))
	}
	for text, want := range map[string]bool{
		"one line": true, strings.Join(lines, "\n"): true, strings.Repeat("a", 501): true,
		"$closeout": true, "$closeout ": true, "$closeout now": true, " /status": true, " !ls": true,
		"\ttab": true, "trail  ": true, "x\n": true, "  two lead": true, "cr\r\nlf": true, "cr\rlf": true,
		"e 👩‍👩‍👧 ü \"q\" 's' `b` $(c) %1 #{d} ;": true,
		"a\nb\n\n  c\ttab\n": true, "-": true, "--help": true, "  lead and trail  ": true,
		"one": false, "one line more": false, "one  line": false, "MOCK REPLY 2": false, strings.Repeat("a", 500): false, "": false,
	} {
		if got, err := a.Typed(t.Context(), s, text, 1); got != want || err != nil {
			t.Errorf("Typed(%.30q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestTyped(t *testing.T) {
	user := func(at, text string) string {
		return line("2026-11-30T17:"+at+".500Z", "event_msg", `{"type":"item_completed","item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":"`+text+`","text_elements":[]},{"type":"skill","name":"closeout","path":"/x"}]}}`)
	}
	told := func(at, text string) string {
		return line("2026-11-30T17:"+at+".500Z", "event_msg", `{"type":"user_message","message":"`+text+`"}`)
	}
	since := core.ParseInstant("2026-11-30T17:30:00.000Z")
	long := strings.Repeat(`y\n`, 300_000)
	for name, c := range map[string]struct {
		content, text string
		want          bool
	}{
		"since then":            {begun(t1, user("30:00", "go")), "go", true},
		"before":                {begun(t1, user("29:59", "go"), user("30:01", "other")), "go", false},
		"before and again":      {begun(t1, user("29:50", "go"), user("30:01", "go")), "go", true},
		"a little out of order": {begun(t1, user("30:01", "go"), user("29:59", "x")), "go", true},
		"the older generation":  {begun(t1, told("30:00", "go")), "go", true},
		"a megabyte of lines":   {begun(t1, user("30:00", long)), strings.Repeat("y\n", 300_000), true},
		"what was only sent":    {begun(t1, line("2026-11-30T17:30:01.000Z", "response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`)), "go", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.rollout(t1, c.content)
			if got, err := h.a.Typed(t.Context(), core.Session{Native: t1}, c.text, since); got != c.want || err != nil {
				t.Errorf("Typed = %v, %v, want %v", got, err, c.want)
			}
		})
	}
	h := newHome(t)
	if got, err := h.a.Typed(t.Context(), core.Session{Native: t1}, "go", since); got || err != nil {
		t.Errorf("Typed without a rollout = %v, %v", got, err)
	}
}
