//go:build !linux && !darwin && !windows

package proc

import (
	"errors"

	"tower/core"
)

// Nothing is known of processes on this system; everything is told as unknown.

type scratch struct{}

func boot() string { return "" }

func readRows(*scratch, []core.Proc) ([]core.Proc, error) {
	return nil, errors.New("read processes: not supported on this system")
}

func row(int) (core.Proc, bool)             { return core.Proc{}, false }
func exe(int) (string, bool)                { return "", false }
func args(int) ([]string, bool)             { return nil, false }
func firstArgs(int) []string                { return nil }
func cwd(int) (string, bool)                { return "", false }
func environ(int) (map[string]string, bool) { return nil, false }
func openFiles(int) ([]string, bool)        { return nil, false }
