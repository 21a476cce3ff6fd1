package ledger

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"tower/core"
)

// namesTable is one of the two tables that count names for each origin.
type namesTable struct{ add, drop string }

var (
	folderTable = countingTable("folders", "path", "named")
	skillTable  = countingTable("skills", "skill", "runs")
)

func countingTable(table, name, count string) namesTable {
	return namesTable{
		add: fmt.Sprintf(`INSERT INTO %s (origin, %s, %s) SELECT ?1, value ->> 0, value ->> 1 FROM json_each(?2) WHERE true
			ON CONFLICT (origin, %s) DO UPDATE SET %s = excluded.%s WHERE %s <> excluded.%s`,
			table, name, count, name, count, count, count, count),
		drop: fmt.Sprintf(`DELETE FROM %s WHERE origin = ?1 AND %s NOT IN (SELECT value ->> 0 FROM json_each(?2))`, table, name),
	}
}

// names makes the table hold exactly these counts for the origin.
func (t *turning) names(o *origin, fresh bool, table *namesTable, counts map[string]int64) error {
	list := jsonCounts(counts)
	if !fresh {
		if _, err := t.exec(table.drop, o.id, list); err != nil {
			return err
		}
	}
	if len(counts) == 0 {
		return nil
	}
	_, err := t.exec(table.add, o.id, list)
	return err
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

// The JSON that goes into json_each is written here and not by encoding/json, which replaces bytes
// that are not UTF-8: a path may hold any. SQLite takes them as they are.

func jsonStrings(list []string) string {
	b := []byte{'['}
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = quote(b, s)
	}
	return string(append(b, ']'))
}

func jsonCounts(counts map[string]int64) string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	b := []byte{'['}
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(quote(append(b, '['), name), ',')
		b = append(strconv.AppendInt(b, counts[name], 10), ']')
	}
	return string(append(b, ']'))
}

func jsonNumbers(set map[int64]struct{}) string {
	list := make([]int64, 0, len(set))
	for n := range set {
		list = append(list, n)
	}
	slices.Sort(list)
	b := []byte{'['}
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(append(b, ']'))
}

func quote(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
