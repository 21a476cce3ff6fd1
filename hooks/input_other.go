//go:build !linux

package main

import (
	"io"
	"os"
	"time"
)

// read fills the input from a stream until its value is whole, the stream ends or the time is up.
func (in *input) read(f *os.File, deadline time.Time) {
	type chunk struct {
		b   []byte
		err error
	}
	chunks := make(chan chunk)
	go func() {
		defer func() { _ = recover() }()
		for err := error(nil); err == nil; {
			var n int
			buf := make([]byte, 64<<10)
			n, err = io.ReadAtLeast(f, buf, 1)
			chunks <- chunk{buf[:n], err}
		}
	}()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	for {
		select {
		case c := <-chunks:
			if !in.take(c.b, c.err) {
				return
			}
		case <-timer.C:
			return
		}
	}
}
