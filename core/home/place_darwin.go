package home

import "syscall"

// Not verified: compiled only.

const mntLocal = 0x1000

// fileSystem names the type of the file system that holds an existing folder.
func fileSystem(dir string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return ""
	}
	var name []byte
	for _, c := range st.Fstypename {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	if networkName(string(name)) == "" && st.Flags&mntLocal == 0 {
		return "remote"
	}
	return string(name)
}
