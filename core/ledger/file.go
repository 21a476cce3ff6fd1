package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// prepareFile makes sure that path can be written, in words of its own (SQLite's "unable to open
// database file" names no cause), and that nobody else can read it.
func prepareFile(path string) error {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil {
		return fmt.Errorf("open ledger %q: %w", path, err)
	} else if !info.IsDir() {
		return fmt.Errorf("open ledger %q: %q is no folder", path, dir)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("open ledger %q: it is no regular file", path)
	}
	// The log and its index are made beside the file, so the folder must be writable too.
	probe, err := os.CreateTemp(dir, ".ledger-probe-*")
	if err != nil {
		return notWritable(path, "its folder cannot be written", err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return notWritable(path, "its folder cannot be written", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return notWritable(path, "the file cannot be written", err)
	}
	if err := f.Close(); err != nil {
		return notWritable(path, "the file cannot be written", err)
	}
	if runtime.GOOS == "windows" {
		return nil // a mode says nothing there
	}
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && info.Mode().Perm() != 0o600 {
			err = os.Chmod(p, 0o600)
		}
		if err != nil {
			return notWritable(path, "its mode cannot be set to 0600", err)
		}
	}
	return nil
}

func notWritable(path, why string, err error) error {
	kind := ErrReadOnly
	if diskFull(err) {
		kind = ErrFull
	}
	return fmt.Errorf("open ledger %q: %w: %s: %w", path, kind, why, err)
}

// checkHeader looks at the first bytes before SQLite does: to SQLite a file of another kind is one
// more error, and a file of another program none at all.
func checkHeader(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 100)
	n, err := io.ReadFull(f, head)
	if err == io.EOF {
		return ErrNoLedger // empty
	}
	if err != nil && err != io.ErrUnexpectedEOF {
		return err
	}
	if n < len(head) || !bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
		return ErrCorrupt
	}
	return nil
}

// logged tells whether there is a write-ahead log with something in it.
func logged(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}
