package proc

import "syscall"

// exists tells whether any process has the pid. Not verified: compiled only.
func exists(pid int) bool {
	h, err := syscall.OpenProcess(queryLimited, false, uint32(pid))
	if err == nil {
		syscall.CloseHandle(h)
	}
	return err != invalidParameter
}
