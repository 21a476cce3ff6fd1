package jsonl

import "tower/core"

// Fingerprint returns what tells whether a transcript changed, without opening it; ok is false for
// what is gone, cannot be looked at or is no regular file. A link is followed, so that its target's
// changes are seen. It is the whole cost of a sweep over unchanged files, so it asks the system once
// and builds nothing else.
func Fingerprint(path string) (f core.Fingerprint, ok bool) { return fingerprint(path) }
