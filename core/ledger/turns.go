package ledger

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tower/core"
)

// Whose turn is it?
//
// A fork or a resume copies the beginning of one transcript into another, so the same turn (the same
// uid) is told by several sources, perhaps for several sessions:
//
//	source a, opened 09:00, session A   u1 u2 u3 .  .
//	source b, opened 10:00, session B   u1 u2 u3 u4 .      B is a fork of A
//	source c, opened 11:00, session C   u1 u2 u3 u4 u5     C is a fork of B
//	owner                               A  A  A  B  C
//
// Every telling is kept: one row of turns for (session, uid, origin), the origin being a row of
// turn_sources, i.e. one source telling of one session. The telling that counts is the one whose source
// was opened first; a source that does not say when comes last; then the smaller session id, then the
// smaller path decide. That is a function of what is stored and of nothing else, so the order of
// reading cannot matter, and when a is read again without u2, u2 falls to B.
//
// The result is stored as copy = 0 and guarded by a unique index. Nearly every turn stands in one
// source only, and the index makes that case cheap: a batch is inserted as owned, and only when the
// index turns a row away is the whole batch told again as copies and the owner worked out anew. All
// that is done in SQL on one JSON value a batch: a statement costs as much as many rows.

const (
	insertOrigin = `INSERT INTO turn_sources (session, source, opened) VALUES (?, ?, ?)`
	updateOpened = `UPDATE turn_sources SET opened = ? WHERE origin = ?`
	findSessions = `SELECT key, asm_id FROM sessions WHERE asm_id IN (SELECT value FROM json_each(?))`
	findOrigins  = `SELECT origin, session, source, coalesce(opened, '') FROM turn_sources
		WHERE source IN (SELECT value FROM json_each(?))`

	batchRows   = ` SELECT ?1, CAST(key AS INTEGER), ?2, nullif(value >> 8, 0), value & 255, `
	insertOwned = `INSERT INTO turns (session, uid, origin, at, kind, copy)` + batchRows + `0 FROM json_each(?3) WHERE true
		ON CONFLICT DO NOTHING`
	// Told again by the same source: the earlier known instant stays, then the smaller kind.
	addTold = `INSERT INTO turns (session, uid, origin, at, kind, copy)` + batchRows + `1 FROM json_each(?3) WHERE true
		ON CONFLICT (session, uid, origin) DO UPDATE SET at = excluded.at, kind = excluded.kind
		WHERE (excluded.at IS NULL, excluded.at, excluded.kind) < (at IS NULL, at, kind)
		OR (excluded.at IS NULL AND at IS NULL AND excluded.kind < kind)`
	replaceTold = `INSERT INTO turns (session, uid, origin, at, kind, copy)` + batchRows + `1 FROM json_each(?3) WHERE true
		ON CONFLICT (session, uid, origin) DO UPDATE SET at = excluded.at, kind = excluded.kind
		WHERE (at, kind) IS NOT (excluded.at, excluded.kind)`
	dropUntold = `DELETE FROM turns WHERE session = ?1 AND origin = ?2
		AND uid NOT IN (SELECT CAST(key AS INTEGER) FROM json_each(?3)) RETURNING uid`
	toldByOrigin = `SELECT uid FROM turns WHERE session = ?1 AND origin = ?2`

	// The rows whose copy is not what the rule says.
	findWrong = `WITH told AS (
			SELECT t.session, t.uid, t.origin, t.copy FROM json_each(?1) AS j CROSS JOIN turns AS t ON t.uid = j.value AND t.copy = 0
			UNION ALL
			SELECT t.session, t.uid, t.origin, t.copy FROM json_each(?1) AS j CROSS JOIN turns AS t ON t.uid = j.value AND t.copy = 1
		), ranked AS (
			SELECT t.*, row_number() OVER (PARTITION BY t.uid ORDER BY o.opened IS NULL, o.opened, s.asm_id, o.source) = 1 AS first
			FROM told AS t JOIN turn_sources AS o ON o.origin = t.origin JOIN sessions AS s ON s.key = t.session
		)
		SELECT session, uid, origin, first FROM ranked WHERE first = copy ORDER BY first`
	setCopy = `UPDATE turns SET copy = ? WHERE session = ? AND uid = ? AND origin = ?`

	ownInstants = `(SELECT group_concat(coalesce(at, 0)) FROM turns WHERE session = s.key AND copy = 0)`
	countOwned  = `SELECT s.key, s.asm_id, ` + ownInstants + ` FROM json_each(?) AS j CROSS JOIN sessions AS s ON s.key = j.value`
	setTurns    = `UPDATE sessions SET turns = j.value ->> 1 FROM json_each(?) AS j
		WHERE sessions.key = j.value ->> 0 AND sessions.turns IS NOT j.value ->> 1`
)

// origin is one row of turn_sources.
type origin struct {
	id, session int64
	opened      string
}

// turning is the part of a write transaction that deals with turns.
type turning struct {
	*writing
	keys    map[core.SessionID]int64
	origins map[string][]*origin // by source
	touched map[int64]struct{}   // keys of sessions whose own turns may have changed
	doubt   map[int64]struct{}   // uids whose owner has to be worked out
	// again holds, by source, the origins told by the reading of it that is being applied: see turns.
	again map[string][]*origin
}

// turns applies the batches in order. Batches with Replace of one source, of different sessions and
// with no other batch of the source between them, are one reading: what the source told of any session
// before is dropped, whether the reading names that session or not. A reading that found no session at
// all is a batch with Replace and no session.
func (w *writing) turns(list []core.TurnBatch) ([]core.Counted, error) {
	if len(list) == 0 {
		return nil, nil
	}
	t := &turning{writing: w, keys: map[core.SessionID]int64{}, origins: map[string][]*origin{},
		touched: map[int64]struct{}{}, doubt: map[int64]struct{}{}, again: map[string][]*origin{}}
	if err := t.look(list); err != nil {
		return nil, err
	}
	if err := t.refuseEmpty(list); err != nil {
		return nil, err
	}
	for i := range list {
		if err := t.batch(&list[i]); err != nil {
			return nil, fmt.Errorf("turns of source %q: %w", list[i].Source, err)
		}
	}
	for source := range t.again {
		if err := t.finish(source); err != nil {
			return nil, fmt.Errorf("turns of source %q: %w", source, err)
		}
	}
	if err := t.resolve(); err != nil {
		return nil, fmt.Errorf("owners of turns: %w", err)
	}
	counted, err := t.count()
	if err != nil {
		return nil, fmt.Errorf("count turns: %w", err)
	}
	return counted, nil
}

// look finds the rows of all sessions and sources that the batches name.
func (t *turning) look(list []core.TurnBatch) error {
	var ids, sources []string
	for i := range list {
		if list[i].Source == "" {
			return fmt.Errorf("%w: turns of session %s have no source", ErrInvalid, list[i].Session)
		}
		sources = append(sources, list[i].Source)
		if list[i].Session != "" {
			ids = append(ids, string(list[i].Session))
		}
	}
	err := t.each(findSessions, []any{jsonStrings(ids)}, func(scan scanner) error {
		var key int64
		var id string
		err := scan(&key, &id)
		t.keys[core.SessionID(id)] = key
		return err
	})
	if err != nil {
		return err
	}
	return t.each(findOrigins, []any{jsonStrings(sources)}, func(scan scanner) error {
		var o origin
		var source string
		err := scan(&o.id, &o.session, &source, &o.opened)
		t.origins[source] = append(t.origins[source], &o)
		return err
	})
}

func (t *turning) batch(b *core.TurnBatch) error {
	if !b.Replace {
		if err := t.finish(b.Source); err != nil { // an append after the reading
			return err
		}
	}
	if b.Session == "" {
		if !b.Replace || len(b.Turns) > 0 {
			return fmt.Errorf("%w: %d turns of no session", ErrInvalid, len(b.Turns))
		}
		if err := t.finish(b.Source); err != nil {
			return err
		}
		t.again[b.Source] = []*origin{}
		return nil
	}
	o, fresh, err := t.origin(b)
	if err != nil {
		return err
	}
	if b.Replace {
		if slices.Contains(t.again[b.Source], o) { // it was read once more
			if err := t.finish(b.Source); err != nil {
				return err
			}
		}
		t.again[b.Source] = append(t.again[b.Source], o)
	}
	if err := t.tell(o, fresh, b); err != nil {
		return err
	}
	if b.Folders != nil {
		if err := t.names(o, fresh, &folderTable, b.Folders); err != nil {
			return err
		}
	}
	if b.Skills != nil {
		return t.names(o, fresh, &skillTable, b.Skills)
	}
	return nil
}

// origin returns the row for the batch's source and session, made when missing, with the time of
// opening brought up to date.
func (t *turning) origin(b *core.TurnBatch) (o *origin, fresh bool, err error) {
	key, ok := t.keys[b.Session]
	if !ok {
		return nil, false, fmt.Errorf("%w: session %s is not in the ledger", ErrInvalid, b.Session)
	}
	opened := b.Opened.String()
	for _, o := range t.origins[b.Source] {
		if o.session != key {
			continue
		}
		// An append that does not know takes nothing back, and the earlier of two is the opening.
		if opened == o.opened || !b.Replace && (opened == "" || o.opened != "" && o.opened < opened) {
			return o, false, nil
		}
		o.opened = opened
		if _, err := t.exec(updateOpened, text(opened), o.id); err != nil {
			return nil, false, err
		}
		_, err := t.doubtAll(toldByOrigin, key, o.id)
		return o, false, err
	}
	id, err := t.insert(insertOrigin, key, b.Source, text(opened))
	if err != nil {
		return nil, false, err
	}
	o = &origin{id, key, opened}
	t.origins[b.Source] = append(t.origins[b.Source], o)
	t.touched[key] = struct{}{} // even without a turn: their number is known now
	return o, true, nil
}

// tell writes the batch's turns as told by o.
func (t *turning) tell(o *origin, fresh bool, b *core.TurnBatch) error {
	turns := fold(b.Turns)
	if len(turns) == 0 && (fresh || !b.Replace) {
		return nil
	}
	told := t.json(turns)
	if b.Replace && !fresh {
		if err := t.drop(o, told); err != nil {
			return err
		}
		n, err := t.exec(replaceTold, o.session, o.id, told)
		if err == nil && n > 0 {
			t.touched[o.session] = struct{}{}
			t.doubtThese(turns)
		}
		return err
	}
	n, err := t.exec(insertOwned, o.session, o.id, told)
	if err != nil {
		return err
	}
	if n > 0 {
		t.touched[o.session] = struct{}{}
	}
	if n == int64(len(turns)) {
		return nil
	}
	n, err = t.exec(addTold, o.session, o.id, told)
	if err == nil && n > 0 {
		t.touched[o.session] = struct{}{}
		t.doubtThese(turns)
	}
	return err
}

// drop removes what o told and tells no more.
func (t *turning) drop(o *origin, told string) error {
	n, err := t.doubtAll(dropUntold, o.session, o.id, told)
	if err == nil && n > 0 {
		t.touched[o.session] = struct{}{}
	}
	return err
}

// finish drops what a source told before of sessions that its newest reading does not name.
func (t *turning) finish(source string) error {
	named, ok := t.again[source]
	if !ok {
		return nil
	}
	delete(t.again, source)
	for _, o := range t.origins[source] {
		if slices.Contains(named, o) {
			continue
		}
		if err := t.drop(o, "[]"); err != nil {
			return err
		}
		for _, table := range []*namesTable{&folderTable, &skillTable} {
			if err := t.names(o, false, table, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// fold returns the turns by ascending uid, each once, by the rule of addTold. In that order they also
// reach the pages of the index one after the other.
func fold(turns []core.Turn) []core.Turn {
	list := slices.Clone(turns)
	when := func(t core.Turn) core.Instant {
		if t.At == 0 {
			return math.MaxInt64
		}
		return t.At
	}
	slices.SortFunc(list, func(a, b core.Turn) int {
		return cmp.Or(cmp.Compare(a.UID, b.UID), cmp.Compare(when(a), when(b)), cmp.Compare(a.Kind, b.Kind))
	})
	return slices.CompactFunc(list, func(a, b core.Turn) bool { return a.UID == b.UID })
}

// fullSources is the number of turns from which on sources count as full for refuseEmpty.
const fullSources = 100

// refuseEmpty refuses readings that would drop [fullSources] turns or more and tell not a single one
// instead: then the reader is at fault, or the disk, and not the person.
func (t *turning) refuseEmpty(list []core.TurnBatch) error {
	var again []string
	for i := range list {
		if list[i].Replace {
			if len(list[i].Turns) > 0 {
				return nil
			}
			again = append(again, list[i].Source)
		}
	}
	if len(again) == 0 {
		return nil
	}
	var held int64
	err := t.each(countTold, []any{jsonStrings(again)}, func(scan scanner) error { return scan(&held) })
	if err != nil || held < fullSources {
		return err
	}
	return &core.Refusal{
		What: "Not written.",
		Why:  fmt.Sprintf("What was read again tells not one turn, and the ledger holds %d of it.", held),
		Hint: "Look whether the transcripts are still whole; nothing was changed.",
	}
}

const countTold = `SELECT count(*) FROM turn_sources AS o JOIN turns AS t ON t.session = o.session AND t.origin = o.origin
	WHERE o.source IN (SELECT value FROM json_each(?))`
