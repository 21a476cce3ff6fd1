//go:build cgo

package ledger

import (
	"errors"

	"github.com/mattn/go-sqlite3"
)

// kindOf returns the sentinel for the driver's code, or nil.
func kindOf(err error) error {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return nil
	}
	switch e.Code {
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return ErrBusy
	case sqlite3.ErrFull:
		return ErrFull
	case sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm:
		return ErrReadOnly
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return ErrCorrupt
	case sqlite3.ErrConstraint, sqlite3.ErrMismatch, sqlite3.ErrTooBig:
		return ErrInvalid
	}
	return nil
}
