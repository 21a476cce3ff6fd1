package ledger

import (
	"context"
	"database/sql"
	"strings"

	"tower/core"
)

// Loaded is what the engine starts from.
type Loaded struct {
	Sessions []core.Session      // every one, in the order they were first written
	Open     []core.Run          // runs that have not ended, oldest first
	Closed   []core.Run          // runs that have, the one that ended last at the end; of the newest boot only
	Launches []core.LaunchRecord // those a session may still answer, oldest first
	Settings map[string]string
	// Fingerprints are the sources by path, without the cursor's hashes and state and without the
	// counts of bad and unknown lines: [DB.Source] has those.
	Fingerprints map[string]core.SourceState
}

// Load reads what is needed to go on where the last process stopped. Of the launches that is every one
// that neither led to a session nor ended: all that wait, however old, so that their waiting can be
// ended; and the expired ones of the last 14 days, whose token a late session may still carry.
func (d *DB) Load(ctx context.Context) (Loaded, error) {
	var l Loaded
	p := pool{}
	err := d.reading(ctx, func(q queryer) (err error) {
		if l.Sessions, err = sessions(ctx, q, p); err != nil {
			return err
		}
		if l.Open, err = readRuns(ctx, q, "ended_at IS NULL ORDER BY run_id"); err != nil {
			return err
		}
		// The processes of an older boot are gone for good, and nothing asks for them.
		const newestBoot = "(SELECT boot_id FROM runs WHERE boot_id IS NOT NULL ORDER BY run_id DESC LIMIT 1)"
		if l.Closed, err = readRuns(ctx, q, "ended_at IS NOT NULL AND boot_id = "+newestBoot+" ORDER BY ended_at, run_id"); err != nil {
			return err
		}
		if l.Launches, err = openLaunches(ctx, q, now()); err != nil {
			return err
		}
		if l.Settings, err = settings(ctx, q); err != nil {
			return err
		}
		l.Fingerprints, err = fingerprints(ctx, q, p)
		return err
	})
	if err != nil {
		return Loaded{}, d.wrap("load", err)
	}
	return l, nil
}

type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// reading calls f with one unchanging view of the database, which ends with the call.
func (d *DB) reading(ctx context.Context, f func(queryer) error) error {
	tx, err := d.read.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return f(tx)
}

func sessions(ctx context.Context, q queryer, p pool) ([]core.Session, error) {
	var n int
	if err := q.QueryRowContext(ctx, "SELECT count(*) FROM sessions").Scan(&n); err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, "SELECT "+strings.Join(sessionColumns, ", ")+" FROM sessions ORDER BY key")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := make([]core.Session, 0, n)
	var s core.Session
	targets := sessionTargets(&s, p)
	for rows.Next() {
		s.Tags = nil // decoding would write into the slice of the row before
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}

// Detail returns what is kept of one session beside its row: its runs, oldest first, how often each
// skill ran and how often each folder was named. Of several sources the one that tells the most counts:
// a moved or resumed transcript tells again what the other one told, and a sum would double it.
func (d *DB) Detail(ctx context.Context, id core.SessionID) (runs []core.Run, skills, folders map[string]int64, err error) {
	err = d.reading(ctx, func(q queryer) (err error) {
		if runs, err = readRuns(ctx, q, "asm_id = ? ORDER BY run_id", string(id)); err != nil {
			return err
		}
		if skills, err = mostOf(ctx, q, "skills", "skill", "runs", id); err != nil {
			return err
		}
		folders, err = mostOf(ctx, q, "folders", "path", "named", id)
		return err
	})
	if err != nil {
		return nil, nil, nil, d.wrap("read session", err)
	}
	return runs, skills, folders, nil
}

func mostOf(ctx context.Context, q queryer, table, name, count string, id core.SessionID) (map[string]int64, error) {
	rows, err := q.QueryContext(ctx, "SELECT t."+name+", max(t."+count+") FROM sessions AS s JOIN turn_sources AS o ON o.session = s.key JOIN "+
		table+" AS t ON t.origin = o.origin WHERE s.asm_id = ? GROUP BY t."+name, string(id))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]int64{}
	for rows.Next() {
		var key string
		var n int64
		if err := rows.Scan(&key, &n); err != nil {
			return nil, err
		}
		all[key] = n
	}
	return all, rows.Err()
}
