//go:build !linux

package main

import (
	"io"
	"os"
	"time"
)

// read fills the input from a stream until its value is whole, the stream ends or the time is up. It
// returns by how much the first byte came after the time for all of it.
func (in *input) read(f *os.File, began time.Time) (late time.Duration) {
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
	timer := time.NewTimer(time.Until(began.Add(firstByte)))
	defer timer.Stop()
	for {
		select {
		case c := <-chunks:
			if in.size == 0 {
				late = max(0, time.Since(began.Add(inputDeadline)))
				left := time.Until(began.Add(inputDeadline))
				if late > 0 {
					left = inputDeadline
				}
				timer.Reset(left)
			}
			if !in.take(c.b, c.err) {
				return late
			}
		case <-timer.C:
			return late
		}
	}
}
