package jsonl

import "bytes"

// Member is one member of a JSON object. Key is decoded, Val is the raw text of the value. Both point
// into the walked bytes (a key with an escape is a copy) and die with them.
type Member struct{ Key, Val []byte }

// Skip steps over the value at the start of b, leading blanks aside, and returns its raw text and
// what follows. ok is false when the frame of a value cannot be walked to its end.
//
// The frame is all that is looked at: quotes, brackets, and what stands next to a string. What lies
// inside strings is neither validated nor touched, so a run of NULs in a skipped string does no harm.
func Skip(b []byte) (val, rest []byte, ok bool) {
	i := blanks(b, 0)
	end := skip(b, i)
	if end < 0 {
		return nil, b, false
	}
	return b[i:end], b[end:], true
}

// Object calls f for each member of the object at the start of b, in order, duplicates included; who
// wants the rule of encoding/json lets the last one win. After f has returned false it is called no
// more, but the walk still goes to the end of the object, so that rest and ok mean the same either
// way. ok is false when b does not start with an object or its frame breaks; members before the break
// have been reported by then.
func Object(b []byte, f func(key, val []byte) bool) (rest []byte, ok bool) {
	i := blanks(b, 0)
	if i >= len(b) || b[i] != '{' {
		return b, false
	}
	i = blanks(b, i+1)
	if i < len(b) && b[i] == '}' {
		return b[i+1:], true
	}
	for more := true; ; {
		var key, val []byte
		if key, val, i = member(b, i); i < 0 {
			return b, false
		}
		if more {
			more = f(key, val)
		}
		if i >= len(b) {
			return b, false
		}
		switch b[i] {
		case ',':
			i = blanks(b, i+1)
		case '}':
			return b[i+1:], true
		default:
			return b, false
		}
	}
}

// Array calls f for each element of the array at the start of b, under the rules of [Object].
func Array(b []byte, f func(val []byte) bool) (rest []byte, ok bool) {
	i := blanks(b, 0)
	if i >= len(b) || b[i] != '[' {
		return b, false
	}
	i = blanks(b, i+1)
	if i < len(b) && b[i] == ']' {
		return b[i+1:], true
	}
	for more := true; ; {
		end := skip(b, i)
		if end < 0 {
			return b, false
		}
		if more {
			more = f(b[i:end])
		}
		if i = blanks(b, end); i >= len(b) {
			return b, false
		}
		switch b[i] {
		case ',':
			i = blanks(b, i+1)
		case ']':
			return b[i+1:], true
		default:
			return b, false
		}
	}
}

// Enter is [Object] for a caller that goes down into a value: f gets the bytes from the value on, not
// its end, and returns what follows the value when it has walked it, or nil to have it skipped. So a
// long value is stepped over once for all levels it lies under, not once for each.
func Enter(b []byte, f func(key, from []byte) (rest []byte)) (rest []byte, ok bool) {
	i := blanks(b, 0)
	if i >= len(b) || b[i] != '{' {
		return b, false
	}
	i = blanks(b, i+1)
	if i < len(b) && b[i] == '}' {
		return b[i+1:], true
	}
	for {
		key, at := name(b, i)
		if at < 0 {
			return b, false
		}
		if i = behind(b, at, f(key, b[at:])); i < 0 || i >= len(b) {
			return b, false
		}
		switch b[i] {
		case ',':
			i = blanks(b, i+1)
		case '}':
			return b[i+1:], true
		default:
			return b, false
		}
	}
}

// EnterArray is [Array] under the rules of [Enter].
func EnterArray(b []byte, f func(from []byte) (rest []byte)) (rest []byte, ok bool) {
	i := blanks(b, 0)
	if i >= len(b) || b[i] != '[' {
		return b, false
	}
	i = blanks(b, i+1)
	if i < len(b) && b[i] == ']' {
		return b[i+1:], true
	}
	for i < len(b) {
		if i = behind(b, i, f(b[i:])); i < 0 || i >= len(b) {
			return b, false
		}
		switch b[i] {
		case ',':
			i = blanks(b, i+1)
		case ']':
			return b[i+1:], true
		default:
			return b, false
		}
	}
	return b, false
}

// behind returns the place of what follows the value at i, blanks skipped, or -1.
func behind(b []byte, i int, rest []byte) int {
	if rest != nil {
		return blanks(b, len(b)-len(rest))
	}
	end := skip(b, i)
	if end < 0 {
		return -1
	}
	return blanks(b, end)
}

// Get returns the raw value that path leads to through nested objects, or nil. Of duplicate keys the
// last one counts.
func Get(b []byte, path ...string) []byte {
	for _, name := range path {
		var found []byte
		if _, ok := Object(b, func(key, val []byte) bool {
			if string(key) == name {
				found = val
			}
			return true
		}); !ok || found == nil {
			return nil
		}
		b = found
	}
	return b
}

// members appends the members of the object at the start of b to into: Object without the callback,
// for the one walk every record gets.
func members(b []byte, into []Member) (all []Member, rest []byte, ok bool) {
	i := blanks(b, 1)
	if i < len(b) && b[i] == '}' {
		return into, b[i+1:], true
	}
	for {
		var key, val []byte
		if key, val, i = member(b, i); i < 0 || i >= len(b) {
			return into, b, false
		}
		into = append(into, Member{key, val})
		switch b[i] {
		case ',':
			i = blanks(b, i+1)
		case '}':
			return into, b[i+1:], true
		default:
			return into, b, false
		}
	}
}

// member reads `"key" : value` at i and returns the place of what follows, blanks skipped, or -1.
func member(b []byte, i int) (key, val []byte, next int) {
	key, i = name(b, i)
	if i < 0 {
		return nil, nil, -1
	}
	end := skip(b, i)
	if end < 0 {
		return nil, nil, -1
	}
	return key, b[i:end], blanks(b, end)
}

// name reads `"key" :` at i and returns the place of the value, or -1. Keys are short and there are
// twenty to a line: looking at each byte finds quote and escape in less time than two calls that are
// made for long texts.
func name(b []byte, i int) (key []byte, at int) {
	if i >= len(b) || b[i] != '"' {
		return nil, -1
	}
	end := -1
	for j := i + 1; j < len(b) && j < i+shortKey; j++ {
		if b[j] == '"' {
			key, end = b[i+1:j], j+1
			break
		}
		if b[j] == '\\' {
			break
		}
	}
	if end < 0 {
		if end = skipString(b, i); end < 0 {
			return nil, -1
		}
		key = b[i+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			// An escaped key is legal and costs nothing on real files, which have none.
			key = decode(nil, key, len(key))
		}
	}
	if i = blanks(b, end); i >= len(b) || b[i] != ':' {
		return nil, -1
	}
	return key, blanks(b, i+1)
}

const shortKey = 32

// skip returns the place behind the value that starts at i, or -1.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipContainer(b, i)
	}
	return skipScalar(b, i)
}

// skipString returns the place behind the string that opens at i, or -1. It jumps from quote to quote
// and looks back from each: a quote ends the string when an even number of backslashes precedes it.
// Looking for backslashes instead would cost a second search of every string. The runs looked at do
// not overlap, so the work stays linear whatever the text.
func skipString(b []byte, i int) int {
	for j := i + 1; ; {
		n := bytes.IndexByte(b[j:], '"')
		if n < 0 {
			return -1
		}
		j += n
		k := j
		for k > i+1 && b[k-1] == '\\' {
			k--
		}
		j++
		if (j-1-k)&1 == 0 {
			return j
		}
	}
}

// skipContainer returns the place behind the object or array that opens at i, or -1. Depth is a
// number, not a stack: which bracket closes which is not checked. What follows a string is: when a
// record was cut inside a string and the next one begins right there, inside and outside change
// places, and the first letter behind a closing quote gives it away.
func skipContainer(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			if i < len(b) && (b[i] == ':' || b[i] == ',') {
				i++
				continue
			}
			if i = blanks(b, i); i >= len(b) {
				return -1
			}
			switch b[i] {
			case ':', ',', '}', ']':
			default:
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// skipScalar returns the place behind the number or literal at i, or -1. A number is any run of the
// characters of numbers.
func skipScalar(b []byte, i int) int {
	j := i
	for j < len(b) && (b[j] >= '0' && b[j] <= '9' || b[j] == '-' || b[j] == '+' || b[j] == '.' || b[j] == 'e' || b[j] == 'E') && (j > i || b[j] == '-' || b[j] >= '0' && b[j] <= '9') {
		j++
	}
	if j > i {
		return j
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(b)-i >= len(word) && string(b[i:i+len(word)]) == word {
			return i + len(word)
		}
	}
	return -1
}

func blanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}
