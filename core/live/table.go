package live

import "tower/core"

// Condition narrows a Transition. Conditions are judged in the order of the table's rows; the first
// row whose condition holds is taken, and the last row of every pair has none.
type Condition string

// The conditions.
const (
	Always   Condition = ""
	Proven   Condition = "its process is proven alive and drives no other session"
	Refuted  Condition = "its process is known and dead"
	Newer    Condition = "a start by resume, younger than the end"
	OtherRun Condition = "another run of the session is open"
	Leaving  Condition = "the process whose end was told is still on its way out"
	NewRun   Condition = "in another process than the one that was ended"
	OldRun   Condition = "in the process that was ended"
)

// Transition is one row of Table.
type Transition struct {
	From core.Status
	On   core.EventKind
	When Condition
	To   core.Status
	Then string // what else happens, for the reader of the runbook
}

// Table is the whole of what can happen to a status. It is total: every status and every kind of
// event has rows, ending with one that has no condition.
var Table = build()

func build() []Transition {
	var t []Transition
	row := func(from core.Status, when Condition, to core.Status, then string, on ...core.EventKind) {
		for _, k := range on {
			t = append(t, Transition{from, k, when, to, then})
		}
	}
	const (
		none, starting, live  = core.StatusNone, core.StatusStarting, core.StatusLive
		ended, lost, killed   = core.StatusEnded, core.StatusLost, core.StatusKilled
		opened, seen          = "row created, run opened", "last activity moved"
		untouched, run, close = "", "new run", "run closed"
	)
	row(none, Always, live, opened, core.EventStart, core.EventPrompt, core.EventStop, core.EventWait, core.EventResolve)
	row(none, Proven, live, opened, core.EventNote)
	row(none, Always, none, "no row", core.EventNote)
	row(none, Always, ended, "row created, reason kept", core.EventEnd)
	row(none, Always, live, "row created for a session no hook announced, run opened", core.EventSeen)
	row(none, Always, none, "no row", core.EventUnseen, core.EventGone, core.EventReplaced, core.EventExpired, core.EventKill, core.EventNotKilled, core.EventEdit)
	row(none, Always, starting, "row created, launch noted", core.EventLaunched)
	row(none, Always, ended, "row created from its transcript", core.EventFacts)

	row(starting, Always, live, "launch matched, run opened", core.EventStart, core.EventPrompt, core.EventStop, core.EventWait, core.EventResolve, core.EventSeen)
	row(starting, Always, starting, untouched, core.EventNote, core.EventUnseen, core.EventLaunched, core.EventNotKilled, core.EventFacts, core.EventEdit)
	row(starting, Always, ended, "reason kept, "+close, core.EventEnd)
	row(starting, Always, ended, "reason launch_failed, "+close, core.EventGone, core.EventExpired)
	row(starting, Always, ended, "reason replaced, "+close, core.EventReplaced)
	row(starting, Always, killed, "written before the signal", core.EventKill)

	row(live, Always, live, "a start in another process opens a run", core.EventStart)
	row(live, Always, live, seen, core.EventPrompt, core.EventStop, core.EventWait, core.EventResolve, core.EventNote)
	row(live, OtherRun, live, "that run closed", core.EventEnd)
	row(live, Always, ended, "reason kept, "+close, core.EventEnd)
	row(live, Always, live, "pill follows the evidence", core.EventSeen)
	row(live, Always, ended, "reason unloaded, "+close, core.EventUnseen)
	row(live, OtherRun, live, "that run closed", core.EventGone)
	row(live, Always, lost, close+", ended at its last activity", core.EventGone)
	row(live, OtherRun, live, "that run closed", core.EventReplaced)
	row(live, Always, ended, "reason clear, resume or replaced, "+close, core.EventReplaced)
	row(live, Always, live, untouched, core.EventLaunched, core.EventExpired, core.EventNotKilled, core.EventFacts, core.EventEdit)
	row(live, Always, killed, "written before the signal", core.EventKill)

	for _, over := range []core.Status{ended, lost, killed} {
		if over == killed { // its hook may have been on its way when END was asked for
			row(killed, OldRun, killed, untouched, core.EventStart)
		}
		row(over, Proven, live, run, core.EventStart)
		row(over, Newer, live, run, core.EventStart)
		row(over, Always, over, untouched, core.EventStart)
		switch over {
		case ended:
			row(ended, Proven, live, run, core.EventPrompt, core.EventStop, core.EventWait)
			row(ended, Always, ended, untouched, core.EventPrompt, core.EventStop, core.EventWait)
			row(ended, Leaving, ended, untouched, core.EventSeen)
			row(ended, Always, live, run, core.EventSeen)
		case lost:
			row(lost, Refuted, lost, untouched, core.EventPrompt, core.EventStop, core.EventWait)
			row(lost, Always, live, "the poll was wrong", core.EventPrompt, core.EventStop, core.EventWait)
			row(lost, Always, live, run, core.EventSeen)
		case killed:
			row(killed, Always, killed, untouched, core.EventPrompt, core.EventStop, core.EventWait)
			row(killed, NewRun, live, "new run, or the one that went on beside it", core.EventSeen)
			row(killed, Always, killed, untouched, core.EventSeen)
			row(killed, Always, live, "END did not end it, the failure told", core.EventNotKilled)
		}
		row(over, Always, over, "the agent's own reason filled in, nothing else", core.EventEnd)
		row(over, Always, over, untouched, core.EventResolve, core.EventNote, core.EventUnseen, core.EventGone, core.EventReplaced,
			core.EventLaunched, core.EventExpired, core.EventKill, core.EventFacts, core.EventEdit)
		if over != killed {
			row(over, Always, over, untouched, core.EventNotKilled)
		}
	}
	return t
}

// pairs finds a status's rows for a kind without walking the table on every event.
var pairs = index(Table)

type pair struct {
	from core.Status
	on   core.EventKind
}

func index(table []Transition) map[pair][]Transition {
	m := make(map[pair][]Transition, len(table))
	for _, t := range table {
		m[pair{t.From, t.On}] = append(m[pair{t.From, t.On}], t)
	}
	return m
}

// step returns the row that applies.
func step(from core.Status, on core.EventKind, holds func(Condition) bool) Transition {
	for _, t := range pairs[pair{from, on}] {
		if t.When == Always || holds(t.When) {
			return t
		}
	}
	return Transition{From: from, On: on, To: from}
}
