package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// applicationID marks the file as a ledger, in its header ("TWR1").
const applicationID = 0x54575231

const (
	// busyTimeout is how long a connection waits for another process's lock before it gives up.
	busyTimeout = 5 * time.Second
	// journalLimit is the size the write-ahead log is cut back to after a checkpoint. A reader that
	// stays open lets it grow past that; it shrinks again once the reader is gone.
	journalLimit = 16 << 20
	// cacheKiB is the writer's page cache: the index of turns is written all over, and what does not fit
	// is read again for every write. A smaller ledger uses less of it.
	cacheKiB = 16_000
	readers  = 4
)

// DB is the ledger. Its methods are safe for concurrent use; writes wait for each other. No read
// transaction outlives a call.
type DB struct {
	path   string
	file   fs.FileInfo // the file at path when it was opened for writing
	write  *sql.DB     // nil when opened for reading only
	read   *sql.DB
	mu     sync.Mutex // held over each write: the statements' buffers are shared
	stmts  map[string]*sql.Stmt
	buffer []byte
}

// Open opens the ledger for reading and writing, and makes or migrates it where needed. A new file is
// made with mode 0600 before SQLite sees it; the log beside it takes the same mode. A file of an older
// schema is copied into backupDir first. A newer schema ([NewerError]), a file of another program
// ([ErrForeign]), a damaged one ([ErrCorrupt]) and a place that cannot be written ([ErrReadOnly]) are
// refused, and nothing is changed. The folder must exist.
func Open(ctx context.Context, path, backupDir string) (*DB, error) {
	return open(ctx, path, backupDir, busyTimeout)
}

func open(ctx context.Context, path, backupDir string, busy time.Duration) (*DB, error) {
	if err := available(); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open ledger %q: %w", path, err)
	}
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	if err := examine(ctx, path, busy); err != nil && !errors.Is(err, ErrNoLedger) {
		return nil, err
	}
	d := newWriter(path, busy)
	if err := d.setUp(ctx, backupDir); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if d.file, err = os.Stat(path); err != nil {
		return nil, errors.Join(d.wrap("open", err), d.Close())
	}
	d.read = openReaders(uri(path, "ro", busy))
	return d, nil
}

// here tells whether path still names the file that is open. SQLite would go on writing into one that
// was removed, and all of that would be gone with the process.
func (d *DB) here() error {
	now, err := os.Stat(d.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, d.file) {
		return ErrGone
	}
	return nil
}

func newWriter(path string, busy time.Duration) *DB {
	d := &DB{path: path, stmts: map[string]*sql.Stmt{}}
	d.write = sql.OpenDB(newConnector(uri(path, "rw", busy, "_txlock=immediate", "_journal_mode=WAL", "_synchronous=NORMAL", "_foreign_keys=1"), []string{
		fmt.Sprintf("journal_size_limit=%d", journalLimit),
		fmt.Sprintf("cache_size=-%d", cacheKiB),
		"temp_store=MEMORY",
		"trusted_schema=OFF",
	}))
	d.write.SetMaxOpenConns(1)
	return d
}

// OpenReadOnly opens the ledger for a command that runs while no tower does, or beside one. It writes
// nothing to the database. A missing file is [ErrNoLedger], an older schema an [OlderError].
func OpenReadOnly(ctx context.Context, path string) (*DB, error) {
	if err := available(); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open ledger %q: %w", path, err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open ledger %q: %w", path, ErrNoLedger)
	}
	d := &DB{path: path}
	has, err := d.look(ctx, busyTimeout)
	if err == nil && has < latest() {
		err = &OlderError{path, has, latest()}
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// examine looks through a reader's eyes at a file that is about to be opened for writing: the very
// first thing a writer does to a file, the switch to a write-ahead log, changes it, and it may be
// another program's.
func examine(ctx context.Context, path string, busy time.Duration) error {
	d := &DB{path: path}
	_, err := d.look(ctx, busy)
	return errors.Join(err, d.Close())
}

// look opens the readers and returns the schema version of a ledger this build can read.
func (d *DB) look(ctx context.Context, busy time.Duration) (int, error) {
	if err := checkHeader(d.path); err != nil {
		return 0, d.wrap("open", err)
	}
	d.read = openReaders(uri(d.path, "ro", busy))
	has, err := version(ctx, d.read)
	if errors.Is(kindOf(err), ErrReadOnly) && !logged(d.path) {
		// SQLite makes the log's index even to read, which a folder that cannot be written forbids.
		// Without a log the main file is all there is, and nobody can be writing it.
		d.read.Close()
		d.read = openReaders(uri(d.path, "ro", busy, "immutable=1"))
		has, err = version(ctx, d.read)
	}
	var id, objects int
	if err == nil {
		err = errors.Join(d.read.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id),
			d.read.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&objects))
	}
	switch {
	case err != nil:
		return 0, d.wrap("open", err)
	case objects == 0:
		return 0, d.wrap("open", ErrNoLedger) // somebody was killed before the first migration
	case id != applicationID || has == 0:
		return 0, d.wrap("open", ErrForeign)
	case has > latest():
		return 0, &NewerError{d.path, has, latest()}
	}
	return has, nil
}

func openReaders(uri string) *sql.DB {
	db := sql.OpenDB(newConnector(uri, []string{"query_only=ON", "temp_store=MEMORY", "trusted_schema=OFF"}))
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	return db
}

// Close releases the file. The last process to close it folds the log into it.
func (d *DB) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	if d.read != nil {
		errs = append(errs, d.read.Close())
	}
	if d.write != nil {
		for _, s := range d.stmts {
			errs = append(errs, s.Close())
		}
		clear(d.stmts)
		errs = append(errs, d.write.Close())
	}
	return d.wrap("close", errors.Join(errs...))
}

// Checkpoint folds the log into the main file, cuts it to nothing and gives back the memory that many
// writes have filled. With a reader at work it does what it can and reports no error: the next one
// does the rest.
func (d *DB) Checkpoint(ctx context.Context) error {
	if d.write == nil {
		return errReader
	}
	var busy, log, done int64
	err := d.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &done)
	if err == nil {
		_, err = d.write.ExecContext(ctx, "PRAGMA shrink_memory")
	}
	return d.wrap("checkpoint", err)
}

// Check reads every page and tells with [ErrCorrupt] when the file is damaged. It takes about a second
// for each gigabyte.
func (d *DB) Check(ctx context.Context) error {
	var verdict string
	if err := d.read.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return d.wrap("check", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("check: ledger %q: %w: %s", d.path, ErrCorrupt, verdict)
	}
	return nil
}

// uri returns the database's address. Every segment of the path is escaped: the driver cuts at the
// first '?', and '#' and '%' mean something to SQLite.
func uri(path, mode string, busy time.Duration, options ...string) string {
	segments := strings.Split(filepath.ToSlash(path), "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	p := strings.Join(segments, "/")
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/... on Windows
	}
	return "file://" + p + "?mode=" + mode + fmt.Sprintf("&_busy_timeout=%d", busy.Milliseconds()) + "&" + strings.Join(options, "&")
}
