package tmux

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Locate reads from a process's environment in which server's pane it was started. It is what the
// process was told, not a proof: it may have been moved, or have inherited the words. TMUX holds the
// socket, the server's pid and a session number; the socket itself may have commas in its name.
func Locate(env map[string]string) (socket, pane string, ok bool) {
	pane = env["TMUX_PANE"]
	rest := env["TMUX"]
	for range 2 {
		at := strings.LastIndexByte(rest, ',')
		if at < 0 {
			return "", "", false
		}
		if _, err := strconv.ParseUint(rest[at+1:], 10, 32); err != nil {
			return "", "", false
		}
		rest = rest[:at]
	}
	if !filepath.IsAbs(rest) || strings.IndexByte(rest, 0) >= 0 || !isID(pane, '%') {
		return "", "", false
	}
	return rest, pane, true
}

// Rdev returns the device number of a terminal ("/dev/pts/3") as the process table tells it in the
// TTY of a process, so that the two can be compared.
func Rdev(tty string) (uint64, error) { return rdev(tty) }
