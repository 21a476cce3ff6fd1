//go:build unix

package proc

import (
	"errors"
	"syscall"

	"tower/core"
)

// proveAndKill is Signal without a descriptor that holds the process: between the two steps the pid
// could, in theory, be given away.
func proveAndKill(p core.Process, sig syscall.Signal) error {
	if err := prove(p); err != nil {
		if !exists(p.PID) {
			return ErrGone
		}
		return err
	}
	switch err := syscall.Kill(p.PID, sig); {
	case errors.Is(err, syscall.ESRCH):
		return ErrGone
	case err != nil:
		return signalError(p, err)
	}
	return nil
}
