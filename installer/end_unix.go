//go:build !windows

package installer

import (
	"os/exec"
	"syscall"
)

// endAll makes the end of the deadline the end of the agent and of what it started: a group of its
// own, which is signalled as one.
func endAll(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
