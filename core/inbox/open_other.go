//go:build !unix

package inbox

// noFollow has no flag here; the check of the opened file has to do.
const noFollow = 0
