package proc

import (
	"errors"

	"tower/core"
)

// ErrGone is what Watch returns for a process that does not run any more.
var ErrGone = errors.New("process is gone")

// ErrNoWatch is what Watch returns where the system cannot tell the end of a foreign process.
var ErrNoWatch = errors.New("this system does not tell when a process ends")

// Watcher tells the end of processes within a moment, at no cost while they run. It is an addition:
// where it is not supported, or runs out of descriptors, Watch says so and the poll notices later.
type Watcher struct{ watcher }

// NewWatcher returns a Watcher that calls gone once for every watched process that ends. The calls
// come one after the other from a goroutine of the Watcher, which Close ends; gone must not block
// for long and may call Watch and Forget, but not Close.
func NewWatcher(gone func(core.Process)) *Watcher {
	w := &Watcher{}
	w.init(gone)
	return w
}

// Watch begins to watch a process. Watching it twice is once. It fails with ErrGone when the pid is
// free, a zombie's, or another process's by now; gone is not called then.
func (w *Watcher) Watch(p core.Process) error { return w.watch(p) }

// Forget ends the watch of a process; gone is not called for it any more, unless it is being called
// right now.
func (w *Watcher) Forget(p core.Process) { w.forget(p) }

// Close ends all watches and waits for the last call of gone to return.
func (w *Watcher) Close() error { return w.close() }
