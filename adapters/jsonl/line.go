package jsonl

import "bytes"

// Record is one whole JSON value of a line. Raw and everything in Members point into the driver's
// buffer and are overwritten when the call they were passed to has returned.
type Record struct {
	Raw     []byte
	Members []Member // of an object, in order, duplicates included; nil for any other value
}

// Object tells whether the record is an object; some agents' files hold numbers and strings, too.
func (r Record) Object() bool { return len(r.Raw) > 0 && r.Raw[0] == '{' }

// Get returns the raw value of a top-level member, or nil; of duplicates the last.
func (r Record) Get(name string) []byte {
	for i := len(r.Members) - 1; i >= 0; i-- {
		if string(r.Members[i].Key) == name {
			return r.Members[i].Val
		}
	}
	return nil
}

// rescues bounds the attempts to find a record behind a break in one line.
const rescues = 32

// liner takes lines apart into records. The slice of members is reused from record to record.
type liner struct{ members []Member }

// line calls f for each record of one physical line and tells whether all of it could be walked.
//
// A raw newline cannot occur inside a JSON value, so the line is the unit of damage: nothing torn in
// it can reach its neighbours. Within the line value follows value (two writers were faster than a
// newline). When the frame breaks, the record that was begun is given up, and what follows is looked
// for a place where a writer began anew:
//
//	{"type":"pr-link","prNu{"type":"user","uuid":"…","message":{…}}
//	^ broken                ^ taken: an object that runs to the end of the line
//
// Only a value up to the very end of the line counts as found, and none that stands where a member's
// value or an element would stand: there it is the inside of the broken record, not a record.
func (l *liner) line(b []byte, f func(Record)) (whole bool) {
	b = trim(b)
	if bytes.HasPrefix(b, []byte("//")) {
		return true
	}
	for len(b) > 0 {
		rest, ok := l.record(b, f)
		if !ok {
			l.rescue(b, f)
			return false
		}
		b = trim(rest)
	}
	return true
}

// whole tells whether b is one or more values and nothing else.
func (l *liner) whole(b []byte) bool {
	b = trim(b)
	if len(b) == 0 {
		return false
	}
	for len(b) > 0 {
		rest, ok := l.record(b, nil)
		if !ok {
			return false
		}
		b = trim(rest)
	}
	return true
}

func (l *liner) record(b []byte, f func(Record)) (rest []byte, ok bool) {
	var rec Record
	if b[0] == '{' {
		l.members, rest, ok = members(b, l.members[:0])
		rec.Members = l.members
	} else {
		_, rest, ok = Skip(b)
	}
	if ok && f != nil {
		rec.Raw = b[:len(b)-len(rest)]
		f(rec)
	}
	return rest, ok
}

func (l *liner) rescue(b []byte, f func(Record)) {
	for at, tries := 1, 0; at < len(b) && tries < rescues; at++ {
		n := bytes.Index(b[at:], []byte(`{"`))
		if n < 0 {
			return
		}
		at += n
		switch before := bytes.TrimRight(b[:at], " \t\r\x00"); {
		case len(before) > 0 && bytes.IndexByte([]byte(":,["), before[len(before)-1]) >= 0:
			continue
		}
		tries++
		if l.whole(b[at:]) {
			l.line(b[at:], f)
			return
		}
	}
}

// trim removes what may stand before a record: blanks, and the NULs that a power cut leaves where a
// file had been made longer but not yet written.
func trim(b []byte) []byte {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n' || b[i] == 0) {
		i++
	}
	return b[i:]
}
