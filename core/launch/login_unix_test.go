//go:build unix

package launch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell writes a program that stands in for a person's shell.
func shell(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "my shell")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func asks(t *testing.T, shell string, base ...string) []string {
	t.Helper()
	env, err := Login(t.Context(), shell, append([]string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}, base...))
	if err != nil {
		t.Fatalf("Login(%s) = %v", shell, err)
	}
	return env
}

// TestLoginShells asks the real ones, with start files of a person who likes to be greeted.
func TestLoginShells(t *testing.T) {
	for name, file := range map[string]string{"bash": ".bash_profile", "dash": ".profile", "zsh": ".zprofile", "fish": ".config/fish/config.fish", "ksh": ".profile"} {
		t.Run(name, func(t *testing.T) {
			path, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("%s is not installed", name)
			}
			home := t.TempDir()
			start := filepath.Join(home, file)
			if err := os.MkdirAll(filepath.Dir(start), 0o700); err != nil {
				t.Fatal(err)
			}
			text := "echo welcome; printf 'A=no newline'; echo noise >&2\nexport FROM_PROFILE='ä b\nc=d'\nexport CLAUDE_CONFIG_DIR=/mine\n"
			if err := os.WriteFile(start, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			env, err := Login(t.Context(), path, []string{"HOME=" + home, "PATH=/usr/bin:/bin", "CLAUDECODE=1", "CLAUDE_EFFORT=x", "WINDOWID=7", "FROM_TOWER=1", "COLUMNS=3"})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"FROM_PROFILE=ä b\nc=d", "CLAUDE_CONFIG_DIR=/mine", "FROM_TOWER=1", "HOME=" + home} {
				if !slices.Contains(env, want) {
					t.Errorf("%q is missing in %q", want, env)
				}
			}
			for _, not := range []string{"CLAUDECODE", "CLAUDE_EFFORT", "WINDOWID", "TERM", "_", "SHLVL", "PWD", "OLDPWD", "COLUMNS", markName} {
				if v, ok := lookup(env, not); ok {
					t.Errorf("%s=%s came along", not, v)
				}
			}
		})
	}
}

// TestLoginInteractive: what is set for interactive shells alone is there, too.
func TestLoginInteractive(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	home := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base := []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
	write(".bash_profile", "case $- in *i*) . ~/.bashrc;; esac\nexport B=2")
	write(".bashrc", `export A=1; trap 'printf "\033]0;%s\007" "$BASH_COMMAND"' DEBUG`)
	env, err := Login(t.Context(), bash, base)
	if err != nil || !slices.Contains(env, "A=1") || !slices.Contains(env, "B=2") {
		t.Errorf("Login = %q, %v, want A and B", env, err)
	}

	// One that goes elsewhere when interactive is asked again without.
	write(".bashrc", "exec false")
	env, err = Login(t.Context(), bash, base)
	if err != nil || !slices.Contains(env, "B=2") {
		t.Errorf("Login = %q, %v, want B", env, err)
	}
}

func TestLoginFails(t *testing.T) {
	for name, c := range map[string]struct{ shell, want string }{
		"absent":   {"/nowhere/zsh", "no such file"},
		"relative": {"bash", "full path"},
		"none":     {"", "full path"},
		"nologin":  {shell(t, "echo This account is currently not available.\nexit 1"), "exit status 1"},
		"silent":   {shell(t, "exit 0"), "no environment"},
		"half":     {shell(t, `eval "${2%%;*}"`), "no environment"},
		"endless":  {shell(t, "exec yes"), "does not end"},
		"folder":   {t.TempDir(), "permission denied"},
	} {
		env, err := Login(t.Context(), c.shell, []string{"PATH=/usr/bin:/bin"})
		if err == nil || !strings.Contains(err.Error(), c.want) || env != nil {
			t.Errorf("%s: Login = %q, %v, want an error about %q", name, env, err, c.want)
		}
	}
}

// TestLoginHangs: a shell that never answers ends with the time, and all it started with it.
func TestLoginHangs(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	_, err := Login(ctx, shell(t, "sleep 600 & echo $! $$ >"+pids+"\nwait"), []string{"PATH=/usr/bin:/bin"})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Login = %v, want the deadline", err)
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		until(t, "killed: "+word, func() bool { return !runs(pid) })
	}
}

// TestLoginLeftBehind: what start files leave running in the background is neither waited for nor ended.
func TestLoginLeftBehind(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	began := time.Now()
	env := asks(t, shell(t, "export A=1\nsleep 600 & echo $! >"+pids+`
eval "$2"`))
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
	if !slices.Contains(env, "A=1") {
		t.Errorf("A is missing in %q", env)
	}
	text, _ := os.ReadFile(pids)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if !runs(pid) {
		t.Error("what the start file left running was ended")
	}
	syscall.Kill(pid, syscall.SIGKILL)
}

// TestLoginAlone: the shell has neither input nor a terminal, and a session of its own.
func TestLoginAlone(t *testing.T) {
	env := asks(t, shell(t, `read line && export GOT=$line
tty -s && export TTY=1
(: </dev/tty) 2>/dev/null && export TTY=2
export WHERE=$PWD
eval "$2"`))
	for _, not := range []string{"GOT", "TTY"} {
		if v, ok := lookup(env, not); ok {
			t.Errorf("%s = %q", not, v)
		}
	}
	where, _ := lookup(env, "WHERE")
	if home, _ := lookup(env, "HOME"); where != home || home == "" {
		t.Errorf("the shell started in %q, want %q", where, home)
	}
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never %s", what)
		}
	}
}
