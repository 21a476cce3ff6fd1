//go:build unix

package tmux

import (
	"os"

	"golang.org/x/sys/unix"
)

// takeBack reads whatever still waits in a pipe. The far end may be read by somebody else at the same
// time, so it must not block.
func takeBack(f *os.File) {
	fd := int(f.Fd())
	if unix.SetNonblock(fd, true) != nil {
		return
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return
		}
	}
}
