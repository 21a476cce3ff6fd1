// Package rosqlite reads a SQLite database that belongs to another program and is perhaps being
// written at this moment. It promises to change nothing: not the database, not its log, not the folder
// around it; to see what the owner has committed, even what still lies in the log; and to be gone
// quickly, because a reader that lingers keeps the owner from trimming its log. A database that is
// locked, damaged or no database at all is an error and nothing worse.
//
// Adapters of agents that keep sessions in SQLite use it, for a few small queries at a time. It never
// writes, never creates a file, never keeps a connection.
package rosqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	// The driver registers itself under the name sqlite3.
	_ "github.com/mattn/go-sqlite3"
)

// busy is how long a query waits for the owner, in milliseconds: less than a person notices, more than
// a checkpoint of a small log takes.
const busy = "250"

var errNotRegular = errors.New("not a regular file")

// Read opens the database at path, hands it to f and closes it. f is called a second time when the
// owner began to write while the first call was reading, so it must begin with empty hands. The
// handle is dead when f has returned.
func Read(ctx context.Context, path string, f func(ctx context.Context, db *sql.DB) error) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read database: %w", err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("read database %q: %w", path, errNotRegular)
	}
	// Opening a database in write-ahead mode, even with mode=ro, creates its -shm and -wal files when
	// they are not there, and they stay behind. So there are two ways in:
	//
	// A log with something in it must be read, or the newest rows are missing; readonly_shm takes the
	// owner's index as it is and fails where it would have to be made.
	//
	// No log, or an empty one, means that the file alone is the database and nothing needs to be
	// locked. If a log has begun to fill by the end of the reading, the owner was at work and what was
	// read may be torn between two of its states: it is read again the other way.
	if logged(path) {
		return read(ctx, path, "readonly_shm=1", f)
	}
	err = read(ctx, path, "immutable=1", f)
	if logged(path) {
		err = read(ctx, path, "readonly_shm=1", f)
	}
	return err
}

func logged(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}

func read(ctx context.Context, path, how string, f func(context.Context, *sql.DB) error) (err error) {
	db, err := sql.Open("sqlite3", uri(path)+"?mode=ro&"+how+"&_busy_timeout="+busy+"&_query_only=1")
	if err != nil {
		return fmt.Errorf("open database %q: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	defer func() {
		if e := db.Close(); e != nil && err == nil {
			err = fmt.Errorf("close database %q: %w", path, e)
		}
	}()
	if err := f(ctx, db); err != nil {
		return fmt.Errorf("read database %q: %w", path, err)
	}
	return nil
}

// uri writes a path as SQLite's own form of a file URI, so that a '?', '#' or '%' in it is a letter.
func uri(path string) string {
	p := filepath.ToSlash(path)
	if vol := filepath.VolumeName(path); vol != "" && !strings.HasPrefix(p, "/") {
		p = "/" + p // file:/C:/…
	}
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return "file:" + strings.Join(parts, "/")
}
