package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Object is an object whose members are written in this order.
type Object []Pair

// Pair is one member of an [Object].
type Pair struct {
	Key   string
	Value any // string, int, bool, nil, []any or Object
}

// layout is the manner in which a document is written.
type layout struct {
	lines  bool   // children on lines of their own
	unit   string // one step of indentation
	nl     string // "\n" or "\r\n"
	spaced bool   // a blank behind colon and comma
}

// layoutOf reads the manner of a document off its first line that is indented deeper than its
// parent. A document in one line is continued in one line.
func layoutOf(text []byte, root *Node) layout {
	l := layout{nl: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		l.nl = "\r\n"
	}
	inner := text[root.Start:root.End]
	l.lines = bytes.IndexByte(inner, '\n') >= 0
	if len(root.Items) == 0 {
		l.lines = true
	}
	l.spaced = l.lines || bytes.Contains(inner, []byte(`": `)) || bytes.Contains(inner, []byte(", "))
	if unit, ok := unitOf(text, root); ok {
		l.unit = unit
	} else {
		l.unit = "  "
	}
	return l
}

func unitOf(text []byte, n *Node) (string, bool) {
	outer := indentAt(text, n.Start)
	for _, m := range n.Items {
		if bytes.IndexByte(leadOf(text, m.Start), '\n') >= 0 {
			if unit, ok := strings.CutPrefix(indentAt(text, m.Start), outer); ok {
				return unit, true
			}
		}
		if unit, ok := unitOf(text, m.Value); ok {
			return unit, true
		}
	}
	return "", false
}

func (l layout) colon() string {
	if l.spaced {
		return ": "
	}
	return ":"
}

// render writes a value whose line is indented by indent. A container always begins with a blank or
// a line end, which is what tells [Remove] that it was made here.
func (l layout) render(value any, indent string) string {
	var open, closing string
	var keys []string
	var values []any
	switch v := value.(type) {
	case Object:
		open, closing = "{", "}"
		for _, p := range v {
			keys, values = append(keys, string(quote(p.Key))+l.colon()), append(values, p.Value)
		}
	case []any:
		open, closing = "[", "]"
		keys, values = make([]string, len(v)), v
	default:
		return string(quote(value))
	}
	if len(values) == 0 {
		return open + closing
	}
	lead, sep, tail, deeper := " ", ",", " ", ""
	if l.spaced {
		sep = ", "
	}
	if l.lines {
		deeper = indent + l.unit
		lead, sep, tail = l.nl+deeper, ","+l.nl+deeper, l.nl+indent
	}
	var b strings.Builder
	b.WriteString(open + lead)
	for i, v := range values {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(keys[i] + l.render(v, deeper))
	}
	b.WriteString(tail + closing)
	return b.String()
}

// quote writes a plain value as JSON, leaving <, > and & as they are.
func quote(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("jsonedit: %T is not a plain value: %v", v, err))
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
