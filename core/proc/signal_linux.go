package proc

import (
	"syscall"

	"tower/core"
)

// sysPidfdSendSignal is pidfd_send_signal(2), which has this number on every architecture.
const sysPidfdSendSignal = 424

func signal(p core.Process, sig syscall.Signal) error {
	fd, err := pidfd(p.PID)
	switch err {
	case nil:
	case syscall.ESRCH:
		return ErrGone
	case syscall.ENOSYS, syscall.EPERM: // an old kernel, or a filter that has not heard of the call
		return proveAndKill(p, sig)
	default:
		return signalError(p, err)
	}
	defer syscall.Close(fd)
	// The proof comes after opening: an equal start now means that the pid has been the process's all
	// the time, so the descriptor is its own whatever happens to the pid from here on.
	if err := prove(p); err != nil {
		if exited(fd) {
			return ErrGone
		}
		return err
	}
	switch _, _, errno := syscall.Syscall6(sysPidfdSendSignal, uintptr(fd), uintptr(sig), 0, 0, 0, 0); errno {
	case 0:
		return nil
	case syscall.ESRCH:
		return ErrGone
	case syscall.ENOSYS: // a filter that lets the one call pass and not the other
		return proveAndKill(p, sig)
	default:
		return signalError(p, errno)
	}
}

// pidfd opens a descriptor that stands for the process which has the pid now, for ever.
func pidfd(pid int) (int, error) {
	for {
		fd, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(pid), 0, 0)
		switch errno {
		case 0:
			return int(fd), nil
		case syscall.EINTR:
		default:
			return -1, errno
		}
	}
}
