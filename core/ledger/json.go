package ledger

import (
	"slices"
	"strconv"
	"strings"

	"tower/core"
)

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

// json writes the turns as one object, uid to instant and kind in one number: json_each hands out the
// two columns of that without looking into a value, which an array for each turn would ask of it.
func (t *turning) json(turns []core.Turn) string {
	b := append(t.db.buffer[:0], '{')
	for i, turn := range turns {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendInt(append(b, '"'), turn.UID, 10), '"', ':')
		b = strconv.AppendInt(b, int64(turn.At)<<8|int64(turn.Kind), 10)
	}
	t.db.buffer = append(b, '}')
	return string(t.db.buffer)
}

// parseInstants reads numbers joined by commas and returns them in ascending order; 0 is a turn whose
// time nobody knows.
func parseInstants(s string) ([]core.Instant, error) {
	if s == "" {
		return nil, nil
	}
	list := make([]core.Instant, 0, 1+strings.Count(s, ","))
	for s != "" {
		var number string
		number, s, _ = strings.Cut(s, ",")
		ms, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, core.Instant(ms))
	}
	slices.Sort(list)
	return list, nil
}
