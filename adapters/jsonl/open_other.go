//go:build !unix

package jsonl

// noWait has no flag here; no path leads to a pipe by accident.
const noWait = 0
