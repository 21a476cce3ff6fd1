//go:build unix

package jsonl

import "syscall"

const noWait = syscall.O_NONBLOCK
