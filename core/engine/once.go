package engine

import (
	"context"

	"tower/core"
)

// ImportOnce sweeps once into the ledger without a running tower. The caller holds the home's lock.
func ImportOnce(ctx context.Context, o Options, full bool) (core.ImportResult, error) {
	o.Unwatched = true
	e, err := New(ctx, o)
	if err != nil {
		return core.ImportResult{}, err
	}
	defer e.db.Close()
	e.once = true
	ctx, stop := context.WithCancel(ctx)
	owned := make(chan struct{})
	go func() { defer close(owned); e.own(ctx) }()
	defer func() { stop(); <-owned }()
	return e.importNow(ctx, full)
}
