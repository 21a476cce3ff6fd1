package jsonl

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Kind is what a raw value is, as its first byte tells.
type Kind uint8

// The kinds of values. KindNone is that of an absent value.
const (
	KindNone Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// KindOf returns the kind of a raw value.
func KindOf(val []byte) Kind {
	if len(val) == 0 {
		return KindNone
	}
	switch val[0] {
	case '{':
		return KindObject
	case '[':
		return KindArray
	case '"':
		return KindString
	case 't', 'f':
		return KindBool
	case 'n':
		return KindNull
	}
	return KindNumber
}

// Null tells whether a value is absent or null.
func Null(val []byte) bool { return len(val) == 0 || val[0] == 'n' }

// Bool returns the value of a boolean; anything else is false.
func Bool(val []byte) bool { return string(val) == "true" }

// Int64 returns the value of a whole number. A number with decimals or beyond 64 bits is not one.
func Int64(val []byte) (int64, bool) {
	if len(val) == 0 || KindOf(val) != KindNumber {
		return 0, false
	}
	n, err := strconv.ParseInt(string(val), 10, 64)
	if err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(val), 64)
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < -1<<53 {
		return 0, false
	}
	return int64(f), true
}

// String returns a decoded copy of a string value, always valid UTF-8; ok is false for a value of
// another kind. What encoding/json would refuse in it (a raw control character, an unknown escape) is
// kept as it stands: it came from a person's file and refusing it would lose it.
func String(val []byte) (s string, ok bool) { return Head(val, len(val)) }

// Text is [String] for callers to whom a value of another kind is as good as an absent one.
func Text(val []byte) string {
	s, _ := Head(val, len(val))
	return s
}

// Head is [String] for the beginning of a long string: it decodes about limit raw bytes, never half a
// character or half an escape.
func Head(val []byte, limit int) (s string, ok bool) {
	if len(val) < 2 || val[0] != '"' {
		return "", false
	}
	raw := val[1 : len(val)-1]
	if len(raw) > limit {
		raw = raw[:safe(raw, limit)]
	}
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw), true
	}
	return string(decode(nil, raw, len(raw))), true
}

// Inner returns the undecoded inside of a string value, or nil: for comparisons with text that no
// serializer escapes, which need no copy.
func Inner(val []byte) []byte {
	if len(val) < 2 || val[0] != '"' {
		return nil
	}
	return val[1 : len(val)-1]
}

// Is tells whether val is a string that reads text.
func Is(val []byte, text string) bool {
	in := Inner(val)
	if string(in) == text {
		return in != nil
	}
	if bytes.IndexByte(in, '\\') < 0 {
		return false
	}
	return string(decode(nil, in, len(in))) == text
}

// safe returns the largest n <= limit at which raw, the inside of a string, can be cut without
// cutting an escape or a UTF-8 sequence.
func safe(raw []byte, limit int) int {
	i := 0
	for i < limit {
		j := bytes.IndexByte(raw[i:limit], '\\')
		if j < 0 {
			break
		}
		i += j
		n := 2
		if i+1 < len(raw) && raw[i+1] == 'u' {
			n = 6
		}
		if i+n > limit {
			return i
		}
		i += n
	}
	end := limit
	for end > i && end > limit-utf8.UTFMax && end < len(raw) && !utf8.RuneStart(raw[end]) {
		end--
	}
	return end
}

// decode appends the decoded inside of a string to out. It gives what encoding/json gives wherever
// that accepts the string; the fuzz test holds the two together.
func decode(out, raw []byte, size int) []byte {
	if out == nil {
		out = make([]byte, 0, size)
	}
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '\\' && i+1 < len(raw):
			var n int
			out, n = unescape(out, raw[i:])
			i += n
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(raw[i:])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	return out
}

// unescape appends what the escape at the start of raw means and returns its length.
func unescape(out, raw []byte) ([]byte, int) {
	switch c := raw[1]; c {
	case '"', '\\', '/':
		return append(out, c), 2
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	case 'u':
		r := hex4(raw)
		if r < 0 {
			return append(out, '\\'), 1
		}
		if !utf16.IsSurrogate(r) {
			return utf8.AppendRune(out, r), 6
		}
		if pair := utf16.DecodeRune(r, hex4(raw[6:])); pair != utf8.RuneError {
			return utf8.AppendRune(out, pair), 12
		}
		return utf8.AppendRune(out, utf8.RuneError), 6
	}
	return append(out, '\\'), 1
}

// hex4 returns the number in the \uXXXX at the start of b, or -1.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
