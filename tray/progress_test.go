package main

import (
	"strings"
	"testing"

	"tower/core"
)

func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     core.Progress
		swept bool
		shown bool
		says  string
		done  bool
	}{
		{"first, counting", core.Progress{Running: true, First: true}, false, false, "", false},
		{"first, on its way", core.Progress{Running: true, First: true, Done: 3, Total: 9}, false, false, "3 of 9", false},
		{"first, before it begins", core.Progress{First: true}, false, false, "", false},
		{"over", core.Progress{}, true, true, "is imported", true},
		{"a later one", core.Progress{Running: true, Done: 1, Total: 2}, true, false, "", true},
		{"nothing to import", core.Progress{}, true, false, "", true},
	} {
		var b strings.Builder
		if done := tellProgress(&b, c.p, c.swept, c.shown); done != c.done || !strings.Contains(b.String(), c.says) || c.says == "" && b.Len() > 0 {
			t.Errorf("%s: said %q, done %v", c.name, b.String(), done)
		}
	}
}
