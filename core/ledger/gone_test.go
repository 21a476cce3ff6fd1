//go:build cgo && unix

package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tower/core"
)

// TestGone: a ledger whose file is no longer where it was takes no write that would be gone with the
// process, and goes on as soon as the file is back.
func TestGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d := openAt(t, filepath.Join(dir, "ledger.sqlite"))
	w := core.Writes{Sessions: testSessions}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	refuses := func(how string) {
		t.Helper()
		if _, err := d.Apply(t.Context(), w); !errors.Is(err, ErrGone) {
			t.Errorf("%s: Apply = %v, want %v", how, err, ErrGone)
		}
		if err := d.SetSetting(t.Context(), "a", "b"); !errors.Is(err, ErrGone) {
			t.Errorf("%s: SetSetting = %v, want %v", how, err, ErrGone)
		}
	}
	move(dir, dir+".away")
	refuses("moved away")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	other := openAt(t, filepath.Join(dir, "ledger.sqlite"))
	refuses("another in its place")
	apply(t, other, w)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	move(dir, dir+".other")
	move(dir+".away", dir)
	apply(t, d, w)
	if n := len(load(t, d).Sessions); n != len(testSessions) {
		t.Errorf("%d sessions kept, want %d", n, len(testSessions))
	}
}
