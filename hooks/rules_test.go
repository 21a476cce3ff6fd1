package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tower/core/home"
)

func TestRules(t *testing.T) {
	h := installed(t)
	const general, own = "{\"x\":\"general\"}\x00\n", "{\"x\":\"of the project\"}"
	put(t, h.PreparedRules("claude"), general)
	put(t, h.PreparedProject("claude", "project"), own)
	work := t.TempDir()
	project := filepath.Join(work, "project")
	put(t, filepath.Join(project, ".git", "HEAD"), "")
	put(t, filepath.Join(project, "deep", "down", "x"), "")
	put(t, filepath.Join(work, "tree", ".git"), "gitdir: "+project+"/.git/worktrees/tree\n")
	put(t, filepath.Join(work, "relative", ".git"), "gitdir: ../project/.git/worktrees/relative")
	put(t, filepath.Join(work, "bare", ".git"), "gitdir: "+work+"/project.git/worktrees/bare")
	put(t, filepath.Join(project, "sub", ".git"), "gitdir: ../.git/modules/sub")
	put(t, filepath.Join(work, "broken", ".git"), "no git")
	put(t, filepath.Join(work, "plain", "project", "x"), "")

	for _, c := range []struct{ name, agent, event, cwd, want string }{
		{"in the repository", "claude", "SessionStart", project, own},
		{"below it", "claude", "SessionStart", filepath.Join(project, "deep", "down"), own},
		{"folder that is gone", "claude", "SessionStart", filepath.Join(project, "gone", "too"), own},
		{"worktree", "claude", "SessionStart", filepath.Join(work, "tree"), own},
		{"worktree, relative", "claude", "SessionStart", filepath.Join(work, "relative"), own},
		{"worktree of a bare repository", "claude", "SessionStart", filepath.Join(work, "bare"), own},
		{"submodule", "claude", "SessionStart", filepath.Join(project, "sub"), general},
		{"broken .git", "claude", "SessionStart", filepath.Join(work, "broken"), general},
		{"no repository", "claude", "SessionStart", filepath.Join(work, "plain", "project"), own},
		{"another folder", "claude", "SessionStart", work, general},
		{"the root", "claude", "SessionStart", "/", general},
		{"relative folder", "claude", "SessionStart", "project", general},
		{"agent without rules", "codex", "SessionStart", project, ""},
		{"another event", "claude", "UserPromptSubmit", project, ""},
		{"another event, other case", "claude", "sessionStart", project, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, source := range []string{"startup", "resume", "clear", "compact"} {
				got := run(t, hook(h, c.agent, c.event), `{"session_id":"s","source":"`+source+`","cwd":"`+c.cwd+`"}`)
				if got != c.want {
					t.Errorf("%s: printed %q, want %q", source, got, c.want)
				}
			}
			if n := len(events(t, h)); n != 4 {
				t.Errorf("%d events of 4", n)
			}
		})
	}
}

func TestRulesOfRealWorktree(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	for _, args := range [][]string{
		{"init", "-q", "main repo"},
		{"-C", "main repo", "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-q", "--allow-empty", "-m", "x"},
		{"-C", "main repo", "worktree", "add", "-q", "../tree"},
	} {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	if got := repositoryName(filepath.Join(dir, "tree")); got != "main repo" {
		t.Errorf("repositoryName(worktree) = %q, want main repo", got)
	}
}

func TestRulesTooLarge(t *testing.T) {
	h := installed(t)
	put(t, h.PreparedRules("claude"), strings.Repeat("x", maxRules+1))
	if out := run(t, hook(h, "claude", "SessionStart"), "{}"); out != "" {
		t.Errorf("printed %d bytes of rules that are too large", len(out))
	}
	if log := logged(t, h); !strings.Contains(log, "written; no rules") {
		t.Errorf("log = %q", log)
	}
	put(t, h.PreparedRules("claude"), strings.Repeat("x", maxRules))
	if out := run(t, hook(h, "claude", "SessionStart"), "{}"); len(out) != maxRules {
		t.Errorf("printed %d bytes, want %d", len(out), maxRules)
	}
}

// TestRulesReaderGone closes the far end of standard output before the hook writes to it.
func TestRulesReaderGone(t *testing.T) {
	h := installed(t)
	put(t, h.PreparedRules("claude"), "rules")
	for name, out := range map[string]func(*exec.Cmd){
		"pipe without a reader": func(cmd *exec.Cmd) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			t.Cleanup(func() { w.Close() })
			cmd.Stdout = w
		},
		"full device": func(cmd *exec.Cmd) {
			f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { f.Close() })
			cmd.Stdout = f
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := hook(h, "claude", "SessionStart")
			cmd.Stdin = strings.NewReader("{}")
			out(cmd)
			if err := cmd.Run(); err != nil {
				t.Errorf("exit: %v, want 0", err)
			}
			one(t, h)
			if log := logged(t, h); !strings.Contains(log, "no rules: ") {
				t.Errorf("log = %q", log)
			}
		})
	}
}

func TestLogCutOver(t *testing.T) {
	h := installed(t)
	old := strings.Repeat("x", maxLog-10) + "\n"
	put(t, h.HookLog(), old)
	run(t, hook(h, "claude", "Stop"), "{}") // its line makes the log full
	before, err := os.ReadFile(h.HookLog() + ".1")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(before), old) || !strings.HasSuffix(string(before), "written\n") {
		t.Errorf("the older log has %d bytes and ends in %q", len(before), before[len(before)-20:])
	}
	run(t, hook(h, "claude", "Stop"), "{}")
	if n := strings.Count(logged(t, h), "\n"); n != 1 {
		t.Errorf("%d lines in the new log, want 1", n)
	}
	// A newer full log takes the place of the older one.
	put(t, h.HookLog(), strings.Repeat("y", maxLog))
	run(t, hook(h, "claude", "Stop"), "{}")
	if before, err = os.ReadFile(h.HookLog() + ".1"); err != nil || before[0] != 'y' {
		t.Errorf("the older log was not replaced: %v", err)
	}
}

func TestForHookAgrees(t *testing.T) {
	h := installed(t)
	if got := home.ForHook(h.HookBinary()); got.Data != h.Data {
		t.Errorf("ForHook = %s, want %s", got.Data, h.Data)
	}
}
