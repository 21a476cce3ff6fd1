package ledger

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"tower/core"
)

func (t *turning) doubtThese(turns []core.Turn) {
	for i := range turns {
		t.doubt[turns[i].UID] = struct{}{}
	}
}

// doubtAll doubts every uid the query returns and tells how many those were.
func (t *turning) doubtAll(query string, args ...any) (n int, err error) {
	err = t.each(query, args, func(scan scanner) error {
		var uid int64
		err := scan(&uid)
		t.doubt[uid] = struct{}{}
		n++
		return err
	})
	return n, err
}

// resolve gives every doubtful turn to its owner. Losers come first, since no turn may have two.
func (t *turning) resolve() error {
	if len(t.doubt) == 0 {
		return nil
	}
	type flip struct {
		session, uid, origin int64
		owner                bool
	}
	var flips []flip
	err := t.each(findWrong, []any{jsonNumbers(t.doubt)}, func(scan scanner) error {
		var f flip
		err := scan(&f.session, &f.uid, &f.origin, &f.owner)
		flips = append(flips, f)
		return err
	})
	if err != nil {
		return err
	}
	for _, f := range flips {
		if _, err := t.exec(setCopy, !f.owner, f.session, f.uid, f.origin); err != nil {
			return err
		}
		t.touched[f.session] = struct{}{}
	}
	return nil
}

// count reads the own turns of the touched sessions and keeps their number in sessions.
func (t *turning) count() ([]core.Counted, error) {
	if len(t.touched) == 0 {
		return nil, nil
	}
	var list []core.Counted
	set := []byte{'['}
	err := t.each(countOwned, []any{jsonNumbers(t.touched)}, func(scan scanner) error {
		var key int64
		var id, at string
		if err := scan(&key, &id, textInto[string]{&at, nil}); err != nil {
			return err
		}
		instants, err := parseInstants(at)
		list = append(list, core.Counted{Session: core.SessionID(id), At: instants})
		if len(set) > 1 {
			set = append(set, ',')
		}
		set = strconv.AppendInt(append(set, '['), key, 10)
		set = append(strconv.AppendInt(append(set, ','), int64(len(instants)), 10), ']')
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b core.Counted) int { return strings.Compare(string(a.Session), string(b.Session)) })
	_, err = t.exec(setTurns, string(append(set, ']')))
	return list, err
}

// Turns calls f for every turn that counts, session by session in ascending order of their ids, within
// one by ascending time; an unknown time is 0 and comes first. It stops at the first error of f and
// returns it.
func (d *DB) Turns(ctx context.Context, f func(core.SessionID, core.Instant) error) error {
	// A row a session: a row a turn costs a crossing into C each, which is ten times the work.
	rows, err := d.read.QueryContext(ctx, "SELECT s.asm_id, "+ownInstants+" FROM sessions AS s ORDER BY s.asm_id")
	if err != nil {
		return d.wrap("read turns", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, at string
		if err := rows.Scan(&id, textInto[string]{&at, nil}); err != nil {
			return d.wrap("read turns", err)
		}
		instants, err := parseInstants(at)
		if err != nil {
			return d.wrap("read turns", err)
		}
		for _, i := range instants {
			if err := f(core.SessionID(id), i); err != nil {
				return err
			}
		}
	}
	return d.wrap("read turns", rows.Err())
}
