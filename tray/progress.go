package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"golang.org/x/term"

	"tower/core"
)

// progress tells how far the first import is, to a person who started the tower in a terminal.
func (a *app) progress(ctx context.Context) error {
	f, ok := a.env.Bare.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for shown := false; ; {
		snap := a.engine.Snapshot()
		p := snap.Import
		swept := slices.ContainsFunc(snap.Health.Loops, func(l core.Loop) bool { return l.Name == "import" && l.LastOK != 0 })
		done := tellProgress(f, p, swept, shown)
		shown = shown || p.Running && p.First && p.Total > 0
		if done {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// tellProgress rewrites the one line and tells whether there is no more to tell.
func tellProgress(w io.Writer, p core.Progress, swept, shown bool) (done bool) {
	switch {
	case p.Running && p.First && p.Total > 0:
		fmt.Fprintf(w, "\rtower: importing what was there before: %d of %d transcripts ", p.Done, p.Total)
		return false
	case shown && !p.Running:
		fmt.Fprint(w, "\rtower: everything that was there before is imported.            \n")
		return true
	}
	return swept
}
