//go:build unix

package launch

import (
	"errors"
	"os"
	"runtime"
	"syscall"

	"tower/core/proc"
)

// become replaces the launcher by the program.
func (l *launcher) become(program string, argv, env []string) error {
	// The report is worth less than the agent: the tower finds it by the token as well.
	_ = l.tell(EventExec, proc.Self(), "")
	runtime.LockOSThread() // the mask that is set is the thread's, and the thread's that the agent gets
	defer runtime.UnlockOSThread()
	if l.order.Umask != nil {
		defer syscall.Umask(syscall.Umask(*l.order.Umask))
	}
	closeOnExec()
	freshSignals()
	return syscall.Exec(program, argv, env)
}

// nullIn makes standard input empty.
func nullIn() error {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer f.Close()
	return dup(int(f.Fd()), 0)
}

func executable(file string) error {
	const x = 1 // X_OK
	if syscall.Access(file, x) != nil {
		return errors.New("it is not executable")
	}
	return nil
}

// endings are those that a program's name may lack.
func endings(string, []string) []string { return []string{""} }

// closeListed marks every open descriptor but the first three, as a folder of them lists it.
func closeListed(folder string) {
	f, err := os.Open(folder)
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		fd := 0
		for _, c := range name {
			if c < '0' || c > '9' || fd > 1<<20 {
				fd = 0
				break
			}
			fd = fd*10 + int(c-'0')
		}
		if fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
