//go:build !linux && !darwin

package tmux

import "errors"

// rdev has no body here, so nothing can be proven to be typed into the right terminal.
func rdev(string) (uint64, error) {
	return 0, errors.New("this system does not tell a terminal's device number")
}
