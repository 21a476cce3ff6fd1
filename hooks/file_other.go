//go:build !unix

package main

import (
	"errors"
	"io"
	"os"
)

// readSmall reads a file of at most max bytes.
func readSmall(path string, max int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(max)+1))
	if err == nil && len(b) > max {
		err = errors.New("too large")
	}
	return b, err
}

// appendTo adds a line to the end of a file in one write, and tells whether the file, which path
// still names, has grown to limit.
func appendTo(path, line string, limit int64) (full bool) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return false
	}
	defer f.Close()
	f.WriteString(line)
	mine, err := f.Stat()
	if err != nil || mine.Size() < limit {
		return false
	}
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, now)
}
