package claude

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"tower/adapters/jsonl"
)

// The bounds of reading a transcript from its end: the first piece, and the longest.
const (
	tailFirst = 1 << 20
	tailMost  = 8 << 20
)

var errTooLarge = errors.New("larger than any of its kind")

// readSmall reads a file that may hold at most limit bytes.
func readSmall(path string, limit int64) ([]byte, error) {
	f, err := jsonl.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errTooLarge
	}
	return b, err
}

// last reads the last n bytes of a file that is appended to. Unless that is the whole file, what
// stands before the first newline is left out, since it is the rest of a line.
func last(f *os.File, n int64) (b []byte, whole bool, err error) {
	st, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	from := max(0, st.Size()-n)
	b, err = io.ReadAll(io.NewSectionReader(f, from, st.Size()-from))
	if err != nil {
		return nil, false, fmt.Errorf("read end of transcript: %w", err)
	}
	if from == 0 {
		return b, true, nil
	}
	_, b, _ = bytes.Cut(b, []byte("\n"))
	return b, false, nil
}

// backward calls f for each line of b from the last to the first until it returns false.
func backward(b []byte, f func(line []byte) bool) {
	for len(b) > 0 {
		b = bytes.TrimRight(b, "\r\n")
		i := bytes.LastIndexByte(b, '\n')
		if line := b[i+1:]; len(line) > 0 && !f(line) {
			return
		}
		b = b[:i+1]
	}
}

// growing reads a transcript from its end in pieces that double until look has had enough or the
// bound is reached. look is given whole lines, and whether they are all the file has.
func growing(path string, look func(b []byte, whole bool) (enough bool)) error {
	f, err := jsonl.Open(path)
	if err != nil {
		return fmt.Errorf("open transcript: %w", err)
	}
	defer f.Close()
	for n := int64(tailFirst); n <= tailMost; n *= 2 {
		b, whole, err := last(f, n)
		if err != nil {
			return err
		}
		if look(b, whole) || whole {
			return nil
		}
	}
	return nil
}
