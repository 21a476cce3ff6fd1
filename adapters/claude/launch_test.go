package claude

import (
	"errors"
	"os"
	"path/filepath"
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
