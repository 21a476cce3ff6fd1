package core

// Status is what the ledger believes of a session. Killed, lost and ended all read "Ended" on a face.
type Status string

// The statuses. StatusNone is that of a session without a row, only used by the transition table.
const (
	StatusNone     Status = ""
	StatusStarting Status = "starting" // launched by the tower, not yet heard of
	StatusLive     Status = "live"
	StatusEnded    Status = "ended"  // it said so, or its launch failed
	StatusLost     Status = "lost"   // its process went away without a word
	StatusKilled   Status = "killed" // END was pressed
)

// Statuses lists every status with a row in the transition table.
var Statuses = []Status{StatusNone, StatusStarting, StatusLive, StatusEnded, StatusLost, StatusKilled}

// Over tells whether the session has finished.
func (s Status) Over() bool { return s == StatusEnded || s == StatusLost || s == StatusKilled }

// ReasonLaunchFailed is the reason of the end of a session that never came up, which faces tell apart.
const ReasonLaunchFailed = "launch_failed"

// Class says what kind of session it is, as far as its own records tell.
type Class string

// The classes. A session of a class other than main is hidden.
const (
	ClassMain     Class = "main"
	ClassSubagent Class = "subagent" // a thread that another session opened
	ClassHeadless Class = "headless" // a one-shot without a terminal
	ClassExport   Class = "export"   // a document in another agent's form, not a session record
	ClassNone     Class = "none"     // a file without a conversation
)

// Closeout says whether the agent recorded that its closeout skill ran. The empty value means that
// nobody can say, which is not the same as open.
type Closeout string

// The two known states of closeout.
const (
	CloseoutClosed Closeout = "closed"
	CloseoutOpen   Closeout = "open"
)

// Session is one row of the ledger's table of that name: the lasting facts of one conversation.
// Values are copied when they change, so a Session reached through a Snapshot never changes.
type Session struct {
	ID     SessionID `json:"asm_id"`
	Agent  Agent     `json:"agent"`
	Native string    `json:"agent_session_id"`

	Name       string `json:"name"`        // given by a person; never derived
	AgentName  string `json:"agent_name"`  // the name last seen inside the agent, to know a rename there
	AgentTitle string `json:"agent_title"` // the agent's own
	CWD        string `json:"cwd"`
	Project    string `json:"project"`
	Folder     string `json:"primary_folder"`
	Model      string `json:"model"`
	Transcript string `json:"transcript_path"`
	Version    string `json:"version"` // of the agent, as its records say

	Source       string `json:"source"` // how it last started
	Entrypoint   string `json:"entrypoint"`
	Class        Class  `json:"kind"`          // "" until a record told
	ThreadSource string `json:"thread_source"` // as the agent says; anything but "" and "user" is hidden
	Nested       *bool  `json:"nested"`
	PIDShared    *bool  `json:"pid_shared"`
	Harness      bool   `json:"harness"` // its folder lies under a harness root
	ByHand       bool   `json:"hidden_by_hand"`

	StartedAt Instant `json:"started_at"`
	LastSeen  Instant `json:"last_seen"` // last activity, moved by evidence only
	EndedAt   Instant `json:"ended_at"`
	Status    Status  `json:"status"`
	EndReason string  `json:"end_reason"`

	Parent      SessionID `json:"parent_asm_id"`       // a sub-agent's session
	Follows     SessionID `json:"follows_asm_id"`      // the session whose process it took over (/clear, /new)
	ForkedFrom  SessionID `json:"forked_from"`         // the session it copied its beginning from
	Continues   SessionID `json:"continues_asm_id"`    // CONTINUE WITH
	ResumedFrom SessionID `json:"resumed_from_asm_id"` // reserved for agents whose resume mints an id
	ResumedBy   string    `json:"resumed_by"`          // who asked for the last resume

	Description  string   `json:"description"`
	Tags         []string `json:"tags"`
	Closeout     Closeout `json:"closeout_state"`
	Archived     bool     `json:"archived"`
	FirstMessage string   `json:"first_message"`
	Summary      string   `json:"summary"` // the agent's own

	Turns         *int64 `json:"turns"`
	ContextTokens *int64 `json:"context_tokens"`
	ContextWindow *int64 `json:"context_window"`
	ContextStale  bool   `json:"context_stale"` // compacted since the reading
}

// Title is what a face calls the session: the person's name for it, else the agent's own title, else
// "". The first prompt is never a title.
func (s *Session) Title() string {
	if s.Name != "" {
		return s.Name
	}
	return s.AgentTitle
}

// Run is one process that drove a session: one row of the ledger's table of that name.
type Run struct {
	ID          int64     `json:"run_id"`
	Session     SessionID `json:"asm_id"`
	Proc        Process   `json:"process"`
	LaunchToken string    `json:"launch_token"`
	WrapperPID  int       `json:"wrapper_pid"`
	StartedAt   Instant   `json:"started_at"`
	EndedAt     Instant   `json:"ended_at"` // 0 = open
	StartSource string    `json:"start_source"`
	Shared      bool      `json:"shared"`
}

// Why a session is hidden, in the words a face shows. The order is that of [Session.HiddenWhy].
const (
	HiddenByHand    = "hidden by hand"
	HiddenNested    = "started by another agent"
	HiddenSubagent  = "a sub-agent's thread"
	HiddenHeadless  = "a headless run"
	HiddenDocument  = "an exported document"
	HiddenThread    = "a thread no person opened"
	HiddenHarness   = "its folder belongs to a harness"
	HiddenNothing   = "nothing happened in it"
	hiddenTurnLimit = 1
)

// HiddenWhy is the one rule of who counts. It returns "" for a visible session, else the reason.
// The ledger's HiddenSQL is its exact twin; a property test holds the two together on real SQL.
// A session in which nothing happened is one that is over, never got a name from a person and has
// one turn or none; unknown turns count as none.
func (s *Session) HiddenWhy() string {
	switch {
	case s.ByHand:
		return HiddenByHand
	case s.Nested != nil && *s.Nested:
		return HiddenNested
	case s.Class == ClassSubagent:
		return HiddenSubagent
	case s.Class == ClassHeadless:
		return HiddenHeadless
	case s.Class == ClassExport:
		return HiddenDocument
	case s.ThreadSource != "" && s.ThreadSource != "user":
		return HiddenThread
	case s.Harness:
		return HiddenHarness
	case s.Status.Over() && s.Name == "" && (s.Turns == nil || *s.Turns <= hiddenTurnLimit):
		return HiddenNothing
	}
	return ""
}
