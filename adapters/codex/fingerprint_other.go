//go:build !linux && !darwin

package codex

import (
	"os"

	"tower/core"
)

// fingerprint does without device and inode, which this system does not tell of a name; size and time
// remain.
func fingerprint(path string) (core.Fingerprint, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return core.Fingerprint{}, err
	}
	if !info.Mode().IsRegular() {
		return core.Fingerprint{}, errIrregular
	}
	return core.Fingerprint{Size: info.Size(), MTime: info.ModTime().UnixNano()}, nil
}
