//go:build !linux && !darwin

package term

import (
	"context"

	"tower/core"
)

// What follows refuses, each with the system's reason.

func (d *Desk) findNative(_ context.Context, s *sight) (Window, error) {
	return Window{}, s.refuse(nowhere, "Bring its window to the front by hand, or end it.")
}

func (d *Desk) focusNative(context.Context, Window) error {
	return &core.Refusal{What: notFocused, Why: closed, Hint: "Bring it to the front by hand."}
}

func (d *Desk) existsNative(context.Context, Window) (bool, error) {
	return false, &core.Refusal{What: noWindow, Why: closed}
}

func (d *Desk) activeNative(context.Context) (Window, error) {
	return Window{}, &core.Refusal{What: "No window in focus.", Why: closed}
}

func (d *Desk) windowsNative(context.Context) ([]Window, error) {
	return nil, &core.Refusal{What: "No windows seen.", Why: closed}
}

func (d *Desk) displayOf(*sight, int) (name, authority string) { return "", "" }

func ttyPath(uint64) string { return "" }
