package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Make creates the folders of the home that do not exist yet, each for its owner only. A folder that
// is already there keeps its mode, because it may be one that a person chose; the runtime folder
// alone is checked, since it lies where other users can write: one that is a link, belongs to
// somebody else or is open to others is an error, never repaired. Without a Runtime none is made. Call
// CheckPlace first.
func (h Home) Make() error {
	dirs := []string{
		h.Config, h.Rules(), h.Profiles(),
		h.Data, h.Backup(), h.Inbox(), h.Processed(), h.Bad(), h.Launches(), h.Missions(),
		h.Prepared(), h.Bin(), h.Window(),
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	// What the tower opens at once when it starts: a pipe in that place would keep it waiting for ever.
	for _, file := range []string{h.Lock(), h.Log()} {
		if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
			return &fs.PathError{Op: "open", Path: file, Err: errNotRegular}
		}
	}
	if h.Runtime == "" {
		return nil
	}
	return h.makeRuntime()
}

func (h Home) makeRuntime() error {
	err := os.Mkdir(h.Runtime, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make runtime folder: %w", err)
	}
	// Lstat, not Stat: a link planted by another user would lead our socket to where he likes.
	info, err := os.Lstat(h.Runtime)
	if err != nil {
		return fmt.Errorf("check runtime folder: %w", err)
	}
	if why := unsafeRuntime(info); why != "" {
		return fmt.Errorf("runtime folder %s %s: remove it and start again", h.Runtime, why)
	}
	return nil
}
