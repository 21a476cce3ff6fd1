package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"tower/core"
)

// maxLog is the size at which the log is cut over.
const maxLog = 5 << 20

// log appends the line of this call: time, agent, event, id, milliseconds, what came of it. It is one
// write at the end of the file, which the kernel keeps apart from those of other hooks. There is
// nobody to tell when it fails.
func (c *call) log() {
	ms := float64(time.Since(c.began).Microseconds()) / 1000
	line := strings.Join([]string{
		core.InstantOf(c.began).String(),
		word(string(c.agent)), word(c.event), word(c.id),
		strconv.FormatFloat(ms, 'f', 2, 64) + "ms",
		strings.Join(c.notes, "; "),
	}, " ")
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line)
	appendLine(c.home.HookLog(), line+"\n")
}

func word(s string) string {
	if s == "" {
		return "-"
	}
	if !plain(s) {
		if len(s) > 64 {
			s = s[:64]
		}
		return strconv.QuoteToASCII(s)
	}
	return s
}

// appendLine writes to the log and cuts it over when it has grown enough: the file becomes path.1 and
// the next call begins a new one. No lock is taken. Two hooks may see the full file at once, so each
// looks once more whether the path still means the file it measured; the later of the two finds the
// new small one and leaves it.
func appendLine(path, line string) {
	if appendTo(path, line, maxLog) {
		os.Rename(path, path+".1")
	}
}
