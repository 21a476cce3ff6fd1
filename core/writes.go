package core

// Writes is what one pass of the reducer wants kept. The ledger applies all of it in one transaction
// or none of it.
type Writes struct {
	Events   []Event // with an ID; one already kept is ignored
	Sessions []Session
	Runs     []Run // matched by session and process; EndedAt is updated
	Launches []LaunchRecord
	Intents  []Intent
	Turns    []TurnBatch
	Sources  []SourceState
}

// TurnBatch are turns of one session. With Replace the turns the source told before are dropped in
// the same transaction.
type TurnBatch struct {
	Session SessionID
	Source  string
	Opened  Instant // of the source: the copy in the source opened first is the original
	Replace bool
	Turns   []Turn
	Folders map[string]int64 // nil = unchanged
	Skills  map[string]int64
}

// Empty tells whether there is nothing to keep.
func (w *Writes) Empty() bool {
	return len(w.Events)+len(w.Sessions)+len(w.Runs)+len(w.Launches)+len(w.Intents)+len(w.Turns)+len(w.Sources) == 0
}

// Add appends what other wants kept. Order is kept, so a later value of a row wins.
func (w *Writes) Add(other Writes) {
	w.Events = append(w.Events, other.Events...)
	w.Sessions = append(w.Sessions, other.Sessions...)
	w.Runs = append(w.Runs, other.Runs...)
	w.Launches = append(w.Launches, other.Launches...)
	w.Intents = append(w.Intents, other.Intents...)
	w.Turns = append(w.Turns, other.Turns...)
	w.Sources = append(w.Sources, other.Sources...)
}

// Compact drops the sessions that a later value makes void, so that what waits for a ledger that refuses
// every write grows with what changed and not with how often. All values of a run count.
func (w *Writes) Compact() {
	last := make(map[SessionID]int, len(w.Sessions))
	for i := range w.Sessions {
		last[w.Sessions[i].ID] = i
	}
	if len(last) == len(w.Sessions) {
		return
	}
	kept := make([]Session, 0, len(last))
	for i := range w.Sessions {
		if last[w.Sessions[i].ID] == i {
			kept = append(kept, w.Sessions[i])
		}
	}
	w.Sessions = kept
}

// Counted is what the ledger knows of a session's turns after a write: how many are its own, and
// when they were given. A turn that stands in several files belongs to one session only.
type Counted struct {
	Session SessionID
	At      []Instant // ascending
}
