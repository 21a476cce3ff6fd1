package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tower/core"
)

// TestTypedRecorded asks for texts as they were pasted into a real session, idle and busy. What the
// session wrote is in testdata; the two differ where the input box changes a text.
func TestTypedRecorded(t *testing.T) {
	var rows []string
	for i := range 24 {
		rows = append(rows, fmt.Sprintf("line %d of 24", i))
	}
	idle := []string{
		"just one line", strings.Join(rows, "\n"), "ends with newline\n", "ends with two\n\n", "trailing blanks   ", "  leading blank",
		"\nleading newline", "a\tb\t\tc\n\tindented", "family 👨‍👩‍👧‍👦 flag 🏳️‍🌈 e\u0301", " /model x", " !ls", "# memory?", "see @nofile.txt",
		"& background?", "<system-reminder>hi</system-reminder>", "<command-name>/x</command-name>", "nb\u00a0sp \u200b zw", "a\n\n\nb",
		"exit please", "\ufeffbom", "a\u2028b", "~/x", "?", "ends in backslash\\ ", "a\rb",
		"\u1112\u1161\u11ab e\u0301 A\u030a \u212b \ufb01 ①", "x\u3000", "look at @alpha ", " /mod",
	}
	busy := []string{
		"just one line", strings.Join(rows, "\n"), "ends with newline\n", "trailing blanks   ", "a\tb\t\tc\n\tindented",
		"family 👨‍👩‍👧‍👦 flag 🏳️‍🌈 e\u0301", "  leading blank", "\nleading newline", " !touch hacked.txt", "\u200b/rename ZW",
	}
	a := New(testInfo(t.TempDir()))
	for name, texts := range map[string][]string{"idle": idle, "busy": busy} {
		s := core.Session{Native: session, Transcript: filepath.Join("testdata", "typed", name+".jsonl")}
		ask := func(text string, since core.Instant) bool {
			t.Helper()
			got, err := a.Typed(t.Context(), s, text, since)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		since := core.ParseInstant("2026-11-30T22:00:00Z")
		for _, text := range texts {
			if !ask(text, since) {
				t.Errorf("%s: %q was typed and is not found", name, text)
			}
			if ask(text, core.ParseInstant("2026-12-01T00:00:00Z")) {
				t.Errorf("%s: %q is found although it was typed before", name, text)
			}
			if ask("never "+text, since) || ask(text+" never", since) {
				t.Errorf("%s: a text that holds %q is found, and was never typed", name, text)
			}
		}
	}
}

func TestTyped(t *testing.T) {
	at := func(second int) core.Instant {
		return core.ParseInstant("2026-03-01T10:00:00Z") + core.Instant(second)*1000
	}
	for name, c := range map[string]struct {
		lines []string
		text  string
		since int
		want  bool
	}{
		"by a person":         {[]string{user(1, "go", human)}, "go", 1, true},
		"too early":           {[]string{user(1, "go", human)}, "go", 2, false},
		"in blocks":           {[]string{user(1, []fields{text("go"), {"type": "image"}}, human)}, "go", 0, true},
		"by older versions":   {[]string{user(1, "go")}, "go", 0, true},
		"by a machine":        {[]string{user(1, "go", fields{"origin": fields{"kind": "task-notification"}})}, "go", 0, false},
		"hidden":              {[]string{user(1, "go", fields{"isMeta": true})}, "go", 0, false},
		"to a sub-agent":      {[]string{user(1, "go", fields{"isSidechain": true})}, "go", 0, false},
		"a tool's result":     {[]string{user(1, []fields{{"type": "tool_result", "content": "go"}, text("go")})}, "go", 0, false},
		"an answer":           {[]string{answer(1, 9, said("a", text("go")))}, "go", 0, false},
		"put into the queue":  {[]string{queue(1, "enqueue", fields{"content": "go"})}, "go", 0, true},
		"taken from it":       {[]string{queue(1, "dequeue", fields{"content": "go"}), queue(1, "popAll", fields{"content": "go"})}, "go", 0, false},
		"handed to the turn":  {[]string{line("attachment", 9, fields{"attachment": fields{"type": "queued_command", "prompt": "go", "origin": fields{"kind": "human"}}})}, "go", 0, true},
		"a notice handed on":  {[]string{line("attachment", 9, fields{"attachment": fields{"type": "queued_command", "prompt": "go", "origin": fields{"kind": "task-notification"}}})}, "go", 0, false},
		"queued before since": {[]string{line("attachment", 9, fields{"attachment": fields{"type": "queued_command", "prompt": "go", "timestamp": "2026-03-01T10:00:01Z"}})}, "go", 5, false},
		"a command":           {[]string{user(1, typedAs("closeout", "now"))}, "/closeout now", 0, true},
		"a command, bare":     {[]string{user(1, "<command-message>closeout</command-message>\n<command-name>/closeout</command-name>")}, "/closeout", 0, true},
		"another command":     {[]string{user(1, typedAs("closeout", "later"))}, "/closeout now", 0, false},
		"its tags, typed":     {[]string{user(1, typedAs("closeout", "now"), human)}, "/closeout now", 0, false},
		"nothing":             {[]string{user(1, "", human)}, " ", 0, false},
		"torn":                {[]string{`{"type":"user","message":{"content":"go"`}, "go", 0, false},
	} {
		s := core.Session{Native: session, Transcript: writeLines(t, c.lines...)}
		if got, err := New(testInfo(t.TempDir())).Typed(t.Context(), s, c.text, at(c.since)); err != nil || got != c.want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}

// TestTypedLong finds texts as long as those that were typed, behind what a session writes meanwhile.
func TestTypedLong(t *testing.T) {
	a := New(testInfo(t.TempDir()))
	noise := user(200, []fields{{"type": "tool_result", "content": strings.Repeat("n", 400<<10)}})
	for _, text := range []string{strings.Repeat("x", 501), strings.Repeat("word ", 4000), strings.Repeat("abcdefghi ", 20<<10)} {
		lines := []string{user(100, text, human)}
		for range 10 {
			lines = append(lines, noise)
		}
		s := core.Session{Native: session, Transcript: writeLines(t, lines...)}
		for since, want := range map[core.Instant]bool{0: true, core.ParseInstant("2026-03-01T10:01:40Z"): true, core.ParseInstant("2026-03-01T10:01:41Z"): false} {
			if got, err := a.Typed(t.Context(), s, text, since); err != nil || got != want {
				t.Errorf("%d bytes, since %s: %v, %v, want %v", len(text), since, got, err, want)
			}
		}
	}
	for _, s := range []core.Session{{Native: session}, {Native: session, Transcript: filepath.Join(t.TempDir(), "none")}} {
		if got, err := a.Typed(t.Context(), s, "x", 0); got || err != nil {
			t.Errorf("without a transcript: %v, %v", got, err)
		}
	}
}

func TestTypedStops(t *testing.T) {
	// A session of years is not read through for a text that was just typed.
	var lines []string
	for i := range 9000 {
		lines = append(lines, user(i%60, strings.Repeat("old", 100)))
	}
	path := writeLines(t, lines...)
	if st, err := os.Stat(path); err != nil || st.Size() < 2*tailFirst {
		t.Fatal("the file is too small for this test")
	}
	pieces := 0
	err := growing(path, func(b []byte, _ bool) bool {
		pieces++
		_, old := typed(b, "new", core.ParseInstant("2026-03-02T00:00:00Z"))
		return old
	})
	if err != nil || pieces != 1 {
		t.Errorf("%d pieces were read, %v, want one", pieces, err)
	}
}

// TestAlike shows what the comparison forgives, and that it forgives nothing else.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		typed, kept string
		want        bool
	}{
		{"e\u0301", "é", true}, {"\u1112\u1161\u11ab", "한", true}, {"\u212b", "Å", true}, {"a\u0338=b", "a\u0338=b", true}, {"x =\u0338 y", "x ≠ y", true},
		{"e\u0301 one", "é two", false}, {"e\u0301", "x", false}, {"é", "è", false}, {"日本", "中国", false}, {"e\u0301 日本", "é 中国", false}, {"e\u0301 👍", "é 👎", false},
	} {
		if got := alike(written(c.kept), written(c.typed)); got != c.want {
			t.Errorf("%q kept as %q: %v, want %v", c.typed, c.kept, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		if !alike(written(s), written(s)) || written(written(s)) != written(s) || !alike(written("\n\u200b"+s+" \t"), written(s)) {
			t.Errorf("%q is not like itself", s)
		}
	})
}

func FuzzPrompted(f *testing.F) {
	for _, l := range odd() {
		f.Add([]byte(l))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		prompted(line)
		answerText(line)
	})
}
