//go:build unix

package inbox

import (
	"io/fs"
	"os"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// create writes a new file. It goes past the os package, whose file asks the poller first and whose
// Rename looks before it leaps: half of the hook's system calls would be those.
func create(path string, data []byte) error {
	fd, err := open(path)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	for len(data) > 0 && err == nil {
		var n int
		n, err = syscall.Write(fd, data)
		if err == syscall.EINTR {
			err = nil
			continue
		}
		data = data[max(n, 0):]
	}
	if e := syscall.Close(fd); err == nil && e != syscall.EINTR {
		err = e // a full disk may show only here
	}
	if err != nil {
		os.Remove(path)
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

func open(path string) (int, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o600)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

func rename(from, to string) error {
	if err := syscall.Rename(from, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
