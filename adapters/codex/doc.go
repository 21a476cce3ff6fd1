// Package codex is the adapter for the Codex CLI: where it keeps its rollouts and the locks of running
// threads, what its hooks say, how it is started, and what its shared daemon tells. It promises what
// [core.Adapter] asks for and tells how to act on a thread: what to run, what to look for afterwards, what
// stands in the way. It reads below the root it was given, besides only what a folder to work in holds for
// Codex (.git, .codex, .agents) and the person's own skills, and talks to nothing but the daemon's own
// socket, with questions only.
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
