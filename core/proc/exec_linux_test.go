package proc

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// envExecs is how often a child still becomes another program.
const envExecs = "TOWER_TEST_EXECS"

// becomes has a child become itself once more, from another thread than its first.
func becomes() {
	n, err := strconv.Atoi(os.Getenv(envExecs))
	if err != nil || n == 0 {
		return
	}
	os.Setenv(envExecs, strconv.Itoa(n-1))
	done := make(chan error)
	runtime.LockOSThread()
	go func() { // on another thread, since this one is taken
		runtime.LockOSThread()
		self, err := os.Executable()
		if err == nil {
			err = syscall.Exec(self, os.Args, os.Environ())
		}
		done <- err
	}()
	panic(<-done)
}

// TestExecIsNoEnd watches a process of many threads that becomes another program again and again, as the
// launcher does once: it never is dead, gone or another one in between.
func TestExecIsNoEnd(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), envChild+"=1", envExecs+"=100")
	in, err := cmd.StdinPipe() // closed at the end, when the last one reads it
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := procOf(t, cmd.Process.Pid)
	up := make(chan struct{})
	go func() { out.Read(make([]byte, 3)); close(up) }()
	looks := 0
	for running := true; running; looks++ {
		if now, ok := row(p.PID); !ok || now.Start != p.Start || now.Dead() {
			t.Errorf("look %d: %+v, %v", looks, now, ok)
			break
		}
		if looks%16 == 0 {
			if err := Signal(p, 0); errors.Is(err, ErrGone) || errors.Is(err, ErrOther) {
				t.Errorf("look %d: %v", looks, err)
				break
			}
		}
		select {
		case <-up:
			running = false
		default:
		}
	}
	in.Close()
	cmd.Wait()
	t.Logf("%d looks", looks)
}
