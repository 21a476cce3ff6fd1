//go:build unix

package launch

import "syscall"

func umask() int {
	m := syscall.Umask(0)
	syscall.Umask(m)
	return m
}
