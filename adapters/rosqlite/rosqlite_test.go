package rosqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// owner opens a database the way an agent does and leaves it open until the test ends.
func owner(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", uri(path)+"?_journal_mode=WAL&_busy_timeout=1000")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	do(t, db, "CREATE TABLE IF NOT EXISTS t (a INTEGER)")
	return db
}

func do(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

func sum(path string) (n int, err error) {
	err = Read(context.Background(), path, func(ctx context.Context, db *sql.DB) error {
		return db.QueryRowContext(ctx, "SELECT coalesce(sum(a), 0) FROM t").Scan(&n)
	})
	return n, err
}

func files(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = info.Size()
	}
	return all
}

func TestReadChangesNothing(t *testing.T) {
	for _, name := range []string{"plain.sqlite", "what? 50%#x.sqlite", "ünïcode プロジェクト.sqlite"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			db := owner(t, path)
			do(t, db, "INSERT INTO t VALUES (1), (2)")

			t.Run("the rows still in the log are seen", func(t *testing.T) {
				before := files(t, dir)
				if before[name+"-wal"] == 0 {
					t.Fatal("the owner has written no log: the case is not what it says")
				}
				if n, err := sum(path); n != 3 || err != nil {
					t.Errorf("sum = %d, %v, want 3", n, err)
				}
				if d := cmp.Diff(before, files(t, dir)); d != "" {
					t.Errorf("files changed:\n%s", d)
				}
			})
			t.Run("an owner that writes on is not disturbed", func(t *testing.T) {
				do(t, db, "INSERT INTO t VALUES (4)")
				if n, err := sum(path); n != 7 || err != nil {
					t.Errorf("sum = %d, %v, want 7", n, err)
				}
				do(t, db, "PRAGMA wal_checkpoint(TRUNCATE)")
				if n, err := sum(path); n != 7 || err != nil {
					t.Errorf("sum after a checkpoint = %d, %v, want 7", n, err)
				}
			})
			t.Run("a closed database stays without log and index", func(t *testing.T) {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				before := files(t, dir)
				if len(before) != 1 {
					t.Fatalf("files = %v, want the database alone", before)
				}
				if n, err := sum(path); n != 7 || err != nil {
					t.Errorf("sum = %d, %v, want 7", n, err)
				}
				if d := cmp.Diff(before, files(t, dir)); d != "" {
					t.Errorf("files changed:\n%s", d)
				}
			})
		})
	}
}

func TestReadAgainWhenTheOwnerWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	db := owner(t, path)
	do(t, db, "INSERT INTO t VALUES (1)")
	do(t, db, "PRAGMA wal_checkpoint(TRUNCATE)")
	calls, n := 0, 0
	err := Read(context.Background(), path, func(ctx context.Context, ro *sql.DB) error {
		if calls++; calls == 1 {
			do(t, db, "INSERT INTO t VALUES (10)")
		}
		return ro.QueryRowContext(ctx, "SELECT sum(a) FROM t").Scan(&n)
	})
	if err != nil || calls != 2 || n != 11 {
		t.Errorf("Read: %d calls, sum %d, error %v; want 2, 11, nil", calls, n, err)
	}
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := filepath.Join(dir, "good.sqlite")
	do(t, owner(t, good), "INSERT INTO t VALUES (1)")
	raw, err := os.ReadFile(good + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	bare := write("bare.sqlite", "")
	write("bare.sqlite-wal", string(raw))
	for name, path := range map[string]string{
		"missing":                filepath.Join(dir, "none.sqlite"),
		"a folder":               dir,
		"not a database":         write("text.sqlite", "this is a text file, long enough to have a header of a hundred bytes and then some more of it, and on"),
		"another schema":         write("empty.sqlite", ""),
		"a log without an index": bare,
	} {
		t.Run(name, func(t *testing.T) {
			if n, err := sum(path); err == nil {
				t.Errorf("sum = %d, want an error", n)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "none.sqlite")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing database was created: %v", err)
	}
	t.Run("it cannot write", func(t *testing.T) {
		err := Read(context.Background(), good, func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "INSERT INTO t VALUES (2)")
			return err
		})
		if err == nil {
			t.Error("an INSERT was accepted")
		}
	})
	t.Run("locked", func(t *testing.T) {
		path := filepath.Join(dir, "rollback.sqlite")
		db, err := sql.Open("sqlite3", uri(path)+"?_journal_mode=WAL")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		do(t, db, "PRAGMA locking_mode=EXCLUSIVE")
		do(t, db, "CREATE TABLE t (a INTEGER)")
		do(t, db, "INSERT INTO t VALUES (1)")
		if n, err := sum(path); err == nil {
			t.Errorf("sum of a database held for one connection alone = %d, want an error", n)
		}
	})
}
