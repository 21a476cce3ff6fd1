//go:build unix

package proc

import (
	"errors"
	"syscall"
)

// exists tells whether any process has the pid; one that may not be signalled has it, too.
func exists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
