package tmux

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// told is what frames made of a stream, in a form that can be compared.
func told(stream string) []string {
	var f frames
	var all []string
	for line := range strings.Lines(stream) {
		a, notice := f.line(strings.TrimSuffix(line, "\n"))
		switch {
		case a != nil:
			word := "answer"
			if a.failed {
				word = "error"
			}
			if !a.own {
				word = "foreign " + word
			}
			all = append(all, word+":"+strings.Join(a.lines, "|"))
		case notice != "":
			all = append(all, notice)
		}
	}
	return all
}

func TestFrames(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []string
	}{
		{"an answer", "%begin 1 2 1\na\nb\n%end 1 2 1\n", []string{"answer:a|b"}},
		{"an empty answer", "%begin 1 2 1\n%end 1 2 1\n", []string{"answer:"}},
		{"an empty line", "%begin 1 2 1\n\n%end 1 2 1\n", []string{"answer:"}},
		{"an error", "%begin 1 2 1\nno such pane\n%error 1 2 1\n", []string{"error:no such pane"}},
		{"a hook's command", "%begin 1 2 0\n%end 1 2 0\n", []string{"foreign answer:"}},
		{"notices around", "%sessions-changed\n%begin 1 2 1\na\n%end 1 2 1\n%exit\n", []string{"%sessions-changed", "answer:a", "%exit"}},
		{"a forged end", "%begin 1 2 1\n%end 1 3 1\n%end 9 2 1\n%end\n%error\n%end 1 2 1\n", []string{"answer:%end 1 3 1|%end 9 2 1|%end|%error"}},
		{"a forged begin", "%begin 1 2 1\n%begin 1 3 1\n%end 1 2 1\n", []string{"answer:%begin 1 3 1"}},
		{"a notice inside is content", "%begin 1 2 1\n%exit\n%end 1 2 1\n", []string{"answer:%exit"}},
		{"a late error", "%begin 1 2 1\n%end 1 2 1\n/x: No such file or directory\n%begin 1 3 1\n%end 1 3 1\n", []string{"answer:", "answer:"}},
		{"an end without a beginning", "%end 1 2 1\n", []string{"%end"}},
	} {
		if diff := cmp.Diff(c.want, told(c.stream)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add("%begin 1 2 1\na\n%end 1 2 1\n%exit\n")
	f.Add("%begin\n%end\n")
	f.Fuzz(func(t *testing.T, stream string) {
		told(stream)
		// Whatever came before in an open answer, its own end closes it, and the next one is read.
		var r frames
		for line := range strings.Lines("%begin 7 7 1\n" + strings.ReplaceAll(stream, "7 7 1", "")) {
			if a, _ := r.line(strings.TrimSuffix(line, "\n")); a != nil {
				t.Fatalf("%q ended an answer it does not know the number of", stream)
			}
		}
		if a, _ := r.line("%end 7 7 1"); a == nil || !a.own {
			t.Fatalf("the answer did not end after %q", stream)
		}
	})
}
