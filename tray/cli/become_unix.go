//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"tower/core"
)

// become replaces this program by a command. It returns only on failure.
func become(l *core.Launch) error {
	path, err := exec.LookPath(l.Argv[0])
	if err != nil {
		return fmt.Errorf("find %s: %w", l.Argv[0], err)
	}
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		drop := false
		for _, u := range l.Unset {
			drop = drop || core.Glob(u, name)
		}
		if !drop {
			env = append(env, kv)
		}
	}
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, l.Argv, env))
}
