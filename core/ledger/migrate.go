package ledger

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// Migrations are numbered from 1 without a gap; the number is the schema version the file leads to. A
// released file is never edited: a change is a new file.
//
//go:embed migrations/*.sql
var embedded embed.FS

type migration struct {
	version int
	name    string
	sql     string
}

// migrations reads the numbered files of a folder, in order.
func migrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var list []migration
	for i, name := range names { // Glob sorts, and the numbers have four digits
		number, _, _ := strings.Cut(path.Base(name), "_")
		n, err := strconv.Atoi(number)
		if err != nil || n != i+1 || len(number) != 4 {
			return nil, fmt.Errorf("migration %q should have number %04d", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		list = append(list, migration{n, path.Base(name), string(text)})
	}
	return list, nil
}

// latest is the schema version this build knows: the number of embedded files.
func latest() int {
	entries, err := embedded.ReadDir("migrations")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	return len(entries)
}

func version(ctx context.Context, db *sql.DB) (int, error) {
	var v int
	err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

// setUp brings the file to the newest schema and checks what it got.
func (d *DB) setUp(ctx context.Context, backupDir string) error {
	list, err := migrations(embedded)
	if err != nil {
		return err
	}
	if err := d.migrate(ctx, list, backupDir); err != nil {
		return err
	}
	var mode string
	if err := d.write.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return d.wrap("open", err)
	}
	if mode != "wal" {
		return fmt.Errorf("open: ledger %q: its file system allows no write-ahead log (journal mode %s)", d.path, mode)
	}
	return d.prepare(ctx)
}

// migrate applies what is missing, each file in a transaction of its own. A file that fails leaves
// the schema before it, and the copy made first.
func (d *DB) migrate(ctx context.Context, list []migration, backupDir string) error {
	has, err := version(ctx, d.write)
	if err != nil {
		return d.wrap("open", err)
	}
	if has >= len(list) {
		return nil
	}
	if has > 0 {
		if _, err := d.backup(ctx, backupDir, fmt.Sprintf("ledger-schema%d-", has)); err != nil {
			return fmt.Errorf("copy before migrating: %w", err)
		}
	}
	for _, m := range list[has:] {
		if err := d.step(ctx, m); err != nil {
			return d.wrap(fmt.Sprintf("migrate with %s", m.name), err)
		}
	}
	return nil
}

func (d *DB) step(ctx context.Context, m migration) error {
	tx, err := d.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var has int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&has); err != nil {
		return err
	}
	if has >= m.version {
		return nil // another process was faster
	}
	marks := fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", applicationID, m.version)
	if _, err := tx.ExecContext(ctx, "PRAGMA defer_foreign_keys=ON;"+m.sql+";"+marks); err != nil {
		return err
	}
	if m.version == 1 {
		if _, err := tx.ExecContext(ctx, "INSERT INTO meta (key, value) VALUES ('created_at', ?)", now().String()); err != nil {
			return err
		}
	}
	rows, err := tx.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return err
	}
	broken := rows.Next()
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	if broken {
		return errors.New("it breaks a foreign key")
	}
	return tx.Commit()
}

// Column is one column of a table, as [DB.Schema] tells it.
type Column struct {
	Name    string
	Type    string
	NotNull bool
}

// Schema returns the columns of every table and view in the database, for the runbook's test.
func (d *DB) Schema(ctx context.Context) (map[string][]Column, error) {
	rows, err := d.read.QueryContext(ctx, `SELECT t.name, c.name, c.type, c."notnull" OR c.pk > 0 AND t.type = 'table'
		FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
		WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid`)
	if err != nil {
		return nil, d.wrap("read schema", err)
	}
	defer rows.Close()
	schema := map[string][]Column{}
	for rows.Next() {
		var table string
		var c Column
		if err := rows.Scan(&table, &c.Name, &c.Type, &c.NotNull); err != nil {
			return nil, d.wrap("read schema", err)
		}
		schema[table] = append(schema[table], c)
	}
	return schema, d.wrap("read schema", rows.Err())
}

const stamp = "20060102T150405.000Z"

func fileStamp(t time.Time) string { return t.UTC().Format(stamp) }
