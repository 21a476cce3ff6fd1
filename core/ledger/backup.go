package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Backup writes a compact, consistent copy of the ledger into dir, which is made when missing, and
// returns its path. Writers go on meanwhile. A copy that could not be finished is removed.
func (d *DB) Backup(ctx context.Context, dir string) (string, error) {
	return d.backup(ctx, dir, "ledger-")
}

func (d *DB) backup(ctx context.Context, dir, prefix string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("back up ledger: %w", err)
	}
	target := filepath.Join(dir, prefix+fileStamp(time.Now())+".sqlite")
	// VACUUM INTO takes an empty file and keeps its mode.
	f, err := os.OpenFile(target, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("back up ledger: %w", err)
	}
	// A connection of its own: the writer's would hold up writes, and a reader's may write nothing, not
	// even elsewhere.
	from := sql.OpenDB(newConnector(uri(d.path, "rw", busyTimeout), nil))
	_, err = from.ExecContext(ctx, "VACUUM INTO ?", uri(target, "rw", busyTimeout))
	// SQLite does not sync what VACUUM INTO wrote.
	err = errors.Join(err, from.Close(), f.Sync(), f.Close())
	if err != nil {
		return "", errors.Join(d.wrap("back up", err), os.Remove(target))
	}
	return target, nil
}
