//go:build unix

package tmux

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

func TestEnvironment(t *testing.T) {
	t.Setenv("POISON", "leaked")
	t.Setenv("CLAUDECODE", "1")
	s := newServer(t)
	s.o.Env = withoutTmux(append(testEnv(), "TMUX=/other,1,0", "TMUX_PANE=%77"))
	for i, id := range []string{"before-the-client", "through-the-client"} {
		if i == 1 {
			s.linked()
		}
		out := filepath.Join(s.dir, id)
		p := s.start(id, "environ", out)
		eventually(t, "the program writes its environment", func() bool { return readFile(t, out) != "" })
		env := map[string]string{}
		for line := range strings.Lines(readFile(t, out)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			env[name] = value
		}
		for _, gone := range []string{"POISON", "CLAUDECODE", "WINDOWID"} {
			if v, ok := env[gone]; ok {
				t.Errorf("%s: %s=%s reached the pane", id, gone, v)
			}
		}
		if env["TOWER_TEST_ENV"] != "curated" || env["TMUX_PANE"] != p.ID {
			t.Errorf("%s: environment has TOWER_TEST_ENV=%q TMUX_PANE=%q, want curated and %s", id, env["TOWER_TEST_ENV"], env["TMUX_PANE"], p.ID)
		}
		if socket, pane, ok := Locate(env); !ok || socket != s.o.Socket || pane != p.ID {
			t.Errorf("%s: Locate = %q %q %v, want %q %q", id, socket, pane, ok, s.o.Socket, p.ID)
		}
	}
}

func TestFolders(t *testing.T) {
	s := newServer(t)
	s.start("first", "environ", filepath.Join(s.dir, "e"))
	for _, linked := range []bool{false, true} {
		if linked {
			s.linked()
		}
		for i, name := range []string{"plain", "with blank", "tab\there", "a#b", "a##b", "a#[b]", "a##[b]", "a#{pane_id}", "a##{b}", "#", "a#", "#,x", "x #(id)",
			"a%Hb", "q;", `back\slash`, `quo'te"s`, "$HOME", "~", "-x", "line\nend", "größe ✳", "x;y"} {
			dir := filepath.Join(s.dir, "dirs", name)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			id := "dir" + strings.Repeat("x", i) + map[bool]string{true: "L"}[linked]
			p, err := s.Start(t.Context(), Start{ID: id, Dir: dir, Argv: []string{"cat", "-u"}})
			if err != nil {
				t.Errorf("linked %v: Start in %q = %v", linked, name, err)
				continue
			}
			if err := s.Kill(t.Context(), p.ID); err != nil {
				t.Error(err)
			}
		}
	}
	real := filepath.Join(s.dir, "dirs", "plain")
	link := filepath.Join(s.dir, "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Start(t.Context(), Start{ID: "link", Dir: link, Argv: []string{"cat", "-u"}}); err != nil {
		t.Errorf("Start in a link = %v", err)
	}
}

func TestFoldersRefused(t *testing.T) {
	s := newServer(t)
	file := filepath.Join(s.dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, dir string }{
		{"none", ""}, {"tilde", "~"}, {"below tilde", "~/proj"}, {"relative", "proj"}, {"dot", "."},
		{"missing", filepath.Join(s.dir, "missing")}, {"a file", file}, {"below a file", file + "/x"},
	} {
		_, err := s.Start(t.Context(), Start{ID: "x", Dir: c.dir, Argv: []string{"cat", "-u"}})
		var r *core.Refusal
		if !errors.As(err, &r) || r.What != "Not launched." {
			t.Errorf("%s: Start = %v, want a refusal", c.name, err)
		}
	}
	if err := s.listens(); !errors.Is(err, ErrNoServer) {
		t.Errorf("a refused start started a server: %v", err)
	}
}
