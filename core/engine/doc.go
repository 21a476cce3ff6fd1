// Package engine owns time and the one picture. It lets the organs work when it is their turn, turns
// all they find into Events, has the reducer apply them, keeps the result in one transaction and
// publishes it as a Snapshot:
//
//	inbox/        -> drain (2 s, or at once by a watch) --\
//	process table -> poll (5 s, or at once by a pidfd) -----> Event -> owner: live.Picture.Apply
//	transcripts   -> sweep (15 min), refresh (grown) -----/        -> ledger.Apply -> Snapshot -> faces
//	faces         -> Do(Command) -> refusal, or Event ------------/
//
// One goroutine, the owner, touches the picture and writes the ledger; everyone else posts a function
// to its mailbox. What is slow (reading files, asking an agent) happens outside and posts its result.
// A loop whose turn fails or panics is sick: it says so in the Snapshot's health, with since when,
// and tries again at its next turn. Nothing that the reducer decided is dropped when the ledger
// refuses a write; it is kept in memory, the event files stay in the inbox, and both are caught up.
//
// Faces call [Engine.Snapshot], [Engine.Wait], [Engine.Do] and [Engine.Detail]; they never learn of
// anything else. The engine knows no agent by name and imports no face.
package engine
