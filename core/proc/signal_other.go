//go:build unix && !linux

package proc

import (
	"syscall"

	"tower/core"
)

func signal(p core.Process, sig syscall.Signal) error { return proveAndKill(p, sig) }
