package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"tower/core/tmux"
)

var panesEvery = every(5 * time.Second)

// tendPanes clears away what is left of sessions that ended in the tower's own tmux. A pane there outlives
// its program, so that the last lines of a launch that failed can be read; of any other, a person who looks
// at it wants the window to close, as every terminal's does.
func (e *Engine) tendPanes(ctx context.Context) error {
	if _, err := os.Stat(e.o.Home.TmuxSocket()); err != nil {
		return nil // nothing was ever launched in it
	}
	panes, err := e.o.Tmux.Panes(ctx)
	if errors.Is(err, tmux.ErrNoServer) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at the panes: %w", err)
	}
	var errs []error
	for _, p := range panes {
		if !p.Dead || p.TowerID == "" {
			continue
		}
		wanted := false
		err := e.post(ctx, func(context.Context) error {
			wanted = e.launches[p.TowerID] != nil // its last lines are fetched first
			return nil
		})
		if err != nil {
			return err
		}
		if !wanted {
			errs = append(errs, e.o.Tmux.Kill(ctx, p.ID))
		}
	}
	return errors.Join(errs...)
}
