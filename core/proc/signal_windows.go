package proc

import (
	"errors"
	"syscall"

	"tower/core"
)

// Not verified: compiled only.

const (
	processTerminate  = 0x0001
	invalidParameter  = syscall.Errno(87) // what OpenProcess says of a pid that is free
	endedFromOutside  = 1
	onlyKillOnWindows = "Windows can only end a process at once, it has no signal that asks it to end"
)

func signal(p core.Process, sig syscall.Signal) error {
	if sig != syscall.SIGKILL {
		return signalError(p, errors.New(onlyKillOnWindows))
	}
	// The open handle keeps the pid from being given away.
	h, err := syscall.OpenProcess(processTerminate|queryLimited, false, uint32(p.PID))
	if err != nil {
		if errors.Is(err, invalidParameter) {
			return ErrGone
		}
		return signalError(p, err)
	}
	defer syscall.CloseHandle(h)
	if err := prove(p); err != nil {
		return err
	}
	if err := syscall.TerminateProcess(h, endedFromOutside); err != nil {
		return signalError(p, err)
	}
	return nil
}
