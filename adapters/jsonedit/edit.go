package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
)

// Append returns text with value added as the last item of the array that path, a list of object
// keys, leads to. Objects on the way and the array itself are made when they are missing; a thing of
// another kind on the way is an error. Text without a document becomes one; nil stands for no file.
//
// # How removal knows what to take
//
// A container that was there but empty and one that had to be made look alike once they are filled.
// The blanks tell them apart: the first child goes directly behind the bracket of a container that
// was there, and what stood between the brackets stays behind it, whereas a container that is made
// begins its first child with a blank or on a new line.
//
//	{"hooks": {}}   ->  {"hooks": {"Stop": [ 1 ]}}  ->  {"hooks": {}}
//	{"a": 1}        ->  {"a": 1, "hooks": { "Stop": [ 1 ] }}  ->  {"a": 1}
//
// A document that was made from nothing ends with a line end, one that was made in an empty file does
// not. When somebody has put the file in another layout since, the worst that follows is that an
// empty container goes with its last child.
func Append(text []byte, path []string, value any) ([]byte, error) {
	root, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if root == nil {
		l := layout{unit: "  ", nl: "\n", lines: true}
		made := l.render(nest(path, value), "")
		if text == nil {
			return []byte(made + "\n"), nil
		}
		return []byte(string(text) + made), nil
	}
	l := layoutOf(text, root)
	n := root
	for i, key := range path {
		if n.Kind != Dict {
			return nil, shapeError(path[:i], "an object")
		}
		at, err := n.child(key)
		if err != nil {
			return nil, err
		}
		if at < 0 {
			return insert(text, l, n, key, nest(path[i+1:], value)), nil
		}
		n = n.Items[at].Value
	}
	if n.Kind != Array {
		return nil, shapeError(path, "an array")
	}
	return insert(text, l, n, "", value), nil
}

func shapeError(path []string, want string) error {
	if len(path) == 0 {
		return errShape
	}
	return fmt.Errorf("%q is not %s", path[len(path)-1], want)
}

// nest wraps value into an array and objects of the names of path.
func nest(path []string, value any) any {
	v := any([]any{value})
	for i := len(path) - 1; i >= 0; i-- {
		v = Object{{path[i], v}}
	}
	return v
}

// insert puts a child behind the last one of n.
func insert(text []byte, l layout, n *Node, key string, value any) []byte {
	var b bytes.Buffer
	outer := indentAt(text, n.Start)
	at := n.Start + 1
	indent := outer
	if k := len(n.Items); k > 0 {
		last := n.Items[k-1]
		at = last.Value.End
		b.WriteByte(',')
		lead := leadOf(text, last.Start)
		switch {
		case bytes.IndexByte(lead, '\n') >= 0:
			indent = indentAt(text, last.Start)
			b.WriteString(l.nl + indent)
		case l.lines && n.Kind == Dict && bytes.IndexByte(text[n.Start:n.End], '\n') >= 0:
			// The first member went directly behind the bracket; the others get lines of their own.
			indent = outer + l.unit
			b.WriteString(l.nl + indent)
		case l.spaced:
			b.WriteByte(' ')
		}
	}
	if n.Kind == Dict {
		b.Write(quote(key))
		b.WriteString(l.colon())
	}
	b.WriteString(l.render(value, indent))
	out := make([]byte, 0, len(text)+b.Len())
	out = append(out, text[:at]...)
	out = append(out, b.Bytes()...)
	return append(out, text[at:]...)
}

// leadOf returns the blanks directly before a place.
func leadOf(text []byte, at int) []byte {
	start := at
	for start > 0 && isBlank(text[start-1]) {
		start--
	}
	return text[start:at]
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// indentAt returns the blanks that begin the line of a place.
func indentAt(text []byte, at int) string {
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	end := start
	for end < at && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	return string(text[start:end])
}

// ErrNoSuch says that the child to be removed does not exist.
var ErrNoSuch = errors.New("no such entry")

// Remove returns text without the child that path leads to: object keys are strings, array items
// ints. A container that [Append] made for the child goes with it, and so does the whole document:
// the result is nil when Append began without a file.
func Remove(text []byte, path ...any) ([]byte, error) {
	root, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if root == nil || len(path) == 0 {
		return nil, ErrNoSuch
	}
	chain, index := []*Node{root}, make([]int, len(path))
	for i, step := range path {
		n := chain[i]
		at := -1
		switch s := step.(type) {
		case string:
			if n.Kind == Dict {
				if at, err = n.child(s); err != nil {
					return nil, err
				}
			}
		case int:
			if n.Kind == Array && s >= 0 && s < len(n.Items) {
				at = s
			}
		}
		if at < 0 {
			return nil, ErrNoSuch
		}
		index[i] = at
		chain = append(chain, n.Items[at].Value)
	}
	for i := len(path) - 1; i >= 0; i-- {
		n, at := chain[i], index[i]
		m := n.Items[at]
		switch {
		case len(n.Items) > 1 && at > 0:
			return cut(text, n.Items[at-1].Value.End, m.Value.End), nil
		case len(n.Items) > 1:
			return cut(text, m.Start, n.Items[1].Start), nil
		case len(leadOf(text, m.Start)) == 0:
			return cut(text, m.Start, m.Value.End), nil
		}
	}
	if root.Start == 0 && string(text[root.End:]) == "\n" {
		return nil, nil
	}
	return cut(text, root.Start, root.End), nil
}

// cut returns text without the bytes from from to to. The result is never nil.
func cut(text []byte, from, to int) []byte {
	out := make([]byte, 0, len(text)-(to-from))
	out = append(out, text[:from]...)
	return append(out, text[to:]...)
}
