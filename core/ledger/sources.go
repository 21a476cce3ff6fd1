package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"tower/core"
)

var sourceColumns = []string{
	"source", "agent", "asm_id", "device", "inode", "size", "mtime_ns", "ctime_ns", "hot", "cursor_version", "cursor_offset",
	"cursor_head", "cursor_tail", "bad_lines", "unknown_types", "cursor_state",
}

// fingerprintColumns are those read at every start: enough to tell what changed.
var fingerprintColumns = sourceColumns[:11]

func sourceTargets(s *core.SourceState, p pool) []any {
	return []any{
		textInto[string]{&s.Path, nil}, textInto[core.Agent]{&s.Agent, p}, textInto[core.SessionID]{&s.Session, nil},
		numberInto[uint64]{&s.Device}, numberInto[uint64]{&s.Inode}, numberInto[int64]{&s.Size}, numberInto[int64]{&s.MTime}, numberInto[int64]{&s.CTime},
		flagInto{&s.Hot}, numberInto[int]{&s.Cursor.Version}, numberInto[int64]{&s.Cursor.Offset},
		numberInto[uint64]{&s.Cursor.Head}, numberInto[uint64]{&s.Cursor.Tail}, numberInto[int64]{&s.Bad}, jsonInto{&s.Unknown}, (*sql.RawBytes)(nil),
	}
}

var upsertSource = fmt.Sprintf("INSERT INTO import_state (%s) VALUES (%s) ON CONFLICT (source) DO UPDATE SET %s WHERE %s",
	strings.Join(sourceColumns, ", "), marks(len(sourceColumns)), assign(sourceColumns[1:]), differ("import_state", sourceColumns[1:]))

func (w *writing) sources(list []core.SourceState) error {
	for i := range list {
		s := &list[i]
		var state any
		if len(s.Cursor.State) > 0 {
			state = s.Cursor.State
		}
		_, err := w.exec(upsertSource, s.Path, string(s.Agent), text(s.Session), int64(s.Device), int64(s.Inode), s.Size, s.MTime, s.CTime, s.Hot,
			int64(s.Cursor.Version), s.Cursor.Offset, int64(s.Cursor.Head), int64(s.Cursor.Tail), s.Bad, counts(s.Unknown), state)
		if err != nil {
			return fmt.Errorf("source %q: %w", s.Path, err)
		}
	}
	return nil
}

// Source returns all that is kept of one source, cursor and its state included, and whether the
// ledger has it.
func (d *DB) Source(ctx context.Context, path string) (core.SourceState, bool, error) {
	var s core.SourceState
	targets := sourceTargets(&s, nil)
	targets[len(targets)-1] = &s.Cursor.State
	err := d.read.QueryRowContext(ctx, "SELECT "+strings.Join(sourceColumns, ", ")+" FROM import_state WHERE source = ?", path).Scan(targets...)
	if errors.Is(err, sql.ErrNoRows) {
		return core.SourceState{}, false, nil
	}
	if err != nil {
		return core.SourceState{}, false, d.wrap("read source", err)
	}
	return s, true, nil
}

// fingerprints returns every source without what only its next reading needs.
func fingerprints(ctx context.Context, q queryer, p pool) (map[string]core.SourceState, error) {
	rows, err := q.QueryContext(ctx, "SELECT "+strings.Join(fingerprintColumns, ", ")+" FROM import_state")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]core.SourceState{}
	var s core.SourceState
	targets := sourceTargets(&s, p)[:len(fingerprintColumns)]
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		all[s.Path] = s
	}
	return all, rows.Err()
}

// Totals returns what the readings of all sources could not use: lines whose frame is broken, and
// lines of unknown types, by type.
func (d *DB) Totals(ctx context.Context) (bad int64, unknown map[string]int64, err error) {
	if err := d.read.QueryRowContext(ctx, "SELECT coalesce(sum(bad_lines), 0) FROM import_state").Scan(&bad); err != nil {
		return 0, nil, d.wrap("sum sources", err)
	}
	rows, err := d.read.QueryContext(ctx, "SELECT unknown_types FROM import_state WHERE unknown_types IS NOT NULL")
	if err != nil {
		return 0, nil, d.wrap("sum sources", err)
	}
	defer rows.Close()
	unknown = map[string]int64{}
	for rows.Next() {
		var one map[string]int64
		if err := rows.Scan(jsonInto{&one}); err != nil {
			return 0, nil, d.wrap("sum sources", err)
		}
		for name, n := range one {
			unknown[name] += n
		}
	}
	return bad, unknown, d.wrap("sum sources", rows.Err())
}
