package main

import (
	"bytes"
	"encoding/json"
)

// wanted are the top-level strings of a payload that an envelope repeats. Agents agree on them; the
// second spelling of the session's id is that of programs written in JavaScript.
var wanted = []string{"session_id", "sessionId", "transcript_path", "cwd", "source", "reason", "hook_event_name"}

// fields reads the wanted strings from a payload, or from the beginning of one: of a value that is
// torn, or too large to keep, the session is known all the same. What is not a string is not there.
// Of a key that stands twice the last one counts, as in encoding/json.
func fields(b []byte) map[string]string {
	found := map[string]string{}
	w := walker{b: bytes.TrimPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("\xef\xbb\xbf"))}
	if !w.take('{') {
		return found
	}
	for {
		key, ok := w.str()
		if !ok || !w.take(':') {
			return found
		}
		w.blanks()
		if w.peek() == '"' {
			value, ok := w.str()
			if !ok {
				return found
			}
			if name, ok := match(key); ok {
				if s, ok := text(value); ok {
					found[name] = s
				}
			}
		} else if !w.skip() {
			return found
		}
		if !w.take(',') {
			return found
		}
	}
}

func match(key []byte) (string, bool) {
	if bytes.IndexByte(key, '\\') >= 0 {
		s, ok := text(key)
		if !ok {
			return "", false
		}
		key = []byte(s)
	}
	for _, name := range wanted {
		if string(key) == name {
			return name, true
		}
	}
	return "", false
}

// text decodes what stands between the quotes of a string.
func text(raw []byte) (string, bool) {
	quoted := make([]byte, 0, len(raw)+2)
	quoted = append(append(append(quoted, '"'), raw...), '"')
	var s string
	return s, json.Unmarshal(quoted, &s) == nil
}

// walker steps through a JSON text without building it.
type walker struct {
	b []byte
	i int
}

func (w *walker) blanks() {
	for w.i < len(w.b) && blank(w.b[w.i]) {
		w.i++
	}
}

func (w *walker) peek() byte {
	if w.i < len(w.b) {
		return w.b[w.i]
	}
	return 0
}

func (w *walker) take(c byte) bool {
	w.blanks()
	if w.peek() != c {
		return false
	}
	w.i++
	return true
}

// str takes a string and returns what stands between its quotes.
func (w *walker) str() ([]byte, bool) {
	if !w.take('"') {
		return nil, false
	}
	from := w.i
	for w.i < len(w.b) {
		switch w.b[w.i] {
		case '\\':
			w.i++
		case '"':
			w.i++
			return w.b[from : w.i-1], true
		}
		w.i++
	}
	return nil, false
}

// skip steps over a value that is not a string.
func (w *walker) skip() bool {
	depth := 0
	for w.i < len(w.b) {
		switch w.b[w.i] {
		case '"':
			if _, ok := w.str(); !ok {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return true
			}
			depth--
		case ',':
			if depth == 0 {
				return true
			}
		}
		w.i++
	}
	return false
}
