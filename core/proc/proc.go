// Package proc reads the process table of this machine: who runs, whose child it is, since when, and
// when it is gone. It promises that one read costs a few milliseconds for hundreds of processes, that
// a process is identified by its raw start as well as its pid, and that what cannot be read is told
// as unknown. The engine polls with it and hands the table to the adapters; the hook asks it for its
// own ancestry, so it holds nothing but the standard library. It signals a process only when asked
// to and only after proving that it is still the one meant, never waits for one it was not asked to
// watch, and never judges what a process is.
//
// # Absence
//
// A process that has gone between two reads is simply not in the second one. So is a process of
// another user where the system hides those (/proc mounted with hidepid): that a pid of another user
// is absent proves nothing about it. Processes of one's own user are never hidden, and Tower follows
// only those.
//
// Linux is verified. The files for macOS and Windows compile and are not verified.
package proc

import (
	"os"
	"strings"
	"unicode/utf8"

	"tower/core"
)

// Boot returns the id of the running boot, or "" where the system has none. Starts of two boots are
// never compared.
func Boot() string { return boot() }

// Start returns the raw start of a process, and false when there is no such process or it cannot be
// read. A process that has ended but was not yet waited for still has its start.
func Start(pid int) (uint64, bool) {
	row, ok := row(pid)
	return row.Start, ok
}

// Self identifies the running process.
func Self() core.Process {
	pid := os.Getpid()
	start, _ := Start(pid)
	return core.Process{Boot: boot(), PID: pid, Start: start}
}

// What Ancestors keeps of an argument list.
const (
	ancestorArgs = 6
	ancestorArg  = 200 // bytes
)

// Ancestors returns the processes above pid, nearest first and pid itself left out, at most max of
// them. It stops where a parent cannot be read, and where the parent is younger than its child: that
// is another process under a recycled pid. Exe is "" and Args nil when they could not be read.
func Ancestors(pid, max int) []core.Ancestor {
	chain := []core.Ancestor{}
	for _, up := range above(pid, max, row) {
		a := core.Ancestor{PID: up.PID, PPID: up.PPID, Created: up.Start}
		a.Exe, _ = exe(up.PID)
		a.Args = firstArgs(up.PID)
		chain = append(chain, a)
	}
	return chain
}

func above(pid, max int, row func(int) (core.Proc, bool)) []core.Proc {
	var chain []core.Proc
	child, ok := row(pid)
	for ok && len(chain) < max && child.PPID > 0 {
		var up core.Proc
		up, ok = row(child.PPID)
		if !ok || up.Start > child.Start {
			break
		}
		chain = append(chain, up)
		child = up
	}
	return chain
}

// cut shortens an argument to what an ancestry keeps, at the border of a character, and makes it text
// that every JSON reader takes.
func cut(arg []byte) string {
	if len(arg) > ancestorArg {
		end := ancestorArg
		for back := 0; back < utf8.UTFMax && end > 0 && !utf8.RuneStart(arg[end]); back++ {
			end--
		}
		arg = arg[:end]
	}
	return strings.ToValidUTF8(string(arg), string(utf8.RuneError))
}
