package codex

import (
	"bytes"

	"tower/adapters/jsonl"
)

// first returns the type of a payload. It stands at the front wherever the agent itself wrote it, and
// looking there saves walking payloads nobody wants.
func first(payload []byte) []byte {
	if rest, ok := bytes.CutPrefix(payload, []byte(`{"type":"`)); ok {
		if n := bytes.IndexByte(rest, '"'); n >= 0 && bytes.IndexByte(rest[:n], '\\') < 0 {
			return rest[:n]
		}
	}
	return word(jsonl.Get(payload, "type"))
}

// word returns the text of a short string, a copy only where it has an escape.
func word(val []byte) []byte {
	in := jsonl.Inner(val)
	if bytes.IndexByte(in, '\\') >= 0 {
		return []byte(jsonl.Text(val))
	}
	return in
}

// pick holds the values of some members of an object, nil for one that is not there.
type pick [10][]byte

func (p *pick) from(object []byte, names ...string) {
	jsonl.Object(object, func(key, val []byte) bool {
		for i, name := range names {
			if string(key) == name {
				p[i] = val
			}
		}
		return true
	})
}

// filled tells whether an array has an element.
func filled(array []byte) bool {
	some := false
	jsonl.Array(array, func([]byte) bool { some = true; return false })
	return some
}
