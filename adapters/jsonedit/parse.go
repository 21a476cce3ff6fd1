// Package jsonedit changes JSON text that belongs to somebody else: it adds an item to an array, or
// takes one out again, and leaves every other byte where it was: order of keys, indentation, line
// ends, blanks. It promises that [Remove] after [Append] gives back the very bytes, whatever the text
// was before, and that text it cannot read is an error and never touched.
//
// It is for the adapters that add hook entries to an agent's settings. It reads and writes no files,
// accepts no comments and repairs nothing.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Kind is the kind of a JSON value.
type Kind byte

// The kinds of values.
const (
	Null   Kind = 'n'
	Bool   Kind = 'b'
	Number Kind = '0'
	String Kind = '"'
	Array  Kind = '['
	Dict   Kind = '{'
)

// Node is one value with its place in the text. Children of an array stand in order, those of an
// object as members whose key begins before the value.
type Node struct {
	Kind  Kind
	Start int // of the value
	End   int // behind its last byte
	Items []Member
}

// Member is one child: an item of an array, whose Key is "", or a member of an object.
type Member struct {
	Key   string
	Start int // where the child begins: at its key, in an object
	Value *Node
}

// maxDepth is far beyond any settings file and far below what the stack bears.
const maxDepth = 200

// Error tells where a text stops being JSON.
type Error struct {
	Line int // from 1
	Why  string
}

// Error returns the sentence.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// Parse takes a text apart. Text of nothing but blanks has no root: it returns nil and no error.
// Everything else that is not exactly one JSON value is an *Error.
func Parse(text []byte) (*Node, error) {
	p := parser{text: text}
	p.blanks()
	if p.at == len(text) {
		return nil, nil
	}
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		return nil, p.fail("the file begins with a byte order mark")
	}
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.blanks()
	if p.at != len(text) {
		return nil, p.fail("text behind the end of the document")
	}
	return n, nil
}

type parser struct {
	text []byte
	at   int
}

func (p *parser) fail(why string) error {
	at := min(p.at, len(p.text))
	return &Error{Line: 1 + bytes.Count(p.text[:at], []byte{'\n'}), Why: why}
}

func (p *parser) blanks() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) value(depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, p.fail("nested too deeply")
	}
	n := &Node{Start: p.at}
	var err error
	switch c := p.peek(); {
	case c == '{' || c == '[':
		n.Kind = Kind(c)
		err = p.children(n, depth)
	case c == '"':
		n.Kind = String
		_, err = p.str()
	case c == '-' || c >= '0' && c <= '9':
		n.Kind = Number
		err = p.number()
	case c == '/' || c == '#':
		err = p.fail("a comment, which JSON does not have")
	default:
		err = p.word(n)
	}
	n.End = p.at
	return n, err
}

func (p *parser) word(n *Node) error {
	for word, kind := range map[string]Kind{"true": Bool, "false": Bool, "null": Null} {
		if bytes.HasPrefix(p.text[p.at:], []byte(word)) {
			n.Kind = kind
			p.at += len(word)
			return nil
		}
	}
	if p.at == len(p.text) {
		return p.fail("the document ends too early")
	}
	return p.fail("no JSON value here")
}

// children reads an object or array, whose opening bracket is the next byte.
func (p *parser) children(n *Node, depth int) error {
	closing := byte(n.Kind) + 2 // in ASCII ']' and '}' stand two behind '[' and '{'
	p.at++
	p.blanks()
	if p.peek() == closing {
		p.at++
		return nil
	}
	for {
		m := Member{Start: p.at}
		if n.Kind == Dict {
			if p.peek() != '"' {
				return p.fail("a key is missing here")
			}
			var err error
			if m.Key, err = p.str(); err != nil {
				return err
			}
			p.blanks()
			if p.peek() != ':' {
				return p.fail("a colon is missing here")
			}
			p.at++
			p.blanks()
		}
		var err error
		if m.Value, err = p.value(depth + 1); err != nil {
			return err
		}
		n.Items = append(n.Items, m)
		p.blanks()
		switch p.peek() {
		case ',':
			p.at++
			p.blanks()
		case closing:
			p.at++
			return nil
		default:
			return p.fail("a comma or " + strconv.Quote(string(rune(closing))) + " is missing here")
		}
	}
}

// str reads a string and returns what it means.
func (p *parser) str() (string, error) {
	start := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '\\':
			p.at++
		case c < ' ':
			return "", p.fail("a bare control character in a string")
		case c == '"':
			p.at++
			var s string
			if err := json.Unmarshal(p.text[start:p.at], &s); err != nil {
				return "", p.fail("a string with a bad escape")
			}
			if !utf8.Valid(p.text[start:p.at]) {
				return "", p.fail("a string that is not UTF-8")
			}
			return s, nil
		}
	}
	return "", p.fail("a string without an end")
}

func (p *parser) number() error {
	start := p.at
	for p.at < len(p.text) && bytes.IndexByte([]byte("+-.0123456789eE"), p.text[p.at]) >= 0 {
		p.at++
	}
	if !json.Valid(p.text[start:p.at]) {
		return p.fail("a malformed number")
	}
	return nil
}

// child returns the member of that name. A name that stands twice is an error: which of the two an
// agent obeys is its own secret.
func (n *Node) child(key string) (int, error) {
	found := -1
	for i := range n.Items {
		if n.Items[i].Key == key {
			if found >= 0 {
				return -1, fmt.Errorf("the key %q stands twice", key)
			}
			found = i
		}
	}
	return found, nil
}

var errShape = errors.New("the file is not an object")
