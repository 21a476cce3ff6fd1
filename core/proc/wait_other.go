//go:build !linux

package proc

import (
	"context"

	"tower/core"
)

func wait(ctx context.Context, p core.Process) error { return waitTable(ctx, p) }
