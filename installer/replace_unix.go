//go:build !windows

package installer

import (
	"io/fs"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// replace writes a file whole or not at all, with exactly this mode. The new file grows beside the
// old one, since a rename must not cross file systems.
func replace(path string, content []byte, mode fs.FileMode) error {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(mode), renameio.WithStaticPermissions(mode))
	if err != nil {
		return err
	}
	defer f.Cleanup()
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// makeRoom does nothing: a running program may be replaced.
func makeRoom(string) error { return nil }
