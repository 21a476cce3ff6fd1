package term

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detached gives the command neither the tower's console nor its Ctrl-C.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// newTail makes the pipe the command writes its standard error into. When the tower ends, writing fails and
// ends nobody.
func newTail() (*tail, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	return &tail{parent: r, child: w}, nil
}

// stop ends read. A child of the command may still hold its side.
func (t *tail) stop() { t.parent.Close() }

func startDefault(cmd *exec.Cmd) error { return cmd.Start() }
