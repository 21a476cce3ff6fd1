package cli

import (
	"errors"

	"tower/core"
)

// become would replace this program by a command, which Windows cannot.
func become(*core.Launch) error {
	return errors.New("show it here: Windows cannot; use --window")
}
