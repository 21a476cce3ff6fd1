//go:build unix

package launch

import "tower/core/proc"

// runs tells whether a process runs and is not just waiting to be reaped.
func runs(pid int) bool {
	row, ok := proc.Row(pid)
	return ok && !row.Dead()
}
