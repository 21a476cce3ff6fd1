package installer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tower/core"
)

// InstallHookBinary puts the hook program that lies beside this tower where the entries of all agents
// name it, and tells whether that changed anything. The file is replaced by rename, so that a call
// running at this moment ends undisturbed, and the entries stay as they are.
func InstallHookBinary(from, to string) (bool, error) {
	program, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return false, &core.Refusal{What: "Not installed.", Why: "The hook program is missing: it should lie at " + from + ".", Hint: "Build or install tower and tower-hook together."}
	}
	if err != nil {
		return false, fmt.Errorf("read hook program: %w", err)
	}
	st, err := os.Stat(to)
	if err == nil && st.Mode().Perm()&0o100 != 0 {
		if there, err := os.ReadFile(to); err == nil && bytes.Equal(there, program) {
			return false, nil
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return false, fmt.Errorf("make folder of hook program: %w", err)
	}
	if err := makeRoom(to); err != nil {
		return false, fmt.Errorf("move old hook program: %w", err)
	}
	if err := replace(to, program, 0o700); err != nil {
		return false, fmt.Errorf("write hook program: %w", err)
	}
	return true, nil
}
