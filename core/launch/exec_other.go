//go:build unix && !linux

package launch

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Not verified: compiled only.

// hangUp lets a hang-up end the program even when it was started with that ignored.
func hangUp() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	go func() {
		<-c
		os.Exit(128 + int(syscall.SIGHUP))
	}()
}

// freshSignals leaves no signal ignored: what is caught becomes the default through execve, and
// asking for all of them catches also those that were ignored at the start.
func freshSignals() { signal.Notify(make(chan os.Signal, 1)) }

func closeOnExec() { closeListed("/dev/fd") }

func dup(from, to int) error { return syscall.Dup2(from, to) }

// ttyName looks for the device among the terminals.
func ttyName(device uint64) string {
	entries, err := os.ReadDir("/dev")
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "tty") {
			continue
		}
		var st syscall.Stat_t
		if name := "/dev/" + e.Name(); syscall.Stat(name, &st) == nil && uint64(uint32(st.Rdev)) == device {
			return name
		}
	}
	return ""
}
