package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"tower/core"
)

var errReader = errors.New("the ledger was opened for reading only")

// Applied is what a write changed.
type Applied struct {
	NewEvents int   // events not kept before
	Rows      int64 // rows inserted, changed or removed
	// Counted has an entry for every session whose own turns changed, by ascending id, with all of
	// them; a session whose turns were merely told again may be among them.
	Counted []core.Counted
}

// Apply keeps all of w in one transaction, or nothing and says why. It does not stop half-way when ctx
// ends; it only does not begin. Sessions come first, so that runs and turns may name them.
//
// What is there already is not written again. A [core.Refusal] is the answer to readings that would
// empty what the ledger knows, [ErrInvalid] to what can never be kept; other errors may pass.
func (d *DB) Apply(ctx context.Context, w core.Writes) (Applied, error) {
	if d.write == nil {
		return Applied{}, errReader
	}
	if err := ctx.Err(); err != nil {
		return Applied{}, err
	}
	if w.Empty() {
		return Applied{}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.here(); err != nil {
		return Applied{}, d.wrap("write", err)
	}
	applied, err := d.apply(w)
	if err != nil {
		return Applied{}, d.wrap("write", err)
	}
	return applied, nil
}

func (d *DB) apply(w core.Writes) (applied Applied, err error) {
	// Without a context: with one, the driver starts a goroutine for every statement.
	tx, err := d.write.Begin()
	if err != nil {
		return applied, err
	}
	defer tx.Rollback()
	t := &writing{db: d, tx: tx, stmts: map[string]*sql.Stmt{}}
	before, err := t.changes()
	if err != nil {
		return applied, err
	}
	if err := t.sessions(w.Sessions); err != nil {
		return applied, err
	}
	if err := t.runs(w.Runs); err != nil {
		return applied, err
	}
	if err := t.launches(w.Launches); err != nil {
		return applied, err
	}
	if err := t.intents(w.Intents); err != nil {
		return applied, err
	}
	if applied.NewEvents, err = t.events(w.Events); err != nil {
		return applied, err
	}
	if applied.Counted, err = t.turns(w.Turns); err != nil {
		return applied, err
	}
	if err := t.sources(w.Sources); err != nil {
		return applied, err
	}
	after, err := t.changes()
	if err != nil {
		return applied, err
	}
	applied.Rows = after - before
	return applied, tx.Commit()
}

// writing is one write transaction. Statements are prepared once for the life of the DB.
type writing struct {
	db    *DB
	tx    *sql.Tx
	stmts map[string]*sql.Stmt
}

func (w *writing) stmt(query string) (*sql.Stmt, error) {
	if s, ok := w.stmts[query]; ok {
		return s, nil
	}
	s, ok := w.db.stmts[query]
	if !ok {
		return nil, errors.New("statement was not prepared: " + query)
	}
	s = w.tx.Stmt(s)
	w.stmts[query] = s
	return s, nil
}

// statements are prepared when the ledger is opened: the pool of one has no connection to prepare on
// while a transaction holds it.
var statements = []string{
	upsertSession, upsertRun, upsertLaunch, upsertIntent, insertEvent, upsertSource, totalChanges,
	insertOrigin, updateOpened, findSessions, findOrigins, insertOwned, addTold, replaceTold, dropUntold, toldByOrigin,
	findWrong, setCopy, countOwned, setTurns, countTold,
	folderTable.add, folderTable.drop, skillTable.add, skillTable.drop,
}

const totalChanges = "SELECT total_changes()"

func (d *DB) prepare(ctx context.Context) error {
	for _, query := range statements {
		s, err := d.write.PrepareContext(ctx, query)
		if err != nil {
			return d.wrap("prepare", fmt.Errorf("%s: %w", query, err))
		}
		d.stmts[query] = s
	}
	return nil
}

// exec runs a statement and returns how many rows it changed.
func (w *writing) exec(query string, args ...any) (int64, error) {
	r, err := w.run(query, args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// insert runs an INSERT of one row and returns its integer key.
func (w *writing) insert(query string, args ...any) (int64, error) {
	r, err := w.run(query, args...)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

func (w *writing) run(query string, args ...any) (sql.Result, error) {
	s, err := w.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.Exec(args...)
}

type scanner func(...any) error

// each runs a query to its end and calls f for every row.
func (w *writing) each(query string, args []any, f func(scanner) error) error {
	s, err := w.stmt(query)
	if err != nil {
		return err
	}
	rows, err := s.Query(args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (w *writing) changes() (n int64, err error) {
	err = w.each(totalChanges, nil, func(scan scanner) error { return scan(&n) })
	return n, err
}
