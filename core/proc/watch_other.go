//go:build !linux

package proc

import "tower/core"

// watcher has no body here: the end of a foreign process is left to the poll.
type watcher struct{}

func (w *watcher) init(func(core.Process))  {}
func (w *watcher) watch(core.Process) error { return ErrNoWatch }
func (w *watcher) forget(core.Process)      {}
func (w *watcher) close() error             { return nil }
