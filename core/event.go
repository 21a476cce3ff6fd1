package core

import "encoding/json"

// EnvelopeVersion is the version of the event file that this build writes and reads.
const EnvelopeVersion = 1

// Envelope is one hook call as tower-hook recorded it: the event file of the inbox, version 1.
// What the hook could not compute is null, never left out and never guessed. ASMID, AgentPID, Nested
// and PIDShared are the hook's own hints; the drain computes them again from Ancestors and wins.
type Envelope struct {
	V              int             `json:"v"`
	EventID        string          `json:"event_id"`
	ASMID          *SessionID      `json:"asm_id"`
	Agent          Agent           `json:"agent"`
	Event          string          `json:"event"` // the agent's own name of the event
	TS             Instant         `json:"ts"`
	AgentSessionID *string         `json:"agent_session_id"`
	TranscriptPath *string         `json:"transcript_path"`
	CWD            *string         `json:"cwd"`
	Source         *string         `json:"source"` // start source or end reason
	LaunchToken    *string         `json:"launch_token"`
	SessionName    *string         `json:"session_name"`
	BootID         *string         `json:"boot_id"`
	AgentPID       *int            `json:"agent_pid"`
	AgentProcStart *uint64         `json:"agent_proc_start"`
	Ancestors      []Ancestor      `json:"ancestors"` // nearest first, at most 8; null when given up
	Nested         *bool           `json:"nested"`
	Entrypoint     *string         `json:"entrypoint"`
	PIDShared      *bool           `json:"pid_shared"`
	HookMS         *float64        `json:"hook_ms"` // up to the rename
	Payload        json.RawMessage `json:"payload"` // the agent's own object, untouched
}

// EventKind says what an Event tells. The reducer's transition table has a row for every status and
// every kind.
type EventKind string

// The kinds told by hooks.
const (
	EventStart     EventKind = "start"     // a session began in a process; Source says how
	EventPrompt    EventKind = "prompt"    // a turn began
	EventStop      EventKind = "stop"      // a turn ended; Message is the last output
	EventWait      EventKind = "wait"      // a person is asked; Wait says for what
	EventResolve   EventKind = "resolve"   // what was asked has been answered or interrupted
	EventEnd       EventKind = "end"       // the session said that it ended; Reason says why
	EventNote      EventKind = "note"      // kept in the ledger, changes no status
	EventSeen      EventKind = "seen"      // evidence: a proven process drives the session now
	EventUnseen    EventKind = "unseen"    // a shared process lives, its evidence names the session no more
	EventGone      EventKind = "gone"      // no process of the session lives
	EventReplaced  EventKind = "replaced"  // another session took over the process
	EventLaunched  EventKind = "launched"  // the tower started it; no sign of the agent yet
	EventExpired   EventKind = "expired"   // the launch was not answered in time and no process lives
	EventKill      EventKind = "kill"      // END was asked for; written before the signal
	EventNotKilled EventKind = "notkilled" // END found the process still alive
	EventFacts     EventKind = "facts"     // a transcript was read
	EventEdit      EventKind = "edit"      // a person changed name, description, tags or hidden
)

// EventKinds lists every kind, in the order of the table in the runbook.
var EventKinds = []EventKind{
	EventStart, EventPrompt, EventStop, EventWait, EventResolve, EventEnd, EventNote,
	EventSeen, EventUnseen, EventGone, EventReplaced,
	EventLaunched, EventExpired, EventKill, EventNotKilled, EventFacts, EventEdit,
}

// Event is one fact on its way to the reducer, whatever told it. ID is set for what the ledger
// remembers (hook calls): an id already applied is discarded.
type Event struct {
	ID     string
	Kind   EventKind
	At     Instant
	Agent  Agent
	Native string // the agent's own session id; never empty
	Name   string // the agent's own name of the event, for the ledger's record
	Raw    json.RawMessage

	// Proc is the agent's process, from ancestry or evidence; Alive says that the process table held
	// it when the event was applied. Both stay zero when unknown.
	Proc   Process
	Alive  bool
	Shared bool // Proc serves many sessions

	Source  string // start: startup, resume, clear, compact, fork
	Reason  string // end
	Wait    Wait
	Ask     string // wait: first words of what is asked
	Message string // stop: the last output
	Said    *Said  // stop, or facts of one that rests: the class of the last output
	Prompt  string // prompt: what was typed

	CWD, Transcript, Model, Title, Entrypoint string
	Class                                     Class // "" = not told
	Nested                                    *bool
	LaunchToken                               string

	Sighting *Sighting // seen
	Facts    *Facts    // facts
	Moved    bool      // facts: the transcript known until now is no longer there
	Edit     *Edit     // edit
}

// Session returns the id of the session the event is about.
func (e *Event) Session() SessionID { return NewSessionID(e.Agent, e.Native) }

// Edit is what a person changes on a session. A nil field stays as it is.
type Edit struct {
	Name        *string
	Description *string
	Tags        *[]string
	Hidden      *bool
}

// Pill is what a live session is doing. A raw word that no adapter knows is carried beside PillOther.
type Pill string

// The pills of a live session.
const (
	PillWorking  Pill = "working"
	PillWaiting  Pill = "waiting"
	PillIdle     Pill = "idle"
	PillShell    Pill = "shell"
	PillStarting Pill = "starting"
	PillOther    Pill = "other"
)

// Wait says what a waiting session waits for.
type Wait string

// What a session can wait for.
const (
	WaitPermission Wait = "permission"
	WaitQuestion   Wait = "question"
	WaitDialog     Wait = "dialog"
	WaitGate       Wait = "gate"
)

// Grade is how well evidence proves that a process drives a session.
type Grade string

// Grades of proof, strongest first.
const (
	GradeRecord Grade = "record" // the agent's own record names pid and start, and both match
	GradeLock   Grade = "lock"   // the process holds the session's writer lock
	GradeShared Grade = "shared" // a shared process holds it: live, but no process is the session's own
)

// Sighting is one claim of an adapter: this session is driven by this process now, as its own
// evidence shows and the process table confirms.
type Sighting struct {
	Agent  Agent
	Native string
	Proc   Process
	// Signal are the processes END would signal, MustGo those that have to be gone afterwards. Empty
	// when the session cannot be ended by a signal; Caution then says why in one sentence.
	Signal, MustGo []Process
	Caution        string
	NoEnd          string // why END is impossible, one sentence; an agent's own stop command makes it possible
	Shared         bool
	Grade          Grade

	Pill   Pill   // "" = this evidence does not say
	Raw    string // the agent's own word for the state
	Wait   Wait
	Reason string // the agent's own words for what it waits for
	// Final says that Pill beats what hooks told. Otherwise a waiting told by a hook stays until the
	// pill is no longer working, or Mark moves.
	Final bool
	// Mark is a number that grows with every item the agent writes (its transcript's size); 0 unknown.
	Mark int64
	At   Instant // since when the agent says the state holds; 0 unknown

	Class                      Class
	CWD, Title, Transcript     string
	Name                       string // given by a person inside the agent
	Entrypoint, Model, Version string
	TTY                        uint64
}
