//go:build cgo

package ledger

import (
	"context"
	"database/sql/driver"

	"github.com/mattn/go-sqlite3"
)

// available tells with an error that this build has no SQLite.
func available() error { return nil }

// connector opens connections on a URI and runs the pragmas on each, so that no connection of a pool
// is without them. It takes the place of a driver registered under a name, which would be a package
// variable that changes.
type connector struct {
	uri    string
	driver *sqlite3.SQLiteDriver
}

func newConnector(uri string, pragmas []string) driver.Connector {
	hook := func(c *sqlite3.SQLiteConn) error {
		for _, p := range pragmas {
			if _, err := c.Exec("PRAGMA "+p, nil); err != nil {
				return err
			}
		}
		return nil
	}
	return &connector{uri, &sqlite3.SQLiteDriver{ConnectHook: hook}}
}

func (c *connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.uri) }

func (c *connector) Driver() driver.Driver { return c.driver }
