package classify

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tower/core"
)

func seeds(f *testing.F) {
	for _, class := range order {
		for _, g := range goldens(f, class) {
			f.Add(g.text)
		}
	}
	for _, s := range []string{"", " ", "\xff\xfe", "```", "````\n```\n", "STATUS: ", "? ? ?", "\"", "`", "'a", "“", "\x1b[", "\x1b]8;;x", "- ", "1. ", "# ",
		"é?", "。？", "> ", "|", "...", "a.b?c", "(?)", "**", "\r", "❯ 1. a\n  2. b", "● a", "• ", "✻ a…", "esc to interrupt"} {
		f.Add(s)
	}
}

// FuzzLast: no text makes it panic, the class is one of the seven, and the proof is a line of the text.
func FuzzLast(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		got := Last(text)
		if got.At != 0 || got.Class == "" && got.Line != "" || got.Class != "" && !slices.Contains(order, got.Class) {
			t.Fatalf("Last(%q) = %+v", text, got)
		}
		if got != Last(text) {
			t.Fatalf("Last(%q) changes", text)
		}
		checkProof(t, text, got)
	})
}

func FuzzScreen(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		got := Screen(text)
		if got.At != 0 || (got.Class == "") != (got.Line == "") || got.Class != "" && !slices.Contains(order, got.Class) {
			t.Fatalf("Screen(%q) = %+v", text, got)
		}
		if len(got.Line) > longLine || strings.Contains(got.Line, "\n") {
			t.Fatalf("Screen(%q) shows %q", text, got.Line)
		}
	})
}

// checkProof looks for the proof in the text as it is shown, without terminal codes.
func checkProof(t *testing.T, text string, got core.Said) {
	if got.Line == "" {
		if got.Class != "" && got.Class != core.OutputDone {
			t.Fatalf("Last(%q) = %s without a proof", text, got.Class)
		}
		return
	}
	if len(got.Line) > longLine || strings.Contains(got.Line, "\n") {
		t.Fatalf("Last(%q) shows %q", text, got.Line)
	}
	for line := range strings.Lines(text) {
		if strings.Contains(terminalCode.ReplaceAllString(strings.TrimSuffix(line, "\n"), ""), got.Line) {
			return
		}
	}
	t.Fatalf("Last(%q) shows %q, which is in no line", text, got.Line)
}

// hostile are texts that are as bad as they can be for one part of the reading, a megabyte each.
func hostile() map[string]string {
	const size = 1 << 20
	fill := func(s string) string { return strings.Repeat(s, size/len(s)+1)[:size] }
	list := map[string]string{"one word": strings.Repeat("x", size)}
	for _, s := range []string{"`", "``` `", "\"", "' ", " 'a", "“", "“a", "\x1b[", "\x1b]", "? ", "?", ". ", ".", "a. ", "e.g. ", "- ", "- [ ] ", "1. a\n", "> a\n", "\n", "    x\n", "```\n", "~~~~\n",
		"tests failed ", "3 tests failed. ", "no tests failed, ", "test fail ", "test is still now ", "tests still still ", "if i need help ", "should i? ", "Shall I? Yes. ", "which?\n- a\n", "why?\n", "let me ", "all the all the ", "everything everything is ", "three several three several type ",
		"fix the failing test ", "i can't i can't ", "please run ", "DONE: ", "STATUS: DONE DONE\n", "FAIL x\n", "0 failed ", "[a](b) ", "[a](", "((((", "**", "all tests pass. 2 tests fail. ", "i'm stuck. ", "now solved. i'm stuck. ",
		"é? ", "\xff", "❯ 1. a\n", "● a\n", "✻ a…\n", "│ ", "(esc to ", "the implementation of the work of the "} {
		list[s] = fill(s)
	}
	return list
}

// TestLinear judges a megabyte of ordinary messages within 50 ms, and every hostile text within a time
// that only a work which grows with the square of the text exceeds. The best of some runs counts: the
// machine may be busy.
func TestLinear(t *testing.T) {
	if raced {
		t.Skip("times mean nothing under the race detector")
	}
	var ordinary strings.Builder
	for ordinary.Len() < 1<<20 {
		for _, class := range order {
			for _, g := range goldens(t, class) {
				if !otherMark.MatchString(g.text) { // a mark ends the search at once
					ordinary.WriteString(g.text)
				}
			}
		}
	}
	hold := func(name, text string, limit time.Duration) {
		for what, judge := range map[string]func(string) core.Said{"Last": Last, "Screen": Screen} {
			best := time.Hour
			for range 6 {
				begin := time.Now()
				judge(text)
				if best = min(best, time.Since(begin)); best < limit {
					break
				}
			}
			if best > limit {
				t.Errorf("%s of a megabyte of %q took %v, want at most %v", what, name, best, limit)
			}
		}
	}
	hold("ordinary messages", ordinary.String(), 50*time.Millisecond)
	for name, text := range hostile() {
		hold(name, text, 500*time.Millisecond)
	}
}

// TestLongLine: of a line too long to show, the proof is the part that proves.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("The reader keeps the offset of the last whole line. ", 40)
	for name, c := range map[string]struct{ text, want string }{
		"the sentence":       {long + "Shall I drop the old reader? ", "Shall I drop the old reader?"},
		"the test":           {"Two tests fail on ARM. " + long, "Two tests fail on ARM."},
		"words are replaced": {long + "Shall I drop `old.Reader`?", "Shall I drop `old.Reader`?"},
		"a long sentence":    {"3 tests fail because " + strings.Repeat("é", 400), "3 tests fail because " + strings.Repeat("é", (longLine-21)/2)},
	} {
		got := Last(c.text)
		if !strings.HasSuffix(got.Line, c.want) || len(got.Line) > longLine || !utf8.ValidString(got.Line) {
			t.Errorf("%s: line = %q, want %q", name, got.Line, c.want)
		}
	}
}

func BenchmarkLast(b *testing.B) {
	var all []string
	for _, class := range order {
		for _, g := range goldens(b, class) {
			all = append(all, g.text)
		}
	}
	for b.Loop() {
		for _, text := range all {
			Last(text)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(all)), "ns/message")
}
