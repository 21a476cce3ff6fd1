package core_test

import (
	"regexp"
	"strings"
	"testing"

	"tower/core"

	"pgregory.net/rapid"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "/a/b", true},
		{"a", "a", true}, {"a", "b", false}, {"a", "ab", false}, {"ab", "a", false},
		{"*/claude", "/usr/bin/claude", true}, {"*/claude", "/usr/bin/claude2", false}, {"*/claude", "claude", false},
		{"*/codex-*/codex", "/opt/codex-x86/lib/codex", true},
		{"a*b*c", "abc", true}, {"a*b*c", "aXbYbZc", true}, {"a*b*c", "acb", false},
		{"*a*a*", "a", false}, {"*a*a*", "aa", true}, {"**", "x", true},
		{"a?c", "abc", false}, {"a?c", "a?c", true}, {"[ab]", "a", false},
		{"*.js", "x.js ", false}, {"ö*", "öl", true},
	} {
		if got := core.Glob(c.pattern, c.s); got != c.want {
			t.Errorf("Glob(%q, %q) = %v, want %v", c.pattern, c.s, got, c.want)
		}
	}
}

func TestGlobIsTheRegularExpression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.SampledFrom([]rune("ab/*")), 0, 8, -1).Draw(t, "pattern")
		s := rapid.StringOfN(rapid.SampledFrom([]rune("ab/")), 0, 10, -1).Draw(t, "s")
		parts := strings.Split(pattern, "*")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		want := regexp.MustCompile("^(?s:" + strings.Join(parts, ".*") + ")$").MatchString(s)
		if got := core.Glob(pattern, s); got != want {
			t.Fatalf("Glob(%q, %q) = %v, want %v", pattern, s, got, want)
		}
	})
}

func TestMatchExe(t *testing.T) {
	a := core.AgentInfo{Agent: "a", Exe: []string{"*/bin/a"}, Argv: []string{"*/a/cli.js"}, Helpers: []string{"* daemon*"}}
	for _, c := range []struct {
		name   string
		exe    string
		args   []string
		is     bool
		helper bool
	}{
		{"by executable", "/bin/a", []string{"a"}, true, false},
		{"replaced while it runs", "/bin/a (deleted)", []string{"a"}, true, false},
		{"another", "/bin/ab", []string{"a"}, false, false},
		{"unreadable", "", nil, false, false},
		{"by script", "/bin/node", []string{"node", "/lib/a/cli.js"}, true, false},
		{"by script behind flags", "/bin/node", []string{"node", "--x", "--y", "/lib/a/cli.js"}, true, false},
		{"named in a prompt", "/bin/other", []string{"other", "1", "2", "3", "/lib/a/cli.js"}, false, false},
		{"named as itself", "/bin/other", []string{"/lib/a/cli.js"}, false, false},
		{"helper", "/bin/a", []string{"a", "daemon", "--x"}, true, true},
	} {
		if got := a.MatchExe(c.exe, c.args); got != c.is {
			t.Errorf("%s: MatchExe = %v, want %v", c.name, got, c.is)
		}
		if got := a.IsHelper(c.args); got != c.helper {
			t.Errorf("%s: IsHelper = %v, want %v", c.name, got, c.helper)
		}
	}
}
