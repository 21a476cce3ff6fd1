//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipesInTheWay: a pipe without a reader in place of the files the hook opens.
func TestPipesInTheWay(t *testing.T) {
	h := installed(t)
	for _, file := range []string{h.HookLog(), h.PreparedAgents(), h.PreparedRules("claude")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, hook(h, "claude", "SessionStart"), `{"session_id":"s"}`)
	one(t, h)
}
