package tmux

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"tower/core"
)

func TestClean(t *testing.T) {
	for _, c := range []struct {
		name, in string
		guard    bool
		want     string
		removed  int
	}{
		{"nothing", "", true, "", 0},
		{"plain", "fix the test", true, "fix the test", 0},
		{"everything a shell knows", "'\"`$(id)` %1 #{pane_id} ; - \\ ~ *", false, "'\"`$(id)` %1 #{pane_id} ; - \\ ~ *", 0},
		{"blanks stay", "  a \n b  \n", false, "  a \n b  \n", 0},
		{"tab and line end", "a\tb\nc", false, "a\tb\nc", 0},
		{"DOS line ends", "a\r\nb\r\n", false, "a\nb\n", 0},
		{"lone CR", "a\rb\r\r\n", false, "a\nb\n\n", 0},
		{"end of a paste", "a\x1b[201~rm -rf\r", false, "a[201~rm -rf\n", 1},
		{"C1 end of a paste", "a\u009b201~", false, "a201~", 1},
		{"all of C0 but NUL", "\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7fx", false, "x", 29},
		{"no-break space is no control", "a\u00a0b", false, "a\u00a0b", 0},
		{"joined emoji", "👩‍👩‍👧 é e\u0301", false, "👩‍👩‍👧 é e\u0301", 0},
		{"slash guarded", "/clear", true, " /clear", 0},
		{"bang guarded", "!ls", true, " !ls", 0},
		{"slash that is revealed", "\x1b/clear", true, " /clear", 1},
		{"slash on purpose", "/clear", false, "/clear", 0},
		{"slash inside", "see /etc", true, "see /etc", 0},
		{"already guarded", " /clear", true, " /clear", 0},
	} {
		got, removed, err := Clean(c.in, c.guard)
		if got != c.want || removed != c.removed || err != nil {
			t.Errorf("%s: Clean(%q) = %q, %d, %v, want %q, %d", c.name, c.in, got, removed, err, c.want, c.removed)
		}
	}
	for _, in := range []string{"a\x00b", "\x00", "\xff", "a\xc3", "\xed\xa0\x80"} {
		_, _, err := Clean(in, true)
		var r *core.Refusal
		if !errors.As(err, &r) || r.What != "Not delivered." {
			t.Errorf("Clean(%q) = %v, want a refusal", in, err)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\r\nb", "\x1b[201~", "/x", "!\x00", "\u0085\u009b", "a\xffb", "👩‍👩‍👧"} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, in string, guard bool) {
		got, removed, err := Clean(in, guard)
		if bad := !utf8.ValidString(in) || strings.Contains(in, "\x00"); bad != (err != nil) {
			t.Fatalf("Clean(%q) = %v", in, err)
		}
		if err != nil {
			return
		}
		control := func(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) }
		if i := strings.IndexFunc(got, control); i >= 0 {
			t.Fatalf("Clean(%q) = %q has a control character at %d", in, got, i)
		}
		if guard && (strings.HasPrefix(got, "/") || strings.HasPrefix(got, "!")) {
			t.Fatalf("Clean(%q) = %q is not guarded", in, got)
		}
		again, more, err := Clean(got, guard)
		if again != got || more != 0 || err != nil {
			t.Fatalf("Clean twice of %q = %q, %d, %v, once %q", in, again, more, err, got)
		}
		// What is left is what was there, in its order.
		want := strings.Map(func(r rune) rune {
			if control(r) && r != '\r' {
				return -1
			}
			return r
		}, in)
		want = strings.ReplaceAll(strings.ReplaceAll(want, "\r\n", "\n"), "\r", "\n")
		if guard && want != "" && strings.Contains("/!", want[:1]) {
			want = " " + want
		}
		// A control character between CR and LF parts them, so two line ends may be right there.
		if got != want && !strings.Contains(in, "\r") {
			t.Fatalf("Clean(%q) = %q, want %q", in, got, want)
		}
		if n := strings.Count(in, "\r"); utf8.RuneCountInString(in)-removed-n > utf8.RuneCountInString(got) {
			t.Fatalf("Clean(%q) = %q lost more than the %d it told of", in, got, removed)
		}
	})
}
