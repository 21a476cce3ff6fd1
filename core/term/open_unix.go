//go:build unix

package term

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// detached puts the command into a session of its own, so that no terminal's end reaches it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// newTail makes what the command writes its standard error into. It is a pair of datagram sockets, because
// the command may live for weeks and the tower may not: into a pipe nobody reads from any more, a warning
// would end the terminal by SIGPIPE, and into one that is full it would stop it. A datagram nobody takes is
// merely lost, and the command's side never blocks.
func newTail() (*tail, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return nil, fmt.Errorf("make a socket pair: %w", err)
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			unix.Close(fds[0])
			unix.Close(fds[1])
			return nil, fmt.Errorf("make a socket pair: %w", err)
		}
	}
	return &tail{parent: os.NewFile(uintptr(fds[0]), "stderr"), child: os.NewFile(uintptr(fds[1]), "stderr")}, nil
}

// stop ends read once what was already written has been read. A child of the command may still hold its side.
func (t *tail) stop() { t.parent.SetReadDeadline(time.Now().Add(20 * time.Millisecond)) }

var hangup sync.Mutex

// startDefault starts the command with the default action for a hang-up. A tower that was started to ignore
// it hands that on otherwise, and then no window it opens would end when it is closed. While a handler is set
// the child gets the default; a hang-up in that instant is swallowed, which is what ignoring it means.
func startDefault(cmd *exec.Cmd) error {
	hangup.Lock()
	defer hangup.Unlock()
	if signal.Ignored(syscall.SIGHUP) {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGHUP)
		defer signal.Ignore(syscall.SIGHUP)
	}
	return cmd.Start()
}
