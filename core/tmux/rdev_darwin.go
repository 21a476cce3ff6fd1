package tmux

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// rdev is not verified: compiled only. The process table holds the number as stat(2) answers it.
func rdev(tty string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(tty, &st); err != nil {
		return 0, fmt.Errorf("look at terminal %s: %w", tty, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return 0, fmt.Errorf("look at terminal %s: not a device", tty)
	}
	return uint64(uint32(st.Rdev)), nil
}
