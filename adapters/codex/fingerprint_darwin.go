package codex

import (
	"io/fs"
	"syscall"

	"tower/core"
)

func fingerprint(path string) (core.Fingerprint, error) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return core.Fingerprint{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return core.Fingerprint{}, errIrregular
	}
	return core.Fingerprint{
		Device: uint64(st.Dev), Inode: st.Ino, Size: st.Size,
		MTime: st.Mtimespec.Nano(), CTime: st.Ctimespec.Nano(),
	}, nil
}
