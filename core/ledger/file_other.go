//go:build !unix

package ledger

// diskFull tells whether the error means that the disk is full; here nobody can tell before SQLite does.
func diskFull(error) bool { return false }
