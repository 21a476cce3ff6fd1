package main

import (
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// read fills the input from a stream until its value is whole, the stream ends or the time is up. It
// returns by how much the first byte came after the time for all of it. It waits by select(2): a
// goroutine to read and a timer to give up would be two threads more, which is a tenth of what a hook
// costs.
func (in *input) read(f *os.File, began time.Time) (late time.Duration) {
	fd := int(f.Fd())
	deadline := began.Add(inputDeadline)
	if !ready(fd, deadline) {
		if !ready(fd, began.Add(firstByte)) {
			return 0
		}
		late = time.Since(deadline)
		deadline = deadline.Add(late + inputDeadline)
	}
	buf := make([]byte, 8<<10)
	for ready(fd, deadline) {
		n, err := syscall.Read(fd, buf)
		switch {
		case err == syscall.EINTR || err == syscall.EAGAIN:
			continue
		case err == nil && n == 0:
			err = io.EOF
		}
		if !in.take(buf[:max(n, 0)], err) || time.Until(deadline) <= 0 {
			return late // a stream that never runs dry would be readable for ever
		}
		if n == len(buf) && n < 256<<10 {
			buf = make([]byte, 4*len(buf))
		}
	}
	return late
}

// ready waits until a read of the descriptor would not block, and tells false when the time is up.
func ready(fd int, deadline time.Time) bool {
	var set syscall.FdSet
	bits := int(unsafe.Sizeof(set.Bits[0])) * 8
	if fd < 0 || fd >= len(set.Bits)*bits {
		return false
	}
	for {
		left := max(time.Until(deadline), 0)
		tv := syscall.NsecToTimeval(left.Nanoseconds())
		set = syscall.FdSet{}
		set.Bits[fd/bits] = 1 << (fd % bits)
		n, err := syscall.Select(fd+1, &set, nil, nil, &tv)
		if err != syscall.EINTR {
			return err == nil && n > 0
		}
		if left == 0 {
			return false
		}
	}
}
