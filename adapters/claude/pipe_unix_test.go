//go:build unix

package claude

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"tower/adapters/adaptertest"
	"tower/core"
)

// TestRecordIsAPipe: nothing waits for a record that nobody writes, and the others are read.
func TestRecordIsAPipe(t *testing.T) {
	a := New(testInfo(t.TempDir()))
	p := register(t, a.info.Root, "interactive-cli-idle")
	q := adaptertest.RecordedProc{Proc: core.Proc{PID: 77, Start: 1}, Exe: testExe}
	z := adaptertest.RecordedProc{Proc: core.Proc{PID: 78, Start: 1}, Exe: testExe}
	dir := filepath.Join(a.info.Root, "sessions")
	if err := syscall.Mkfifo(filepath.Join(dir, strconv.Itoa(q.PID)+".json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, strconv.Itoa(z.PID)+".json")); err != nil {
		t.Fatal(err)
	}
	seen, err := a.Evidence(t.Context(), adaptertest.NewTable("boot", p, q, z))
	if err != nil || len(seen) != 1 {
		t.Errorf("Evidence = %v, %v, want one session", seen, err)
	}
}
