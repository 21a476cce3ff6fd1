//go:build !unix

package home

import (
	"io/fs"
	"os"
)

// noWait has no flag here; no path leads to a pipe by accident.
const noWait = 0

// Not verified on Windows. Access there is a matter of lists that only trying can answer, and the
// temp folder already belongs to the user.

func writable(string) error { return nil }

func usable(dir string, _ bool) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

func ours(fs.FileInfo) bool { return true }

func unsafeRuntime(info fs.FileInfo) string {
	if info.Mode()&fs.ModeSymlink != 0 {
		return "is a link"
	}
	if !info.IsDir() {
		return "is not a folder"
	}
	return ""
}
