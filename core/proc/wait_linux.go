package proc

import (
	"context"
	"os"
	"syscall"
	"time"
	"unsafe"

	"tower/core"
)

// wait lets the runtime's own poller watch a pidfd, which becomes readable when the process ends: it
// holds no thread, and the context wakes it through the deadline.
func wait(ctx context.Context, p core.Process) error {
	fd, err := pidfd(p.PID)
	if err == syscall.ESRCH {
		return nil
	}
	if err != nil {
		return waitTable(ctx, p)
	}
	if now, ok := row(p.PID); ok && (now.Start != p.Start || now.Dead()) {
		syscall.Close(fd)
		return nil
	}
	// A row that cannot be read may be of a process that is hidden. Whatever has the pid, as long as it
	// runs nobody can say that the process asked for is gone.
	if err := syscall.SetNonblock(fd, true); err != nil {
		syscall.Close(fd)
		return waitTable(ctx, p)
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	if err := f.SetReadDeadline(time.Time{}); err != nil {
		return waitTable(ctx, p) // this kernel does not let it be polled
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return waitTable(ctx, p)
	}
	defer context.AfterFunc(ctx, func() { f.SetReadDeadline(time.Unix(1, 0)) })()
	if err := conn.Read(func(fd uintptr) bool { return exited(int(fd)) }); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return waitTable(ctx, p)
	}
	return nil
}

// pollfd is struct pollfd of poll(2).
type pollfd struct {
	fd      int32
	events  int16
	revents int16
}

// exited tells whether the process of a pidfd has ended, without waiting.
func exited(fd int) bool {
	one := pollfd{fd: int32(fd), events: 1} // POLLIN
	var now syscall.Timespec
	for {
		n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&one)), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		return errno == 0 && n == 1 && one.revents&1 != 0
	}
}
