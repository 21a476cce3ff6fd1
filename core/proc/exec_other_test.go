//go:build !linux

package proc

// becomes is for the test of what a process is while it becomes another program, which only Linux has.
func becomes() {}
