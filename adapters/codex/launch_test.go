package codex

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

func TestLaunch(t *testing.T) {
	a := New(info("/r"))
	for name, c := range map[string]struct {
		spec     core.LaunchSpec
		want     []string
		cautions int
	}{
		"a prompt":            {core.LaunchSpec{CWD: "/p", Prompt: "do it\nnow $x"}, []string{"codex", "--no-daemon", "--", "do it\nnow $x"}, 0},
		"a model":             {core.LaunchSpec{CWD: "/p", Prompt: "x", Model: "gpt-5.5"}, []string{"codex", "--no-daemon", "-m", "gpt-5.5", "--", "x"}, 0},
		"a leading dash":      {core.LaunchSpec{Prompt: "--help"}, []string{"codex", "--no-daemon", "--", "--help"}, 0},
		"a subcommand's name": {core.LaunchSpec{Prompt: "exec"}, []string{"codex", "--no-daemon", "--", "exec"}, 0},
		"flags":               {core.LaunchSpec{Prompt: "x", Args: []string{"-s", "read-only"}}, []string{"codex", "--no-daemon", "-s", "read-only", "--", "x"}, 0},
		"a slash command":     {core.LaunchSpec{Prompt: "/quit"}, []string{"codex", "--no-daemon", "--", "/quit"}, 0},
		"a skill":             {core.LaunchSpec{Prompt: "$closeout"}, []string{"codex", "--no-daemon", "--", "$closeout"}, 0},
		"a shell command":     {core.LaunchSpec{Prompt: "!ls"}, []string{"codex", "--no-daemon", "--", " !ls"}, 1},
		"no prompt":           {core.LaunchSpec{}, []string{"codex", "--no-daemon", "--", openingLine}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := a.Launch(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, l.Argv); d != "" {
				t.Errorf("argv (-want +got):\n%s", d)
			}
			if l.Dir != c.spec.CWD || l.NullIn || l.Preset != "" || len(l.Cautions) != c.cautions || len(l.Unset) == 0 {
				t.Errorf("launch = %+v", l)
			}
		})
	}
}

func TestResume(t *testing.T) {
	a := New(info("/r"))
	l, err := a.Resume(core.Session{Native: t1, CWD: "/p"}, "")
	if d := cmp.Diff([]string{"codex", "--no-daemon", "resume", t1, "-C", "."}, l.Argv); d != "" || err != nil || l.Dir != "/p" || l.Cautions != nil {
		t.Errorf("Resume = %+v, %v\n%s", l, err, d)
	}
	l, err = a.Resume(core.Session{Native: t1, Archived: true}, "gpt-5.4")
	if d := cmp.Diff([]string{"codex", "--no-daemon", "resume", t1, "-C", ".", "-m", "gpt-5.4"}, l.Argv); d != "" || err != nil || len(l.Cautions) != 1 {
		t.Errorf("Resume with a model = %+v, %v\n%s", l, err, d)
	}
	for _, id := range []string{"", "--yolo"} {
		var r *core.Refusal
		if l, err := a.Resume(core.Session{Native: id}, ""); !errors.As(err, &r) {
			t.Errorf("Resume of %q = %+v, %v, want a refusal", id, l, err)
		}
	}
}

func TestWithPrompt(t *testing.T) {
	a := New(info("/r"))
	l, err := a.Resume(core.Session{Native: t1, CWD: "/p", Archived: true}, "m")
	if err != nil {
		t.Fatal(err)
	}
	before := append([]string{}, l.Argv...)
	for prompt, want := range map[string]string{"go on\n\"now\"": "go on\n\"now\"", "--help": "--help", "$closeout ": "$closeout ", "!ls": " !ls"} {
		got := a.WithPrompt(l, prompt)
		if d := cmp.Diff(append(append([]string{}, before...), "--", want), got.Argv); d != "" {
			t.Errorf("WithPrompt(%q) argv (-want +got):\n%s", prompt, d)
		}
		if guarded := want != prompt; len(got.Cautions) != len(l.Cautions) && !guarded || guarded && len(got.Cautions) != len(l.Cautions)+1 || got.Dir != "/p" {
			t.Errorf("WithPrompt(%q) = %+v", prompt, got)
		}
	}
	if d := cmp.Diff(before, l.Argv); d != "" || len(l.Cautions) != 1 {
		t.Errorf("WithPrompt changed the launch it was given: %v %s", l.Cautions, d)
	}
}

func TestFind(t *testing.T) {
	a := New(info("/r"))
	dir, bare, folder := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "codex"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bare, "codex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "codex"), 0o755); err != nil {
		t.Fatal(err)
	}
	list := func(dirs ...string) string { return strings.Join(dirs, string(os.PathListSeparator)) }
	if got, _ := a.Find(list(bare, "", folder, dir)); got != filepath.Join(dir, "codex") {
		t.Errorf("Find = %q", got)
	}
	for _, path := range []string{list(bare, folder), ""} {
		if got, looked := a.Find(path); got != "" || looked == "" {
			t.Errorf("Find(%q) = %q, looked %q", path, got, looked)
		}
	}
}

func TestRuleOutput(t *testing.T) {
	text := "Rule 1: \"quoted\" <b>\nRule 2: \\ ü\n"
	out := New(info("/r")).RuleOutput(text)
	var back struct {
		HookSpecificOutput struct{ HookEventName, AdditionalContext string }
	}
	if err := json.Unmarshal(out, &back); err != nil {
		t.Fatal(err)
	}
	if back.HookSpecificOutput.AdditionalContext != text || back.HookSpecificOutput.HookEventName != "SessionStart" || strings.Count(string(out), "\n") != 1 {
		t.Errorf("RuleOutput = %s", out)
	}
}

// TestCommandsKnowTheirHome: every command is told where the tower looks for what it writes.
func TestCommandsKnowTheirHome(t *testing.T) {
	a := New(core.AgentInfo{Agent: Name, Root: "/srv/codex", RootEnv: "CODEX_HOME"})
	launch, err := a.Launch(core.LaunchSpec{CWD: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	resume, err := a.Resume(core.Session{Native: "01a22ee0-8503-7000-8000-000000000001", CWD: "/p"}, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]core.Launch{"launch": launch, "resume": resume} {
		if l.Set["CODEX_HOME"] != "/srv/codex" {
			t.Errorf("%s sets %v", name, l.Set)
		}
	}
}
