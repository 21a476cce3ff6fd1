package core

// Snapshot is the one picture every face draws. It is published whole and never changes afterwards;
// Revision moves only when a fact that some face shows has changed.
type Snapshot struct {
	Revision int64        `json:"revision"`
	At       Instant      `json:"at"`    // when it was published
	AsOf     Instant      `json:"as_of"` // 0 = live; else read from the ledger with no tower running
	Mode     Mode         `json:"mode"`
	Name     string       `json:"name"`
	Accent   string       `json:"accent"`
	Build    string       `json:"build"`
	URL      string       `json:"url"`
	Zone     string       `json:"timezone"` // the zone in which days are cut
	Counts   Counts       `json:"counts"`
	Agents   []AgentState `json:"agents"`
	Launches []Launching  `json:"launches"` // under way or failed, oldest first
	Import   Progress     `json:"import"`
	Health   Health       `json:"health"`
	Rows     []Row        `json:"-"` // every session, hidden ones too, in display order
}

// Row is one session as faces show it. The Session is shared between Snapshots and never written to.
type Row struct {
	*Session
	TitleText string `json:"title"`      // Session.Title
	Hidden    string `json:"hidden_why"` // "" = visible
	Live      *Live  `json:"live"`       // nil = nothing drives it, or nobody can say
	Group     Group  `json:"group"`
	Busy      string `json:"busy"` // an action is under way: "ending", "resuming"; "" = none
}

// Group is the part of a list a row stands in.
type Group string

// The groups, in the order of every list.
const (
	GroupNeedsYou Group = "needs you"
	GroupLive     Group = "live"
	GroupPast     Group = "past"
)

// Live is what is known of a session that runs now.
type Live struct {
	Pill    Pill    `json:"pill"`
	Raw     string  `json:"raw"` // the agent's own word, shown for PillOther
	Wait    Wait    `json:"wait"`
	Ask     string  `json:"ask"` // what is asked, first words
	Since   Instant `json:"since"`
	Proc    Process `json:"process"`
	Proven  bool    `json:"proven"` // the process table confirmed it at the last poll
	Grade   Grade   `json:"grade"`
	Shared  bool    `json:"shared"`
	Caution string  `json:"caution"`
	TTY     uint64  `json:"tty"`
	NoEnd   string  `json:"no_end"` // why END is impossible for it, one sentence; "" = it is not
	Said    *Said   `json:"said"`   // what its last output was; nil = none was heard
}

// Counts are the numbers every face shows; all are of visible sessions, except Hidden and All.
type Counts struct {
	Waiting  int `json:"waiting"`
	Working  int `json:"working"`
	Idle     int `json:"idle"`
	Shell    int `json:"shell"`
	Starting int `json:"starting"`
	Other    int `json:"other"`
	Live     int `json:"live"`
	Visible  int `json:"visible"`
	Hidden   int `json:"hidden"`
	All      int `json:"all"`
}

// AgentState is one configured agent as faces show it.
type AgentState struct {
	Agent     Agent      `json:"agent"`
	Display   string     `json:"display"`
	Code      string     `json:"code"`
	Installed bool       `json:"installed"`
	Why       string     `json:"why"`     // where it was looked for, when not installed
	Install   string     `json:"install"` // how to get it
	Hooks     HookStatus `json:"hooks"`
	Counts    Counts     `json:"counts"`
	Folders   []string   `json:"folders"` // where its visible sessions ran last, newest first, at most 8
}

// Progress is how far the import is.
type Progress struct {
	Running bool  `json:"running"`
	First   bool  `json:"first"` // the ledger was empty before it
	Done    int64 `json:"done"`
	Total   int64 `json:"total"` // 0 = still counting
}

// Health is what is wrong, and what each loop did last.
type Health struct {
	Loops        []Loop           `json:"loops"`
	Problems     []Problem        `json:"problems"`
	BadFiles     int64            `json:"bad_files"` // quarantined event files
	BadLines     int64            `json:"bad_lines"` // of transcripts
	UnknownTypes map[string]int64 `json:"unknown_types"`
	Ports        []string         `json:"ports"`      // addresses listened on
	DiskBuild    string           `json:"disk_build"` // build of the program on disk, when it is another
}

// Loop is one of the engine's recurring works.
type Loop struct {
	Name   string  `json:"name"`
	LastOK Instant `json:"last_ok"`
	Error  string  `json:"error"`  // "" = its last tick went well
	Since  Instant `json:"since"`  // of the error
	Behind string  `json:"behind"` // what still waits, in words, or ""
}

// Problem is one thing wrong, in words a person can act on.
type Problem struct {
	ID    string  `json:"id"`
	Text  string  `json:"text"`
	Fix   string  `json:"fix"`
	Since Instant `json:"since"`
}

// Heat is the number of turns of one day of one agent, days cut in the snapshot's zone.
type Heat struct {
	Day   string `json:"day"` // 2026-11-30
	Agent Agent  `json:"agent"`
	Turns int    `json:"turns"`
}

// Detail is everything known of one session, for its own view.
type Detail struct {
	Row
	Runs    []Run            `json:"runs"`    // oldest first
	Skills  map[string]int64 `json:"skills"`  // runs by name
	Folders map[string]int64 `json:"folders"` // times named, by path
	Chain   []Link           `json:"chain"`   // sessions it hangs together with
}

// Link is one neighbour of a session in its chain.
type Link struct {
	How   string    `json:"how"` // follows, followed by, forked from, forked to, continues, continued by, opened by, opened
	ID    SessionID `json:"asm_id"`
	Title string    `json:"title"`
}
