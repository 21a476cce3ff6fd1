// Package ledger keeps what Tower knows for good: one SQLite database, written by one process.
//
// It promises that a write is kept whole or not at all, even when the process is killed in the middle
// or the disk is full; that an event is kept once however often it is told; that a turn which stands
// in several transcripts belongs to exactly one session, whatever the order in which they were read;
// and that unknown stays unknown: NULL in the database, the zero value or nil in Go.
//
// The engine opens the one [DB] that writes. The command line opens a second one with [OpenReadOnly]
// when no tower runs. Nobody else knows that there is SQL.
//
// It never deletes history. Three derived tables (turns, folders, skills) are replaced source by
// source when a transcript is read again; settings are overwritten; everything else only grows or
// changes in place. A file it cannot read is named in the error and left as it is.
package ledger
