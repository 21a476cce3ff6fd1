package proc

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"tower/core"
)

// sysPidfdOpen is pidfd_open(2), which has this number on every architecture; the syscall package is
// older than the call.
const sysPidfdOpen = 434

// watcher waits on all pidfds with one epoll. A watch is known to the kernel by a number of its own
// and not by its descriptor: one that is closed and opened again while an event is on its way would
// make the new process look gone.
type watcher struct {
	gone func(core.Process)

	mu     sync.Mutex
	opened bool
	failed error // why it cannot work, or that it is closed
	epoll  int
	wake   [2]int // a pipe; closing its far end wakes the loop for good
	next   uint32
	byKey  map[uint32]*watched
	byProc map[core.Process]uint32
	done   chan struct{}
}

type watched struct {
	proc core.Process
	fd   int
}

const wakeKey = 0

var errClosed = errors.New("watcher is closed")

func (w *watcher) init(gone func(core.Process)) {
	w.gone, w.done = gone, make(chan struct{})
	w.byKey, w.byProc = map[uint32]*watched{}, map[core.Process]uint32{}
	if w.failed = w.open(); w.failed != nil {
		close(w.done)
		return
	}
	go w.loop()
}

func (w *watcher) open() error {
	var err error
	if w.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("watch processes: %w", err)
	}
	if err = syscall.Pipe2(w.wake[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		syscall.Close(w.epoll)
		return fmt.Errorf("watch processes: %w", err)
	}
	if err = w.add(w.wake[0], wakeKey); err != nil {
		syscall.Close(w.epoll)
		syscall.Close(w.wake[0])
		syscall.Close(w.wake[1])
		return fmt.Errorf("watch processes: %w", err)
	}
	w.opened = true
	return nil
}

func (w *watcher) add(fd int, key uint32) error {
	return syscall.EpollCtl(w.epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(key)})
}

func (w *watcher) watch(p core.Process) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	if _, ok := w.byProc[p]; ok {
		return nil
	}
	fd, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(p.PID), 0, 0)
	switch errno {
	case 0:
	case syscall.ESRCH:
		return ErrGone
	case syscall.ENOSYS, syscall.EPERM: // an old kernel, or a filter that has not heard of the call
		return ErrNoWatch
	default:
		return fmt.Errorf("watch process %d: %w", p.PID, errno)
	}
	// The start is compared after opening: from here on the descriptor stands for whatever had the pid
	// at that moment, so an equal start now means that it is the one asked for.
	now, ok := row(p.PID)
	if !ok || now.Start != p.Start || now.Dead() {
		syscall.Close(int(fd))
		return ErrGone
	}
	w.next++
	if w.next == wakeKey {
		w.next++
	}
	if err := w.add(int(fd), w.next); err != nil {
		syscall.Close(int(fd))
		return fmt.Errorf("watch process %d: %w", p.PID, err)
	}
	w.byKey[w.next] = &watched{proc: p, fd: int(fd)}
	w.byProc[p] = w.next
	return nil
}

func (w *watcher) forget(p core.Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if key, ok := w.byProc[p]; ok {
		w.drop(key)
	}
}

// drop ends one watch; the lock is held. The descriptor is taken out by hand, because a child that is
// just being started may hold a copy, and closing ours would not end it then.
func (w *watcher) drop(key uint32) (core.Process, bool) {
	one, ok := w.byKey[key]
	if !ok {
		return core.Process{}, false
	}
	syscall.EpollCtl(w.epoll, syscall.EPOLL_CTL_DEL, one.fd, nil)
	syscall.Close(one.fd)
	delete(w.byKey, key)
	delete(w.byProc, one.proc)
	return one.proc, true
}

func (w *watcher) loop() {
	defer close(w.done)
	events := make([]syscall.EpollEvent, 32)
	for {
		n, err := syscall.EpollWait(w.epoll, events, -1)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			w.mu.Lock()
			if w.failed == nil {
				w.failed = fmt.Errorf("watch processes: %w", err)
			}
			w.mu.Unlock()
			return
		}
		for _, e := range events[:n] {
			key := uint32(e.Fd)
			if key == wakeKey {
				return
			}
			w.mu.Lock()
			p, ok := w.drop(key)
			w.mu.Unlock()
			if ok {
				w.gone(p)
			}
		}
	}
}

func (w *watcher) close() error {
	w.mu.Lock()
	first := w.failed != errClosed
	w.failed = errClosed
	for key := range w.byKey {
		w.drop(key)
	}
	if first && w.opened {
		syscall.Close(w.wake[1])
	}
	w.mu.Unlock()
	<-w.done
	if first && w.opened {
		syscall.Close(w.wake[0])
		syscall.Close(w.epoll)
	}
	return nil
}
