//go:build unix

package inbox

import "syscall"

const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
