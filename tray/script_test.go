package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary stand in for tower in the scripts, with a real tower-hook beside it,
// and for the programs that other tests start.
func TestMain(m *testing.M) {
	testscript.Main(withParts(m), map[string]func(){
		"tower": func() {
			runMain(func(first mainThread) int { return run(first, os.Args[1:]) })
		},
	})
}

type parts struct{ *testing.M }

func withParts(m *testing.M) testscript.TestingM { return parts{m} }

// Run builds the hook once.
func (p parts) Run() int {
	exe, err := os.Executable()
	if err == nil {
		cmd := exec.Command("go", "build", "-o", filepath.Join(filepath.Dir(exe), hookName), "../hooks")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		var out []byte
		if out, err = cmd.CombinedOutput(); err != nil {
			err = fmt.Errorf("build the hook: %w\n%s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return p.M.Run()
}

// TestScripts runs the program as a person does: testdata/*.txtar, each in a home of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			run := filepath.Join(env.WorkDir, "run")
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("TOWER_HOME", filepath.Join(env.WorkDir, "tower"))
			env.Setenv("TOWER_PORT", "0")
			env.Setenv("XDG_RUNTIME_DIR", run)
			env.Setenv("TOWER_SESSIONS_HARNESS_ROOTS", "/nowhere")
			env.Setenv("TZ", "UTC")
			// The hook lies beside the program, which testscript keeps in a folder of its own on the PATH.
			beside, _, _ := strings.Cut(env.Getenv("PATH"), string(os.PathListSeparator))
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			if err := os.Link(filepath.Join(filepath.Dir(exe), hookName), filepath.Join(beside, hookName)); err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
			return os.Mkdir(run, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"until": untilSays, "exits": exits, "same": same,
		},
	})
}

// untilSays runs a command again until it succeeds and its output contains a text, for 15 s at most:
//
//	until TEXT COMMAND...
func untilSays(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until TEXT COMMAND...")
	}
	deadline := time.Now().Add(15 * time.Second)
	for {
		cmd := exec.Command(args[1], args[2:]...)
		cmd.Dir = ts.Getenv("WORK")
		for _, k := range []string{"HOME", "TOWER_HOME", "TOWER_PORT", "XDG_RUNTIME_DIR", "TOWER_SESSIONS_HARNESS_ROOTS", "TZ", "PATH"} {
			cmd.Env = append(cmd.Env, k+"="+ts.Getenv(k))
		}
		out, err := cmd.CombinedOutput()
		if err == nil && strings.Contains(string(out), args[0]) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%v never said %q; last: %v\n%s", args[1:], args[0], err, out)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// exits runs a command and asks for its exit code: exits CODE COMMAND...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if err != nil {
		var e *exec.ExitError
		if !asExit(err, &e) {
			ts.Fatalf("%v: %v", args[1:], err)
		}
		code = e.ExitCode()
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("%v exited with %d, want %s", args[1:], code, args[0])
	}
}

func asExit(err error, to **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*to = e
	return ok
}

// same asks for two files of the same bytes: same A B
func same(ts *testscript.TestScript, neg bool, args []string) {
	a, b := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	if (a == b) == neg {
		ts.Fatalf("%s and %s: same = %v", args[0], args[1], a == b)
	}
}
