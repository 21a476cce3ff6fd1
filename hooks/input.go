package main

import (
	"bytes"
	"io"
	"strconv"
)

// maxPayload is the most that is kept of a payload. What comes behind it is read all the same, because
// an agent that finds its pipe closed may call the hook broken.
const maxPayload = 4 << 20

// input collects one JSON value. It never waits for the end of the stream: agents keep it open. The
// end is where the value's brackets close, and the scan for it goes on where it stopped, since
// scanning from the start after each read would be quadratic.
type input struct {
	buf  []byte // as far as maxPayload
	size int    // of the whole stream so far
	scan scanner
	err  error
}

// take keeps what a read of the stream returned, and tells whether another one is wanted.
func (in *input) take(b []byte, err error) bool {
	keep := min(len(b), maxPayload-len(in.buf))
	in.buf = append(in.buf, b[:keep]...)
	in.size += len(b)
	in.err = err
	return !in.scan.feed(b) && err == nil
}

// payload returns the value, or why there is none.
func (in *input) payload() (value []byte, missing string) {
	switch {
	case in.scan.whole() && in.scan.end <= len(in.buf):
		return in.buf[in.scan.start:in.scan.end:in.scan.end], ""
	case in.size > maxPayload:
		return nil, "it has more than " + strconv.Itoa(maxPayload) + " bytes"
	case in.scan.state == stateBefore && in.err != nil && in.err != io.EOF:
		return nil, "input: " + in.err.Error()
	case in.scan.state == stateBefore:
		return nil, "nothing came in"
	case in.scan.state == stateScalar:
		// A bare number or word ends where the stream does.
		return bytes.TrimSpace(in.buf[in.scan.start:]), ""
	}
	return nil, "it was not whole"
}

type state uint8

const (
	stateBefore state = iota // blanks and a byte order mark
	stateScalar
	stateInside
	stateString
	stateEscape
	stateEnd
)

// scanner finds the borders of the first JSON value of a stream by the depth of its brackets. It does
// not check what stands between them.
type scanner struct {
	state      state
	depth      int
	at         int // bytes fed
	start, end int // of the value
}

func (s *scanner) whole() bool { return s.state == stateEnd }

// feed takes the next bytes and tells whether the value has ended.
func (s *scanner) feed(b []byte) bool {
	for i := 0; i < len(b) && s.state != stateEnd; i++ {
		c := b[i]
		switch s.state {
		case stateBefore:
			s.begin(c, s.at+i)
		case stateScalar:
			if blank(c) {
				s.finish(s.at + i)
			}
		case stateEscape:
			s.state = stateString
		case stateString:
			switch {
			case c == '\\':
				s.state = stateEscape
			case c == '"' && s.depth == 0:
				s.finish(s.at + i + 1)
			case c == '"':
				s.state = stateInside
			}
		case stateInside:
			switch c {
			case '"':
				s.state = stateString
			case '{', '[':
				s.depth++
			case '}', ']':
				if s.depth--; s.depth == 0 {
					s.finish(s.at + i + 1)
				}
			}
		}
	}
	s.at += len(b)
	return s.whole()
}

func (s *scanner) begin(c byte, at int) {
	switch {
	case blank(c) || c == 0xef || c == 0xbb || c == 0xbf:
		return
	case c == '{' || c == '[':
		s.state, s.depth = stateInside, 1
	case c == '"':
		s.state = stateString
	default:
		s.state = stateScalar
	}
	s.start = at
}

func (s *scanner) finish(at int) { s.state, s.end = stateEnd, at }

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }
