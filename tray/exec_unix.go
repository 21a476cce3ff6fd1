//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

const hookName = "tower-hook"

// privately makes every file this process writes the person's alone. It returns what the person's own files
// are made with, for programs that are started for them; nil where there is no such thing.
func privately() *int {
	was := syscall.Umask(0o077)
	return &was
}

// execAnew replaces the program by the one now on disk, under the same pid.
func execAnew() error {
	exe, err := os.Executable()
	if err == nil {
		err = syscall.Exec(exe, os.Args, os.Environ())
	}
	return fmt.Errorf("start anew: %w", err)
}
