package main

import (
	"context"
	"log/slog"
	"os"

	"tower/core"
	"tower/tray/menu"
)

// Tray is the icon in the menu bar and the menu below it.
type Tray interface {
	// Run shows the icon until ctx ends. It returns nil then, and only an error that nothing but a change
	// of the program mends before. What it cannot have it goes without: with no session bus it waits for
	// one, with no place for icons on the desktop it waits for that. It may run once in a process.
	Run(ctx context.Context) error
}

// trayConfig is what a Tray is given.
type trayConfig struct {
	Snapshot func() *core.Snapshot // the newest picture; nil before the first
	Updates  <-chan struct{}       // wakes the tray when Snapshot tells something new; newest wins

	// Act does what a click asks for. Every click runs in a goroutine of its own, so Act may take its
	// time, but it has to return when its context ends.
	Act func(context.Context, menu.Action)

	// OnUp is called once the icon stands on the bus, OnBusLost when that bus died under it, OnBusBack
	// when a session bus answers again after that. The icon cannot be put up twice by one process: after
	// OnBusBack only executing the program anew brings it back. All may be nil and have to return at once.
	OnUp, OnBusLost, OnBusBack func()

	// OnHidden says, once for each reason, why nobody can see an icon yet. It may be nil.
	OnHidden func(why string)

	// Main runs functions on the program's first goroutine. Only macOS needs it.
	Main mainThread

	// Log takes what the tray tells and what its library prints. It must not end in the standard logger,
	// whose output goes here.
	Log *slog.Logger
}

// mainThread carries functions to the program's first goroutine, the only one that may draw on macOS.
type mainThread chan func()

// runMain runs rest and ends the program with its exit code. It belongs at the very start of main, on
// every system: rest gets the way back to the first goroutine, which does nothing else meanwhile.
func runMain(rest func(mainThread) int) {
	calls := make(mainThread)
	go func() { os.Exit(rest(calls)) }()
	for f := range calls {
		f()
	}
}
