package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// replace writes a file whole or not at all. Not run on a real machine.
func replace(path string, content []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".tower-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(content); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// makeRoom moves a program that may be running out of the way, which is allowed where replacing it is
// not.
func makeRoom(path string) error {
	old := path + ".old"
	os.Remove(old)
	if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
