//go:build darwin && !cgo

package main

import "context"

// noTray stands in where the tray needs Cocoa and the program was built without cgo.
type noTray struct{ trayConfig }

func newTray(c trayConfig) Tray { return noTray{c} }

// Run says that there is no icon and waits.
func (t noTray) Run(ctx context.Context) error {
	t.Log.Info("no icon in the menu bar: this build has no cgo")
	<-ctx.Done()
	return nil
}
