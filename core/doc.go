// Package core is the vocabulary of Tower: the words that every other folder speaks, and the pure
// rules that belong to a word itself. It does no I/O and imports nothing but the standard library,
// so any folder may import it and a reader can start here.
//
// # The house
//
// Facts travel one way and each is decided in one place:
//
//	agent -> tower-hook -> inbox/ ------\
//	process table + evidence -> poll ----> Event -> engine's owner: core/live reduces ->
//	transcripts -> sweep -> Scan --------/    one transaction in the ledger -> Snapshot -> faces
//
//	click -> Command -> engine.Do -> refusal, or claim and [Intent] -> worker -> Event -> the same owner
//
// An [Agent] is a name; an [Adapter] is the only code that knows what the name stands for. It turns
// a recorded hook call ([Envelope]) into an [Event], the process [Table] into [Sighting]s and a
// transcript ([Source]) into [Facts]. The reducer in core/live turns Events into the state of
// [Session]s and [Run]s. The engine publishes the result as an immutable [Snapshot]; tray, page and
// command line draw that and nothing else, and send [Command]s back.
//
// # Words
//
//   - session: one conversation of one agent, identified for ever by [NewSessionID].
//   - run: one process that drove a session for a while, identified by [Process]. A session resumed
//     five times is one session and five runs. Whether something lives is asked of a run.
//   - status: what the ledger believes of a session (starting, live, ended, lost, killed).
//   - pill: what a live session is doing this second (working, waiting, idle, shell, starting).
//   - launch: a session the tower was asked to start, from the order to its first sign of life.
//   - refusal: what was asked for and will not be done, one sentence, decided before anything is touched.
//   - hidden: not counted and not listed, by the one rule in [Session.HiddenWhy] and its SQL twin.
//
// # Unknown
//
// What is not known is nil, "" or a zero [Instant] here, null in JSON and "no reading" on a face.
// It is never 0 and never a guess.
package core
