package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tower/core/home"
)

// envDisk turns the test program into one that mounts a small disk for itself, installs the hook on
// it, spoils the disk and calls the hook. Its value is the folder to mount on; envHow says what is
// to be wrong with the disk.
const (
	envDisk = "TOWER_TEST_DISK"
	envHow  = "TOWER_TEST_HOW"
	envHook = "TOWER_TEST_HOOK"
)

const cannotMount = 9

func onDisk(dir string) int {
	fail := func(what string, err error) int {
		fmt.Println(what, err)
		return 1
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		fmt.Println(err)
		return cannotMount
	}
	if err := syscall.Mount("tower-test", dir, "tmpfs", 0, "size=4m"); err != nil {
		fmt.Println(err)
		return cannotMount
	}
	h := home.Home{Data: dir}
	program, err := os.ReadFile(os.Getenv(envHook))
	if err != nil {
		return fail("read hook", err)
	}
	for _, d := range []string{h.Bin(), h.Inbox()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fail("make", err)
		}
	}
	if err := os.WriteFile(h.HookBinary(), program, 0o700); err != nil {
		return fail("install", err)
	}
	// The log's last page has room left, as it nearly always has.
	if err := os.WriteFile(h.HookLog(), []byte("before\n"), 0o600); err != nil {
		return fail("log", err)
	}
	switch os.Getenv(envHow) {
	case "full":
		f, err := os.Create(filepath.Join(dir, "ballast"))
		if err != nil {
			return fail("fill", err)
		}
		for block := make([]byte, 4096); err == nil; {
			_, err = f.Write(block)
		}
		f.Close()
	case "read-only":
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=4m"); err != nil {
			return fail("remount", err)
		}
	}
	cmd := exec.Command(h.HookBinary(), "claude", "Stop")
	cmd.Stdin = strings.NewReader(`{"session_id":"s","x":"` + strings.Repeat("y", 20_000) + `"}`)
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		return fail("hook: "+string(out), err)
	}
	entries, err := os.ReadDir(h.Inbox())
	if err != nil {
		return fail("inbox", err)
	}
	for _, e := range entries {
		fmt.Println("found", e.Name())
	}
	log, err := os.ReadFile(h.HookLog())
	if err != nil {
		return fail("log", err)
	}
	fmt.Printf("log %s", log)
	return 0
}

func TestBadDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount a disk of its own")
	}
	bin, err := hookBuilt()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ how, want string }{
		{"fine", "log before\n20"},
		{"full", "no space left on device"},
		{"read-only", "log before\n"},
	} {
		t.Run(c.how, func(t *testing.T) {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), envDisk+"="+t.TempDir(), envHow+"="+c.how, envHook+"="+bin)
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
			b, err := cmd.CombinedOutput()
			out := string(b)
			if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() == cannotMount {
				t.Skipf("may not mount here: %v %s", err, out)
			}
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if found := strings.Contains(out, "found "); found != (c.how == "fine") {
				t.Errorf("files in the inbox: %s", out)
			}
			if !strings.Contains(out, c.want) {
				t.Errorf("%q is not in %q", c.want, out)
			}
		})
	}
}
