package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"tower/core"
)

const hostile = "a\x1b]0;title\x07b\x1b[2J\u009b31m\u202ec\u2066d\rE\x00f\xffg\u007f"

func TestPlain(t *testing.T) {
	var b strings.Builder
	n, err := plain{&b}.Write([]byte(hostile + "ä\t✓\n"))
	if err != nil || n != len(hostile)+len("ä\t✓\n") {
		t.Errorf("Write = %d, %v", n, err)
	}
	if want := "a�]0;title�b�[2J�31m�c�d�E�f�g�ä\t✓\n"; b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
}

// TestPrintKeepsTheFacts: a script reads what was there, a terminal obeys none of it.
func TestPrintKeepsTheFacts(t *testing.T) {
	var b strings.Builder
	e := &Env{}
	e.Out = plain{&b}
	in := strings.ToValidUTF8(hostile, "�")
	if err := e.print(map[string]string{"title": in}); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(strings.TrimSuffix(b.String(), "\n"), obeyed); i >= 0 || strings.Contains(b.String(), "�b") {
		t.Errorf("printed %q", b.String())
	}
	var out map[string]string
	if err := json.Unmarshal([]byte(b.String()), &out); err != nil || out["title"] != in {
		t.Errorf("read back %q, %v, want %q", out["title"], err, in)
	}
}

// TestFactsStayOnTheirLine: no foreign word makes a line that looks like one of ours.
func TestFactsStayOnTheirLine(t *testing.T) {
	s := &core.Session{ID: "id", Native: "x\nHidden no", EndReason: "y\nState fine", Status: core.StatusEnded, Version: "1\n2", CWD: "/a\nb"}
	d := core.Detail{Row: core.Row{Session: s}, Runs: []core.Run{{StartSource: "r\nForged yes"}}}
	var b strings.Builder
	e := &Env{}
	e.Out = &b
	e.printDetail(&d, true)
	for line := range strings.Lines(b.String()) {
		for _, forged := range []string{"Hidden no", "State fine", "2\n", "b\n", "Forged"} {
			if strings.HasPrefix(line, forged) {
				t.Errorf("a line reads %q", line)
			}
		}
	}
	b.Reset()
	if err := e.list([]core.Row{{Session: s}}, true); err != nil || strings.Count(b.String(), "\n") != 2 {
		t.Errorf("list = %q, %v", b.String(), err)
	}
}

func TestMost(t *testing.T) {
	got := most(map[string]int64{"a": 1, "b": 9, "c\x1b[2J": 5, "d": 4, "e": 3, "f": 2})
	if want := "b ×9, c [2J ×5, d ×4, e ×3, f ×2, …"; got != want {
		t.Errorf("most = %q, want %q", got, want)
	}
}
