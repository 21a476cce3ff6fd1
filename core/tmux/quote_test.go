//go:build unix

package tmux

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"plain", []string{"list-panes", "-a"}, `'list-panes' '-a'`},
		{"empty", []string{"x", ""}, `'x' ''`},
		{"single quote", []string{"it's"}, `'it'\''s'`},
		{"only single quotes", []string{"''"}, `\'\'`},
		{"double quote", []string{`"`}, `'"'`},
		{"line end", []string{"a\nkill-server"}, `'a'"\012"'kill-server'`},
		{"digits behind an escape", []string{"\x017"}, `"\001"'7'`},
		{"shell", []string{"$(id) `id` ~ $HOME ; # { } %if"}, "'$(id) `id` ~ $HOME ; # { } %if'"},
		{"backslash", []string{`\n\`}, `'\n\'`},
		{"delete", []string{"\x7f"}, `"\177"`},
		{"byte 255", []string{"a\xff kill-server"}, `'a'"\377"' kill-server'`},
	} {
		if got := commandLine(c.args); got != c.want+"\n" {
			t.Errorf("%s: commandLine = %s, want %s", c.name, got, c.want)
		}
	}
}

var hostile = []string{
	"", " ", "'", "''", `"`, `\`, `\\`, `\'`, `a\`, "\n", "a\nkill-server\n", "\r", "\t", "\x01\x1b[31m\x7f", ";", "a;", `a\;`, "a ; kill-server", "#", "#{pane_id}", "#(touch x)",
	"$HOME", "${HOME}", "~", "~root", "%if 1", "%begin 1 2 1", "%1", "{", "}", "{ kill-server }", "`id`", "-x", "--", "\\u0041", "\\e", "\\101", "é", "👩‍👩‍👧", "\xff\xfe", "\x80",
	"=", "A=b", "*", "[x]", "!", "|", "\u2028", "123", "\x0112",
}

// roundTrip hands text to a server as an argument and gets it back as a file.
func roundTrip(t *testing.T, s *server, name string, do func(args ...string) error, text string) {
	t.Helper()
	if text == "" || strings.IndexByte(text, 0) >= 0 || len(text) > 10_000 {
		return // there is no empty buffer; the callers refuse a NUL; a spawned tmux takes no more
	}
	file := filepath.Join(s.dir, "buffer")
	for _, args := range [][]string{{"set-buffer", "-b", "q", "--", text}, {"save-buffer", "-b", "q", file}} {
		if err := do(args...); err != nil {
			t.Fatalf("%s: %q: %v", name, args, err)
		}
	}
	if diff := cmp.Diff(text, readFile(t, file)); diff != "" {
		t.Errorf("%s: %q came back as something else (-want +got):\n%s", name, text, diff)
	}
	if utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) < 0 {
		if err := do("set-option", "-g", "@q", text); err != nil {
			t.Fatal(err)
		}
		lines, err := s.run(t.Context(), "display-message", "-p", "#{@q}")
		if err != nil || strings.Join(lines, "\n") != text {
			t.Errorf("%s: %q was shown as %q, %v", name, text, lines, err)
		}
	}
}

func (s *server) ways(t *testing.T) map[string]func(...string) error {
	return map[string]func(...string) error{
		"control client": func(args ...string) error { _, err := s.current().do(t.Context(), args); return err },
		"spawned":        func(args ...string) error { _, err := s.spawn(t.Context(), args...); return err },
	}
}

func TestArgumentsAreLiteral(t *testing.T) {
	s := newServer(t)
	s.start("x", "environ", filepath.Join(s.dir, "e"))
	s.linked()
	for name, do := range s.ways(t) {
		for _, text := range hostile {
			roundTrip(t, s, name, do, text)
		}
	}
}

func FuzzArgumentsAreLiteral(f *testing.F) {
	s := newServer(f)
	s.o.Log = slog.New(slog.DiscardHandler)
	s.start("x", "environ", filepath.Join(s.dir, "e"))
	s.linked()
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		roundTrip(t, s, "control client", func(args ...string) error { _, err := s.current().do(t.Context(), args); return err }, text)
	})
}

func TestLiteral(t *testing.T) {
	s := newServer(t)
	s.start("x", "environ", filepath.Join(s.dir, "e"))
	s.linked()
	for _, text := range []string{"", "a", "#", "##", "###", "#[", "##[x]", "###[", "#{pane_id}", "##{pane_id}", "#(id)", "#,", "#}", "a#", "#S", "#{", "[#", "#[fg=red]#{x}#"} {
		lines, err := s.run(t.Context(), "display-message", "-p", "<"+literal(text)+">")
		if got := strings.Join(lines, "\n"); err != nil || got != "<"+text+">" {
			t.Errorf("literal(%q) = %q, which tmux expands to %q, %v", text, literal(text), got, err)
		}
	}
}
