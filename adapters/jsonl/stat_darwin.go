package jsonl

import (
	"syscall"

	"tower/core"
)

func fingerprint(path string) (f core.Fingerprint, ok bool) {
	var st syscall.Stat_t
	for {
		err := syscall.Stat(path, &st)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
			return f, false
		}
		return core.Fingerprint{Device: uint64(st.Dev), Inode: st.Ino, Size: st.Size, MTime: st.Mtimespec.Nano(), CTime: st.Ctimespec.Nano()}, true
	}
}
