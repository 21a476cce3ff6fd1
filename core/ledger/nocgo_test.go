//go:build !cgo

package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoSQLite opens a ledger in a build without cgo: it says so at once and touches nothing.
func TestNoSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	const want = "this build has no SQLite: build with a C compiler (CGO_ENABLED=1)"
	if _, err := Open(t.Context(), path, filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Open = %v", err)
	}
	if _, err := OpenReadOnly(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("OpenReadOnly = %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was made")
	}
}
