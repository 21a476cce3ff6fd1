//go:build linux

package installer

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bare is a machine with nothing but Go and what deps.sh itself is made of.
type bare struct{ bin, said string }

func newBare(t *testing.T, uid string) *bare {
	b := &bare{bin: t.TempDir()}
	b.said = filepath.Join(t.TempDir(), "calls")
	b.put(t, "uname", "echo Linux")
	b.put(t, "id", "echo "+uid)
	b.put(t, "go", "")
	b.put(t, "env", `shift; exec "$@"`) // its one use here is env K=V COMMAND
	b.put(t, "apt-get", `echo "apt-get $*" >>"$CALLS"; case $1 in install) printf '#!/bin/sh\n' >"$BIN/gcc"; /bin/chmod 755 "$BIN/gcc";; esac`)
	return b
}

func (b *bare) put(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// deps runs deps.sh there, with no terminal, and returns what it said and the exit code.
func (b *bare) deps(t *testing.T, goal string) (string, int) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "deps.sh", goal)
	cmd.Env = []string{"PATH=" + b.bin, "BIN=" + b.bin, "CALLS=" + b.said}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (b *bare) calls(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(b.said)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func TestDepsInstallsAsRoot(t *testing.T) {
	b := newBare(t, "0")
	said, code := b.deps(t, "run")
	if code != 0 || !strings.Contains(said, "installing: gcc libc6-dev") {
		t.Errorf("said %q, exit %d", said, code)
	}
	if want := "apt-get update -qq\napt-get install -y -qq --no-install-recommends gcc libc6-dev\n"; b.calls(t) != want {
		t.Errorf("called %q, want %q", b.calls(t), want)
	}
	if said, code := b.deps(t, "run"); said != "" || code != 0 {
		t.Errorf("with nothing missing it said %q, exit %d", said, code)
	}
}

func TestDepsNamesTheOneCommand(t *testing.T) {
	const command = "apt-get update && apt-get install --no-install-recommends gcc libc6-dev"
	b := newBare(t, "1000")
	said, code := b.deps(t, "run")
	if want := "required: a C compiler missing\ninstall with (as root): " + command + "\n"; said != want || code != 1 {
		t.Errorf("without sudo it said %q, exit %d, want %q", said, code, want)
	}
	b.put(t, "sudo", `echo "sudo $*" >>"$CALLS"`)
	said, code = b.deps(t, "run")
	want := "install with: sudo " + strings.Replace(command, "&& ", "&& sudo ", 1) + "\n"
	if !strings.HasSuffix(said, want) || code != 1 {
		t.Errorf("with sudo it said %q, exit %d, want %q", said, code, want)
	}
	if b.calls(t) != "" {
		t.Errorf("nobody was asked, and it called %q", b.calls(t))
	}
}

func TestDepsGoesWithoutTheOptional(t *testing.T) {
	b := newBare(t, "1000")
	b.put(t, "gcc", "")
	said, code := b.deps(t, "test")
	if code != 0 || !strings.Contains(said, "optional: tmux is missing, so what drives a terminal is left out\n") || !strings.Contains(said, "to have it all (as root): apt-get update && ") {
		t.Errorf("said %q, exit %d", said, code)
	}
	if err := os.Remove(filepath.Join(b.bin, "go")); err != nil {
		t.Fatal(err)
	}
	if said, code := b.deps(t, "run"); code != 1 || !strings.HasPrefix(said, "required: Go 1.26 or newer is missing") {
		t.Errorf("without Go it said %q, exit %d", said, code)
	}
}

func TestDepsWantsTerminalsForTheEndToEndGate(t *testing.T) {
	b := newBare(t, "1000")
	b.put(t, "gcc", "")
	said, code := b.deps(t, "e2e")
	if code != 1 {
		t.Errorf("exit %d, want 1:\n%s", code, said)
	}
	line, _, _ := strings.Cut(said[strings.Index(said, "required:"):], "\n")
	for _, program := range []string{"tmux", "dbus-daemon", "node", "Xvfb", "openbox", "xterm", "kitty", "alacritty", "xfce4-terminal", "gnome-terminal", "xdotool"} {
		if !strings.Contains(line, program) {
			t.Errorf("%q does not name %s", line, program)
		}
	}
	for _, pkg := range []string{" xvfb ", " kitty libgl1-mesa-dri ", " gnome-terminal dconf-service\n"} {
		if !strings.Contains(said, pkg) {
			t.Errorf("the command does not install%s:\n%s", pkg, said)
		}
	}
	for _, program := range []string{"Xvfb", "openbox", "xterm"} {
		said, code := b.deps(t, "test")
		if code != 0 || !strings.Contains(said, "optional: "+program+" is missing") {
			t.Errorf("the tests go without %s, and deps.sh said %q, exit %d", program, said, code)
		}
	}
	b.put(t, "kitty", "")
	if said, _ := b.deps(t, "e2e"); strings.Contains(said, "kitty") {
		t.Errorf("kitty is there, and it said %q", said)
	}
}
