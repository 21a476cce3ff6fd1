package jsonl

import "bytes"

const (
	giant     = 1 << 20  // a line without newline so far is elided from here on
	keep      = 64 << 10 // of each of its strings
	giantKept = 16 << 20 // what is longer even so is bad
)

// elider copies a giant line chunk by chunk with every string cut to its first [keep] bytes, so that
// the memory a line costs depends on what it says, not on the picture pasted into it. The copy is
// valid JSON wherever the line is: a cut never falls into an escape or a UTF-8 sequence.
type elider struct {
	out      []byte
	inside   bool // in a string
	start    int  // of it in out
	odd      bool // the string so far ends with an odd run of backslashes
	full     bool // the string has its share
	overflow bool // the copy passed giantKept; nothing more is kept
}

// feed takes the next bytes of the line, which hold no newline.
func (e *elider) feed(b []byte) {
	for len(b) > 0 {
		if !e.inside {
			n := bytes.IndexByte(b, '"')
			if n < 0 {
				e.add(b)
				return
			}
			e.add(b[:n+1])
			b = b[n+1:]
			e.inside, e.start, e.odd, e.full = true, len(e.out), false, false
			continue
		}
		n := bytes.IndexByte(b, '"')
		part := b
		if n >= 0 {
			part = b[:n]
		}
		k := len(part)
		for k > 0 && part[k-1] == '\\' {
			k--
		}
		odd := (len(part)-k)&1 == 1
		if k == 0 && e.odd {
			odd = !odd
		}
		e.text(part)
		if n < 0 {
			e.odd = odd
			return
		}
		if odd { // the quote is part of the text
			e.text(b[n : n+1])
			e.odd = false
		} else {
			e.add(b[n : n+1])
			e.inside = false
		}
		b = b[n+1:]
	}
}

// text adds a part of a string's inside, up to the string's share.
func (e *elider) text(part []byte) {
	if e.full || e.overflow {
		return
	}
	// A few bytes more than the share show whether an escape or a character goes on behind it.
	if room := e.start + keep + 8 - len(e.out); len(part) > room {
		part = part[:room]
	}
	e.add(part)
	if in := e.out[min(e.start, len(e.out)):]; len(in) >= keep+8 {
		e.out = e.out[:e.start+safe(in, keep)]
		e.full = true
	}
}

func (e *elider) add(b []byte) {
	if e.overflow {
		return
	}
	if len(e.out)+len(b) > giantKept {
		e.overflow, e.out = true, nil
		return
	}
	e.out = append(e.out, b...)
}
