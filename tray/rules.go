package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watchRules prepares the standing rules again whenever the person changes a file of them. Without a
// watch they are prepared at the next start.
func (a *app) watchRules(ctx context.Context) error {
	dir := a.env.Home.Rules()
	for _, d := range []string{dir, filepath.Join(dir, "projects")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			a.log.Warn("rules are not watched", "error", err)
			return nil
		}
	}
	w, err := fsnotify.NewWatcher()
	if err == nil {
		defer w.Close()
		err = w.Add(dir)
	}
	if err == nil {
		err = w.Add(filepath.Join(dir, "projects"))
	}
	if err != nil {
		a.log.Warn("rules are not watched", "error", err)
		return nil
	}
	a.prepareRules() // what changed before the watch stood
	ring := time.NewTimer(time.Hour)
	defer ring.Stop()
	for {
		select {
		case <-w.Events:
			ring.Reset(200 * time.Millisecond)
		case err := <-w.Errors:
			a.log.Warn("watch rules", "error", err)
			ring.Reset(200 * time.Millisecond)
		case <-ring.C:
			a.prepareRules()
		case <-ctx.Done():
			return nil
		}
	}
}
