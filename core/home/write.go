package home

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write puts one of Tower's own small files in place, 0600: a reader sees the former file or this one,
// whole. It is not flushed to the disk: what it is for is gone with the machine anyway.
func Write(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	_, err = f.Write(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %q: %w", path, err)
	}
	return nil
}
