// Package cli is Tower's command line: one file a family of commands. It is a face like the others:
// it shows the Snapshot of the running tower, fetched through the socket, and sends Commands there.
// Without a running tower, reading commands read the ledger themselves and say "as of", changing ones
// refuse with 4. Commands that need neither (scan, hooks, doctor, version) work on files alone.
//
// It is used by package main only, which hands it the functions that start the program proper. It
// decides nothing about sessions. Standard output carries what was asked for, and with --json nothing
// but that: one object, or one object a line, null for what is not known; sentences go to standard
// error.
//
// Exit codes are part of the contract: 0 done, 1 error, 2 usage, 3 refused (the sentence on standard
// error), 4 not running.
package cli
