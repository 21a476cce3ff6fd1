package main

import (
	"fmt"
	"os"
	"os/exec"
)

const hookName = "tower-hook.exe"

func privately() *int { return nil }

// execAnew starts the program now on disk; this one ends. Not verified on a real system.
func execAnew() error {
	exe, err := os.Executable()
	if err == nil {
		err = exec.Command(exe, os.Args[1:]...).Start()
	}
	if err != nil {
		return fmt.Errorf("start anew: %w", err)
	}
	return nil
}
