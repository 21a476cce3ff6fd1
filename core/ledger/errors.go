package ledger

import (
	"errors"
	"fmt"
)

// What a caller branches on. An error of this package is one of them when errors.Is says so; its text
// names the file.
var (
	ErrNoLedger = errors.New("there is no ledger yet")
	ErrBusy     = errors.New("another process holds it locked")
	ErrFull     = errors.New("the disk is full")
	ErrReadOnly = errors.New("it cannot be written")
	ErrCorrupt  = errors.New("the file is damaged or no SQLite database; it was left as it is")
	ErrGone     = errors.New("it was removed or replaced while it was open: put it back, or begin anew with: tower restart")
	ErrForeign  = errors.New("the file is a database of another program")
	// ErrInvalid is the answer to a write that contradicts itself or what is kept. To send it again
	// unchanged is in vain, unlike after any of the others.
	ErrInvalid = errors.New("what was to be written is not valid")
)

// NewerError says that the file was written by a newer Tower than this one.
type NewerError struct {
	Path  string
	Has   int // schema version of the file
	Knows int // newest version this build knows
}

// Error names the file and both versions.
func (e *NewerError) Error() string {
	return fmt.Sprintf("ledger %q has schema %d, this build knows %d: use the newer tower that wrote it", e.Path, e.Has, e.Knows)
}

// OlderError says that the file must be migrated first, which a read-only open does not do.
type OlderError struct {
	Path  string
	Has   int
	Needs int
}

// Error names the file, both versions and the way on.
func (e *OlderError) Error() string {
	return fmt.Sprintf("ledger %q has schema %d, this build needs %d: start tower once to migrate it", e.Path, e.Has, e.Needs)
}

// wrap adds what was tried, the file's name and, where the driver's code tells, the kind of failure.
// It is the one place where an error of the driver becomes one of ours.
func (d *DB) wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	if kind := kindOf(err); kind != nil {
		return fmt.Errorf("%s: ledger %q: %w: %w", what, d.path, kind, err)
	}
	return fmt.Errorf("%s: ledger %q: %w", what, d.path, err)
}
