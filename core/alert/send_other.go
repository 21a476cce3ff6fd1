//go:build !linux && !freebsd && !openbsd && !netbsd

package alert

import (
	"fmt"
	"runtime"

	"github.com/gen2brain/beeep"
)

// send shows a popup. It was compiled for these systems and never seen there.
func send(title, body string, icon []byte) error {
	if runtime.GOOS == "windows" {
		title, body = defuse(title), defuse(body)
	}
	if err := beeep.Notify(title, body, picture(icon)); err != nil {
		return fmt.Errorf("show popup: %w", err)
	}
	return nil
}
