package home

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tower/core"
)

const envChild = "TOWER_TEST_PLACE"

// TestMain turns the test program into one that checks a place as another user, or on a file system
// that only it has mounted.
func TestMain(m *testing.M) {
	if dir := os.Getenv(envChild); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

func child(dir string) int {
	if os.Geteuid() == 0 {
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			fmt.Println("mount:", err)
			return 9
		}
		if err := syscall.Mount("tower-test", dir, "tmpfs", syscall.MS_RDONLY, ""); err != nil {
			fmt.Println("mount:", err)
			return 9
		}
	}
	err := CheckPlace(Home{Data: filepath.Join(dir, "tower")})
	var r *core.Refusal
	if !errors.As(err, &r) {
		fmt.Println("not refused:", err)
		return 1
	}
	fmt.Println(err)
	return 3
}

func place(t *testing.T, attr *syscall.SysProcAttr, dir string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount a file system or to become another user")
	}
	// Where another user can reach and run it.
	program := filepath.Join("/tmp", fmt.Sprintf("tower-place-%d.test", os.Getpid()))
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(program) })
	cmd := exec.Command(program)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), envChild+"="+dir)
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Skipf("cannot run it: %v", err)
	}
	if code := cmd.ProcessState.ExitCode(); code == 9 {
		t.Skipf("may not mount here: %s", out)
	} else if code != 3 {
		t.Fatalf("exit %d: %s", code, out)
	}
	return string(out)
}

func TestReadOnlyFileSystem(t *testing.T) {
	dir := t.TempDir()
	said := place(t, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}, dir)
	if !strings.Contains(said, dir) || !strings.Contains(said, "the file system is read-only") {
		t.Errorf("refusal = %q", said)
	}
}

func TestPermissionDenied(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "tower-place-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	said := place(t, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}, dir)
	if !strings.Contains(said, dir) || !strings.Contains(said, "permission denied") {
		t.Errorf("refusal = %q", said)
	}
}

func TestMountedType(t *testing.T) {
	table := []byte(`22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home/a\040b/mnt rw - fuse.sshfs host:/ rw,user_id=0
31 22 0:41 / /srv rw shared:2 master:3 - nfs4 host:/x rw
32 22 0:42 / /srv rw - tmpfs tmpfs rw
33 22 0:43 / /srvx rw - nfs host:/y rw
torn line
`)
	for dir, want := range map[string]string{
		"/":                     "ext4",
		"/home/a b":             "ext4",
		"/home/a b/mnt":         "fuse.sshfs",
		"/home/a b/mnt/x/tower": "fuse.sshfs",
		"/home/a b/mnt2":        "ext4",
		"/srv/x":                "tmpfs",
		"/srvx":                 "nfs",
	} {
		if got := mountedType(table, dir); got != want {
			t.Errorf("mountedType(%s) = %q, want %q", dir, got, want)
		}
	}
}
