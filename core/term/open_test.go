//go:build linux

package term

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func wait(t *testing.T, o *Opening) {
	t.Helper()
	select {
	case <-o.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the command did not end")
	}
}

func sh(script string) Command {
	return Command{Terminal: "test", Argv: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"}}
}

func TestOpen(t *testing.T) {
	o, err := Open(t.Context(), sh("sleep 0.2"))
	if err != nil {
		t.Fatal(err)
	}
	if o.PID() <= 0 || o.Err() != nil {
		t.Errorf("while it runs: pid %d, error %v", o.PID(), o.Err())
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(o.PID()) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	if f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); f[3] != strconv.Itoa(o.PID()) || f[4] != "0" {
		t.Errorf("session %s, terminal %s: it is not in a session of its own", f[3], f[4])
	}
	wait(t, o)
	if o.Err() != nil {
		t.Errorf("Err() = %v", o.Err())
	}
	if err := syscall.Kill(o.PID(), 0); err != syscall.ESRCH {
		t.Errorf("it was not reaped: %v", err)
	}
}

func TestOpenFails(t *testing.T) {
	o, err := Open(t.Context(), sh("yes filler | head -c 9000 >&2; echo the last words >&2; exit 3"))
	if err != nil {
		t.Fatal(err)
	}
	wait(t, o)
	if o.Err() == nil || !strings.Contains(o.Err().Error(), "exit status 3") || !strings.HasSuffix(o.Err().Error(), "the last words") || len(o.Err().Error()) > tailBytes+100 {
		t.Errorf("Err() = %d bytes: %.60v", len(o.Err().Error()), o.Err())
	}

	o, err = Open(t.Context(), sh("echo one >&2; echo two >&2; exit 1"))
	if err != nil {
		t.Fatal(err)
	}
	wait(t, o)
	if o.Err() == nil || !strings.HasSuffix(o.Err().Error(), "exit status 1: one / two") {
		t.Errorf("Err() = %v, want it on one line", o.Err())
	}

	o, err = Open(t.Context(), sh("kill -9 $$"))
	if err != nil {
		t.Fatal(err)
	}
	wait(t, o)
	if o.Err() == nil || !strings.Contains(o.Err().Error(), "killed") {
		t.Errorf("Err() = %v", o.Err())
	}

	// A child that holds on to the standard error does not keep the end from being told.
	begin := time.Now()
	o, err = Open(t.Context(), sh("sleep 5 & exit 1"))
	if err != nil {
		t.Fatal(err)
	}
	wait(t, o)
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("the end was told after %v", took)
	}

	for name, c := range map[string]Command{
		"no program": {Terminal: "kitty", Argv: []string{"no-such-terminal"}},
		"no folder":  {Terminal: "kitty", Argv: []string{"sh"}, Dir: filepath.Join(t.TempDir(), "gone")},
	} {
		if _, err := Open(t.Context(), c); refusal(t, err).What != "Not started." {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(t.Context(), Command{}); err == nil {
		t.Error("an empty command was started")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(over, sh("true")); err == nil {
		t.Error("a command was started after the end of its context")
	}
}

func TestOpenReadsStdin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "got")
	c := sh("cat > '" + file + "'")
	c.Stdin = "a script\n"
	o, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, o)
	if b, _ := os.ReadFile(file); string(b) != c.Stdin {
		t.Errorf("it read %q", b)
	}
}

// TestOpenOutlives ends the program that opened a window, and sees that the window's command lives on, even
// when it writes to its standard error and is hung up on by nobody.
func TestOpenOutlives(t *testing.T) {
	dir := t.TempDir()
	done, status := filepath.Join(dir, "done"), filepath.Join(dir, "status")
	script := "cat /proc/self/status > '" + status + "'; sleep 0.3; i=0; while [ $i -lt 5000 ]; do echo a warning that nobody reads any more >&2; i=$((i+1)); done; echo lives > '" + done + "'"
	// The opener is itself started to ignore a hang-up.
	opener := exec.Command("sh", "-c", `trap "" HUP; exec "$0" "$@"`, self(t), "open", "sh", "-c", script)
	out, err := opener.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !poll(t.Context(), 10*time.Second, func() bool { b, _ := os.ReadFile(done); return string(b) == "lives\n" }) {
		t.Error("the command ended with the one that opened it")
	}
	b, err := os.ReadFile(status)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if mask, ok := strings.CutPrefix(line, "SigIgn:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			if err != nil || n&1 != 0 {
				t.Errorf("it ignores a hang-up: %s", line)
			}
		}
	}
}

// TestOpenLeavesNothing counts open files over many openings.
func TestOpenLeavesNothing(t *testing.T) {
	count := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	first, err := Open(t.Context(), sh("exit 0")) // what the runtime opens once
	if err != nil {
		t.Fatal(err)
	}
	wait(t, first)
	before := count()
	for range 10 {
		o, err := Open(t.Context(), sh("echo x >&2; exit 1"))
		if err != nil {
			t.Fatal(err)
		}
		wait(t, o)
	}
	if after := count(); after > before {
		t.Errorf("%d files are open, before %d", after, before)
	}
}

func TestFindProgram(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kitty"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "no-program"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "/bin")
	for _, c := range []struct {
		program, path string
		want          string
	}{
		{"kitty", dir, filepath.Join(dir, "kitty")},
		{"kitty", "relative:" + dir, filepath.Join(dir, "kitty")},
		{"no-program", dir + ":/nowhere", ""},
		{"sh", "/nowhere", "/bin/sh"}, // in the tower's own
		{"/bin/sh", "", "/bin/sh"},
		{"/bin/no-such", "", ""},
	} {
		got, ok := find(c.program, []string{"PATH=/first", "PATH=" + c.path})
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("find(%s, %s) = %s, %v, want %q", c.program, c.path, got, ok, c.want)
		}
	}
}
