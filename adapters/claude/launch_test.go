package claude

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

const preset = "11111111-2222-4333-8444-555555555555"

func launcher() *Adapter {
	a := New(testInfo("/home/dev/.claude"))
	a.home = "/home/dev"
	a.id = func() string { return preset }
	return a
}

func TestLaunch(t *testing.T) {
	for name, c := range map[string]struct {
		spec core.LaunchSpec
		want string // arguments, joined by |
	}{
		"bare":          {core.LaunchSpec{}, ""},
		"prompt":        {core.LaunchSpec{Prompt: "do it\nnow"}, "|do it\nnow"},
		"dash":          {core.LaunchSpec{Prompt: "-p is what?"}, "|--|-p is what?"},
		"all":           {core.LaunchSpec{Prompt: "go", Model: "opus[1m]", Name: "a name"}, "|-n|a name|--model|opus[1m]|go"},
		"name, dash":    {core.LaunchSpec{Name: "-x"}, "|--name=-x"},
		"flags":         {core.LaunchSpec{Args: []string{"--allowedTools", "Read"}}, "|--allowedTools|Read"},
		"flags, prompt": {core.LaunchSpec{Args: []string{"--allowedTools", "Read"}, Prompt: "go"}, "|--allowedTools|Read|--|go"},
	} {
		t.Run(name, func(t *testing.T) {
			c.spec.CWD = "/home/dev/proj"
			got, err := launcher().Launch(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			want := core.Launch{
				Argv: strings.Split("claude|--session-id|"+preset+c.want, "|"), Dir: "/home/dev/proj", Preset: preset,
				Unset: []string{"CLAUDE*", "CLAUDECODE", "AI_AGENT"},
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestResume(t *testing.T) {
	s := core.Session{Native: preset, CWD: "/home/dev/proj", Name: "not unique"}
	for model, want := range map[string]string{"": "", "opus[1m]": "|--model|opus[1m]"} {
		got, err := launcher().Resume(s, model)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(core.Launch{
			Argv: strings.Split("claude|--resume|"+preset+want, "|"), Dir: "/home/dev/proj", Preset: preset,
			Unset: []string{"CLAUDE*", "CLAUDECODE", "AI_AGENT"},
		}, got); d != "" {
			t.Error(d)
		}
	}
}

func TestWithPrompt(t *testing.T) {
	l, err := launcher().Resume(core.Session{Native: preset, CWD: "/home/dev/proj"}, "haiku")
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(l.Argv)
	for prompt, want := range map[string]string{"": "", "go\non": "|--|go\non", "--help me": "|--|--help me", "/closeout": "|--|/closeout"} {
		got := launcher().WithPrompt(l, prompt)
		if d := cmp.Diff(strings.Split("claude|--resume|"+preset+"|--model|haiku"+want, "|"), got.Argv); d != "" {
			t.Error(d)
		}
	}
	if d := cmp.Diff(before, l.Argv); d != "" {
		t.Errorf("the launch it was given changed: %s", d)
	}
}

// TestMovedRoot shows that the agent is told of a root it would not find, and of no other.
func TestMovedRoot(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	usual := filepath.Join(home, ".claude")
	if err := os.Mkdir(usual, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	roots := map[string]bool{usual: false, usual + string(filepath.Separator): false, other: true, filepath.Join(other, "not yet"): true}
	if err := os.Symlink(usual, link); err == nil {
		roots[link] = false
	}
	for root, moved := range roots {
		a := New(testInfo(root))
		a.home = home
		l, err := a.Launch(core.LaunchSpec{CWD: other})
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Resume(core.Session{Native: preset, CWD: other}, "")
		if err != nil {
			t.Fatal(err)
		}
		shot, err := a.OneShot(other)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range []map[string]string{l.Set, r.Set, shot.Set} {
			if got := set["CLAUDE_CONFIG_DIR"]; (got != "") != moved || moved && got != root {
				t.Errorf("root %s of a person at %s: CLAUDE_CONFIG_DIR=%q", root, home, got)
			}
		}
	}
	a := New(testInfo(other))
	a.home = ""
	if a.moved() {
		t.Error("a root counts as moved although nobody knows the usual one")
	}
}

func TestRefusals(t *testing.T) {
	a := launcher()
	for name, c := range map[string]struct {
		err  func() error
		want string
	}{
		"launch, model": {func() error { _, err := a.Launch(core.LaunchSpec{Model: "--resume"}); return err },
			"Not started. A model's name does not begin with a dash."},
		"resume, model": {func() error { _, err := a.Resume(core.Session{Native: preset, CWD: "/p"}, "-x"); return err },
			"Not resumed. A model's name does not begin with a dash."},
		"resume, id": {func() error { _, err := a.Resume(core.Session{Native: "--help", CWD: "/p"}, ""); return err },
			"Not resumed. Its id is not one that Claude Code gives."},
		"resume, folder": {func() error { _, err := a.Resume(core.Session{Native: preset}, ""); return err },
			"Not resumed. Nobody recorded the folder it ran in, and Claude Code finds a session only from there."},
	} {
		var refusal *core.Refusal
		if err := c.err(); !errors.As(err, &refusal) || refusal.Error() != c.want {
			t.Errorf("%s: %v, want the refusal %q", name, err, c.want)
		}
	}
}

func TestFind(t *testing.T) {
	empty, full, root := t.TempDir(), t.TempDir(), t.TempDir()
	a := New(testInfo(root))
	put := func(dir string, mode os.FileMode) string {
		file := filepath.Join(dir, "claude")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	path := strings.Join([]string{"", empty, full}, string(filepath.ListSeparator))
	put(empty, 0o600)
	if got, looked := a.Find(path); got != "" || looked == "" {
		t.Errorf("Find = %q, %q, want nothing and where it looked", got, looked)
	}
	old := put(filepath.Join(root, "local"), 0o700)
	if got, _ := a.Find(path); got != old {
		t.Errorf("Find = %q, want %q", got, old)
	}
	file := put(full, 0o700)
	if got, _ := a.Find(path); got != file {
		t.Errorf("Find = %q, want %q", got, file)
	}
}
