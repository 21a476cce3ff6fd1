//go:build !unix

package inbox

import "os"

// noFollow has no flag here; the check of the opened file has to do.
const noFollow = 0

func create(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}

func rename(from, to string) error { return os.Rename(from, to) }
