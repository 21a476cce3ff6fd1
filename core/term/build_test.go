package term

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tower/core"
)

var update = flag.Bool("update", false, "write the golden files anew")

// refusal returns the refusal an error is.
func refusal(t testing.TB, err error) *core.Refusal {
	t.Helper()
	var r *core.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("got %v, want a refusal", err)
	}
	if r.What == "" || r.Why == "" {
		t.Fatalf("a refusal without its reason: %+v", r)
	}
	return r
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}

// TestBuild holds the command of every terminal on every system, or why there is none.
func TestBuild(t *testing.T) {
	tower := map[string]string{"linux": "/opt/to wer/tower", "darwin": "/opt/to wer/tower", "windows": `C:\to wer\tower.exe`}
	home := map[string]string{"linux": "/home/jö/a b; c", "darwin": "/Users/jö/a b; c", "windows": `C:\jö\a b; c`}
	env := []string{"PATH=/usr/bin", "WINDOWID=7", "KITTY_LISTEN_ON=unix:/k", "TMUX=x", "HOME=/h", "EMPTY=", "WINDOWIDS=kept"}
	specs := []struct {
		name string
		argv []string
	}{
		{"token", []string{"exec", "tok-1"}},
		{"blanks and signs", []string{"a b", "$(id)", "`id`", "$HOME", ";", "-x", "--", "&|<>^!", "'"}},
		{"not ascii", []string{"é", "👩‍👩‍👧"}},
		{"double quote", []string{`a"b`}},
		{"line end", []string{"a\nb"}},
		{"empty", []string{""}},
		{"ends in backslash", []string{`a\`}},
		{"percent", []string{"%PATH%"}},
		{"NUL", []string{"a\x00b"}},
		{"not UTF-8", []string{"\xff"}},
		{"no argument", nil},
	}
	var out bytes.Buffer
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for _, name := range Names() {
			for _, s := range specs {
				fmt.Fprintf(&out, "%s %s %s\n", goos, name, s.name)
				c, err := Build(name, Spec{Title: "-a\x1b title\né", Dir: home[goos], Argv: append([]string{tower[goos]}, s.argv...), Env: env}, goos)
				if err != nil {
					fmt.Fprintf(&out, "    %s\n", refusal(t, err))
					if !cmp.Equal(c, Command{}) {
						t.Errorf("Build(%s) on %s refuses and returns %+v", name, goos, c)
					}
					if !slices.Contains(Order(goos), name) {
						break
					}
					continue
				}
				stdin := map[string]string{"": "nothing", openInTerminal: "open in Terminal", openInITerm: "open in iTerm2"}[c.Stdin]
				argv, _ := json.Marshal(c.Argv)
				fmt.Fprintf(&out, "    %s\n    dir %q, reads %s, unverified %v\n", unescape(argv), c.Dir, stdin, c.Unverified)
				if diff := cmp.Diff([]string{"PATH=/usr/bin", "HOME=/h", "EMPTY=", "WINDOWIDS=kept"}, c.Env); diff != "" {
					t.Errorf("environment of %s on %s differs (-want +got):\n%s", name, goos, diff)
				}
			}
		}
	}
	golden(t, "build.golden", out.Bytes())
}

// unescape undoes what encoding/json does for the sake of pages.
func unescape(b []byte) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		name, terminal string
		spec           Spec
		why            string
	}{
		{"no program", "xterm", Spec{}, "No program"},
		{"relative program", "kitty", Spec{Argv: []string{"tower", "exec"}}, "whole path"},
		{"relative folder", "kitty", Spec{Argv: []string{"/tower", "exec"}, Dir: "code"}, "whole path"},
		{"too long", "kitty", Spec{Argv: []string{"/tower", strings.Repeat("x", oneArgument+1)}}, "too long"},
		{"a long line to type", "terminal", Spec{Argv: []string{"/tower", strings.Repeat("x", lineLimit)}}, "takes 1000"},
		{"unknown", "konsole", Spec{Argv: []string{"/tower"}}, "no terminal of this system"},
	} {
		goos := "linux"
		if c.terminal == "terminal" {
			goos = "darwin"
		}
		_, err := Build(c.terminal, c.spec, goos)
		if r := refusal(t, err); r.What != "Not started." || !strings.Contains(r.Why, c.why) || r.Hint == "" {
			t.Errorf("%s: refused with %v", c.name, r)
		}
	}
	if _, err := Build("kitty", Spec{Argv: []string{"/tower", strings.Repeat("x", oneArgument)}}, "linux"); err != nil {
		t.Errorf("the longest argument: %v", err)
	}
}

// TestBuildExact: whatever is not refused is handed on as it is, at the end of the command.
func TestBuildExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		goos := rapid.SampledFrom([]string{"linux", "darwin"}).Draw(t, "system")
		name := rapid.SampledFrom(Order(goos)).Draw(t, "terminal")
		argv := append([]string{"/opt/tower"}, rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "arguments")...)
		c, err := Build(name, Spec{Title: rapid.String().Draw(t, "title"), Dir: "/d", Argv: argv}, goos)
		if err != nil {
			return
		}
		if len(c.Argv) < len(argv) || !slices.Equal(c.Argv[len(c.Argv)-len(argv):], argv) {
			t.Fatalf("%s got %q of %q", name, c.Argv, argv)
		}
		for _, a := range argv[1:] {
			if len(a) > 2 && strings.Contains(c.Stdin, a) && !strings.Contains(openInTerminal+openInITerm, a) {
				t.Fatalf("%q stands in a script", a)
			}
		}
	})
}

// TestBuildControl: only a terminal that takes a socket for its new window is told of one.
func TestBuildControl(t *testing.T) {
	for _, name := range Order("linux") {
		s := Spec{Argv: []string{"/tower", "exec"}}
		plain, err := Build(name, s, "linux")
		if err != nil {
			t.Fatal(err)
		}
		s.Control = "/run/user/1000/tower-1/window-2"
		got, err := Build(name, s, "linux")
		if err != nil {
			t.Fatal(err)
		}
		want := plain.Argv
		if name == kitty {
			want = []string{"kitty", "-o", "allow_remote_control=socket-only", "--listen-on=unix:" + s.Control, "/tower", "exec"}
		}
		if diff := cmp.Diff(want, got.Argv); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
