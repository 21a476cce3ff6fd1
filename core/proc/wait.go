package proc

import (
	"context"
	"time"

	"tower/core"
)

// waitTick is how often Wait looks where the system does not tell.
const waitTick = 50 * time.Millisecond

// Wait returns nil as soon as the process does not run any more: it has ended (a zombie has), its pid
// is another process's, or it is of another boot. Otherwise it returns the context's error. A process
// that is not identified cannot be waited for, and that is ErrOther.
func Wait(ctx context.Context, p core.Process) error {
	if !p.Known() || p.Boot == "" {
		return ErrOther
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.Boot != boot() {
		return nil
	}
	return wait(ctx, p)
}

// waitTable looks at the process's row again and again. What cannot be read and may live is waited for.
func waitTable(ctx context.Context, p core.Process) error {
	tick := time.NewTicker(waitTick)
	defer tick.Stop()
	for {
		if now, ok := row(p.PID); ok && (now.Start != p.Start || now.Dead()) || !ok && !exists(p.PID) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
