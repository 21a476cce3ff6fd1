//go:build !cgo

package ledger

import (
	"database/sql/driver"
	"errors"
)

var errNoSQLite = errors.New("this build has no SQLite: build with a C compiler (CGO_ENABLED=1)")

func available() error { return errNoSQLite }

// newConnector is never reached: whoever would connect asks available first.
func newConnector(string, []string) driver.Connector { panic(errNoSQLite) }

func kindOf(error) error { return nil }
