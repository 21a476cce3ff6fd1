package sweep

import (
	"os"
	"syscall"

	"tower/core"
)

func fingerprint(info os.FileInfo) core.Fingerprint {
	f := core.Fingerprint{Size: info.Size(), MTime: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		f.Device, f.Inode, f.CTime = uint64(st.Dev), st.Ino, st.Ctimespec.Nano()
	}
	return f
}
