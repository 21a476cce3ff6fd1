//go:build unix

package home

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	accessWrite = 2
	accessEnter = 1
)

// noWait opens a pipe at once.
const noWait = syscall.O_NONBLOCK

// writable tells whether this user may make files in a folder, without making one. It also sees a
// file system that is mounted read-only.
func writable(dir string) error {
	return syscall.Access(dir, accessWrite|accessEnter)
}

func usable(dir string, own bool) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || own && !ours(info) {
		return false
	}
	return writable(dir) == nil
}

func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

func unsafeRuntime(info fs.FileInfo) string {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return "is a link"
	case !info.IsDir():
		return "is not a folder"
	case !ours(info):
		return "belongs to another user"
	case info.Mode().Perm()&0o077 != 0:
		return "is open to other users (mode " + info.Mode().Perm().String() + ")"
	}
	return ""
}
