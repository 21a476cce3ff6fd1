package classify

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tower/core"
)

// golden is one case of testdata/last: a message, the class it has and, where it is named, the line
// that proves it.
type golden struct {
	name  string
	text  string
	class core.Output
	line  string
	named bool // line is
	plus  bool // a message of the class the file is about
}

// goldens reads a file of cases. "#### + name" begins one of the file's class, "#### - name: CLASS" one
// that has another, "#### = line" names the proof.
func goldens(t testing.TB, class core.Output) []golden {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "last", strings.ToLower(string(class))+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var list []golden
	for line := range strings.Lines(string(b)) {
		mark, ok := strings.CutPrefix(line, "#### ")
		switch {
		case !ok:
			list[len(list)-1].text += line
		case mark[0] == '+':
			list = append(list, golden{name: strings.TrimSpace(mark[1:]), class: class, plus: true})
		case mark[0] == '-':
			name, other, found := strings.Cut(strings.TrimSpace(mark[1:]), ": ")
			if !found || !slices.Contains(order, core.Output(other)) || core.Output(other) == class {
				t.Fatalf("%q names no other class", line)
			}
			list = append(list, golden{name: name, class: core.Output(other)})
		case mark[0] == '=':
			last := &list[len(list)-1]
			last.line, last.named = strings.TrimSpace(mark[1:]), true
		default:
			t.Fatalf("%q is no mark of a case", line)
		}
	}
	return list
}

// TestLast judges messages as agents end a turn with, at least a dozen for and against each class.
func TestLast(t *testing.T) {
	for _, class := range order {
		t.Run(string(class), func(t *testing.T) {
			plus, minus := 0, 0
			for _, g := range goldens(t, class) {
				if g.plus {
					plus++
				} else {
					minus++
				}
				got := Last(g.text)
				if got.Class != g.class {
					t.Errorf("%s: class = %s by %q, want %s", g.name, got.Class, got.Line, g.class)
					continue
				}
				if g.named && got.Line != g.line {
					t.Errorf("%s: line = %q, want %q", g.name, got.Line, g.line)
				}
				if got.Class != core.OutputDone && !proves(g.text, got.Line) {
					t.Errorf("%s: %q is no line of the text", g.name, got.Line)
				}
				// A message of Windows, or read back with blanks around it, is judged the same.
				if again := Last("\r\n" + strings.ReplaceAll(g.text, "\n", "\r\n") + "\n \n"); again != got {
					t.Errorf("%s: with other line ends = %+v, want %+v", g.name, again, got)
				}
			}
			if plus < 12 || minus < 12 {
				t.Errorf("%d cases for %s and %d against it, want a dozen of each", plus, class, minus)
			}
		})
	}
}

// proves tells whether a proof is a line of the text, or of a long line a part.
func proves(text, proof string) bool {
	if proof == "" || len(proof) > longLine {
		return false
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == proof || len(line) > longLine && strings.Contains(line, proof) {
			return true
		}
	}
	return false
}
