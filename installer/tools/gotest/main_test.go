package main

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	all := []string{"m", "m/core", "m/core/live", "m/web", "m/web/mcp", "m/website"}
	plain, raced := split(all, []string{"core/live", "web/..."})
	if want := []string{"m", "m/core", "m/website"}; !slices.Equal(plain, want) {
		t.Errorf("plain = %q, want %q", plain, want)
	}
	if want := []string{"m/core/live", "m/web", "m/web/mcp"}; !slices.Equal(raced, want) {
		t.Errorf("raced = %q, want %q", raced, want)
	}
	if _, raced := split(all, []string{"..."}); len(raced) != len(all) {
		t.Errorf("... raced only %q", raced)
	}
	if _, raced := split(all, []string{""}); len(raced) != 0 {
		t.Errorf("no pattern raced %q", raced)
	}
}

func TestCounter(t *testing.T) {
	for _, c := range []struct {
		name, stream                      string
		passed, failed, skipped, packages int
		says                              []string
	}{
		{
			name: "all kinds",
			stream: `{"Action":"pass","Package":"m/a","Test":"TestGood"}
{"Action":"output","Package":"m/a","Test":"TestBad","Output":"bad luck\n"}
{"Action":"fail","Package":"m/a","Test":"TestBad"}
{"Action":"output","Package":"m/a","Test":"TestLater","Output":"=== RUN   TestLater\n"}
{"Action":"output","Package":"m/a","Test":"TestLater","Output":"    a_test.go:3: no tmux\n"}
{"Action":"skip","Package":"m/a","Test":"TestLater"}
{"Action":"fail","Package":"m/a"}
{"Action":"skip","Package":"m/empty"}`,
			passed: 1, failed: 1, skipped: 1, packages: 2,
			says: []string{"bad luck", "SKIP  m/a TestLater: a_test.go:3: no tmux", "FAIL  m/a  3 tests", "m/empty  no tests"},
		},
		{
			name: "does not build",
			stream: `{"Action":"build-output","ImportPath":"m/b","Output":"b.go:1:1: undefined\n"}
{"Action":"fail","Package":"m/b"}`,
			failed: 1, packages: 1, says: []string{"b.go:1:1: undefined"},
		},
		{
			name: "dies in a test",
			stream: `{"Action":"pass","Package":"m/c","Test":"TestFirst"}
{"Action":"output","Package":"m/c","Test":"TestDies","Output":"panic: oh\n"}
{"Action":"fail","Package":"m/c"}`,
			passed: 1, failed: 1, packages: 1, says: []string{"panic: oh"},
		},
		{name: "a word of the go command", stream: "go: no such package", says: []string{"go: no such package"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			n := counter{w: &out}
			if err := n.read(strings.NewReader(c.stream)); err != nil {
				t.Fatal(err)
			}
			if got, want := [4]int{n.passed, n.failed, n.skipped, n.packages}, [4]int{c.passed, c.failed, c.skipped, c.packages}; got != want {
				t.Errorf("passed, failed, skipped, packages = %v, want %v", got, want)
			}
			for _, s := range c.says {
				if !strings.Contains(out.String(), s) {
					t.Errorf("output lacks %q:\n%s", s, out.String())
				}
			}
		})
	}
}
