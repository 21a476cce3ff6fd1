package home

import (
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"
)

// Not verified: compiled only.

const driveRemote = 4

// fileSystem names the type of the file system that holds an existing folder, as far as Windows
// tells: "remote" for a share, mapped to a letter or not.
func fileSystem(dir string) string {
	volume := filepath.VolumeName(dir)
	if strings.HasPrefix(volume, `\\`) {
		return "remote"
	}
	root, err := syscall.UTF16PtrFromString(volume + `\`)
	if err != nil {
		return ""
	}
	kind, _, _ := syscall.NewLazyDLL("kernel32.dll").NewProc("GetDriveTypeW").Call(uintptr(unsafe.Pointer(root)))
	if kind == driveRemote {
		return "remote"
	}
	return ""
}
