package core

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompact(t *testing.T) {
	w := Writes{
		Sessions: []Session{{ID: "a", Name: "1"}, {ID: "b"}, {ID: "a", Name: "2"}, {ID: "c"}, {ID: "a", Name: "3"}},
		Runs:     []Run{{Session: "a", StartedAt: 1}, {Session: "a", EndedAt: 2}},
	}
	want := Writes{Sessions: []Session{{ID: "b"}, {ID: "c"}, {ID: "a", Name: "3"}}, Runs: w.Runs}
	w.Compact()
	if diff := cmp.Diff(want, w); diff != "" {
		t.Error(diff)
	}
}
