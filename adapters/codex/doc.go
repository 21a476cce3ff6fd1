// Package codex is the adapter for the Codex CLI: where it keeps its rollouts and the locks of running
// threads, what its hooks say, how it is started, and what its shared daemon tells. It promises what
// [core.Adapter] asks for, reads below the root it was given and nowhere else, and talks to nothing but
// the daemon's own socket there, with questions only.
//
// It never writes into the agent's folder, never takes a lock to see whether it is free, never signals
// a process and never asks the operating system about one: processes come in as a [core.Table], hook
// entries go out as bytes. Only the list in package adapters and the tests of this folder may import it.
//
// # One thread, three places
//
//	thread-writer-locks/<id>.lock   held with flock while a process owns the thread: it runs
//	sessions/Y/M/D/rollout-…jsonl   what was said; begins with the first turn
//	state_N.sqlite, session_index   what a person called it
//
// A terminal window is a client of the shared daemon unless it was told otherwise: then lock, rollout
// and hooks all belong to the daemon, and which window shows which thread cannot be proved.
package codex
