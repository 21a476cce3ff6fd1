//go:build !linux && !darwin && !windows

package term

const (
	nowhere = "but on this system nobody has taught the tower to find windows."
	closed  = "On this system nobody has taught the tower to find windows."
)
