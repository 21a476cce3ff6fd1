package tmux

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// rdev puts major and minor together as the kernel does in /proc/PID/stat, which differs from what
// stat(2) answers for minors of 256 and more.
func rdev(tty string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(tty, &st); err != nil {
		return 0, fmt.Errorf("look at terminal %s: %w", tty, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return 0, fmt.Errorf("look at terminal %s: not a device", tty)
	}
	device := uint64(st.Rdev)
	return kernelDevice(uint64(unix.Major(device)), uint64(unix.Minor(device))), nil
}

func kernelDevice(major, minor uint64) uint64 {
	return minor&0xff | major<<8 | (minor&^0xff)<<12
}
