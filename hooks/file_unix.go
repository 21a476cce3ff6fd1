//go:build unix

package main

import (
	"errors"
	"syscall"
)

// Files are opened past the os package, which would start the poller for each.

// readSmall reads a file of at most max bytes.
func readSmall(path string, max int) ([]byte, error) {
	fd, err := open(path, syscall.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	b := make([]byte, 0, 4<<10)
	for {
		if len(b) == cap(b) {
			b = append(b, make([]byte, len(b))...)[:len(b)]
		}
		n, err := syscall.Read(fd, b[len(b):cap(b)])
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return nil, err
		case n == 0:
			return b, nil
		}
		if b = b[:len(b)+n]; len(b) > max {
			return nil, errors.New("too large")
		}
	}
}

// appendTo adds a line to the end of a file in one write, and tells whether the file, which path
// still names, has grown to limit.
func appendTo(path, line string, limit int64) (full bool) {
	fd, err := open(path, syscall.O_WRONLY|syscall.O_APPEND|syscall.O_CREAT)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	syscall.Write(fd, []byte(line))
	var mine, now syscall.Stat_t
	if syscall.Fstat(fd, &mine) != nil || mine.Size < limit {
		return false
	}
	return syscall.Lstat(path, &now) == nil && now.Dev == mine.Dev && now.Ino == mine.Ino
}

// open never waits: in place of any file there may be a pipe without a reader.
func open(path string, flags int) (int, error) {
	for {
		fd, err := syscall.Open(path, flags|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0o600)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}
