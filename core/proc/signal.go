package proc

import (
	"errors"
	"fmt"
	"syscall"

	"tower/core"
)

// ErrOther is what Signal returns when the pid lives and is not, or cannot be proven to be, the
// process asked for: its start differs or cannot be read, or the process is of another boot.
var ErrOther = errors.New("process is another one by now")

// Signal sends a signal to exactly this process. It proves once more that the process is the one asked
// for directly before the signal, and sends nothing in doubt: ErrGone when it does not run any more (a
// zombie does not), ErrOther when something else has its pid. Any other error is the system's own
// refusal. On Linux nothing can slip in between proof and signal; elsewhere, and on a kernel without
// pidfds, a pid that is freed and given away within those microseconds would be hit. Windows knows no
// signals: there SIGKILL alone works and ends the process at once.
func Signal(p core.Process, sig syscall.Signal) error {
	if !p.Known() || p.Boot == "" || p.Boot != boot() {
		return ErrOther
	}
	return signal(p, sig)
}

// Row reads the row of one process, false when there is none or it cannot be read. Its state tells
// whether it has ended.
func Row(pid int) (core.Proc, bool) { return row(pid) }

// prove compares a process with what the table says of its pid now.
func prove(p core.Process) error {
	now, ok := row(p.PID)
	switch {
	case !ok:
		return ErrOther // hidden or unreadable, if it is not gone; the caller knows which
	case now.Start != p.Start:
		return ErrOther
	case now.Dead():
		return ErrGone
	}
	return nil
}

func signalError(p core.Process, err error) error {
	return fmt.Errorf("signal process %d: %w", p.PID, err)
}
