package core

// Fingerprint tells whether a source changed without opening it. Times are nanoseconds since 1970.
type Fingerprint struct {
	Device uint64
	Inode  uint64
	Size   int64
	MTime  int64
	CTime  int64
}

// Source is one file (or database) an agent keeps sessions in. Path is its identity; for a source
// that holds many sessions the adapter scans it as one.
type Source struct {
	Agent Agent
	Path  string
	Fingerprint
	// Hint is what the adapter's walk knows already and its scan needs, in the adapter's own form.
	Hint string
}

// Cursor is where the last scan of a source stopped, so that an append costs the bytes appended.
// Head and Tail are hashes of the first and the last 4 KiB (or less) before Offset; when they no
// longer match, or the file is shorter than Offset, the source is read again from the start.
type Cursor struct {
	Version int   // of the scanner; another version means a re-read
	Offset  int64 // behind the last whole line consumed
	Head    uint64
	Tail    uint64
	State   []byte // the adapter's carry, opaque to everyone else
}

// SourceState is what the ledger keeps of a source: one row of import_state.
type SourceState struct {
	Path    string
	Agent   Agent
	Session SessionID // the session it mainly holds, or ""
	Fingerprint
	Cursor Cursor
	Hot    bool // it changed within 2 s of being read: look again even if the fingerprint is equal

	Bad     int64            // records whose frame cannot be walked, over all its sessions
	Unknown map[string]int64 // line types no rule knows, by name
}

// TurnKind says how a turn was given.
type TurnKind uint8

// The kinds of turns, see Facts for how they are counted.
const (
	TurnTyped   TurnKind = 1 // typed at the prompt
	TurnSlash   TurnKind = 2 // a slash command that reached the model
	TurnMidTurn TurnKind = 3 // typed while the agent was busy, absorbed by that turn
)

// Turn is one thing a person gave the agent. UID is a hash of the agent's own identity of it
// (64 bits, the agent's name included), so that a copy in another file is known as a copy.
type Turn struct {
	UID  int64
	At   Instant
	Kind TurnKind
}

// Facts is everything one pass over a source tells of one session. Counters and sets are those of
// the whole source so far, whatever part of it this scan read; nil or "" is unknown.
type Facts struct {
	Agent  Agent
	Native string
	Class  Class

	Parent     string // native id of the session that opened it
	ForkedFrom string // native id it was copied from, when the record says so
	Thread     string // the agent's word for who opened the thread

	CWD        string // the first non-empty one
	Name       string // given by a person inside the agent
	AgentTitle string
	First      string // first typed prompt, wrappers removed, cut to 1,000 runes
	Summary    string
	Version    string
	Entrypoint string
	Archived   bool

	Typed   int64 // typed prompts
	Slash   int64 // slash commands that reached the model
	MidTurn int64 // typed while busy and absorbed
	Copied  int64 // of all these, lines copied by a fork or resume
	Turns   int64 // their total without copies; 0 for a sub-agent or headless run

	Model         string
	Models        map[string]int64
	ContextTokens *int64
	ContextWindow *int64
	ContextStale  bool
	Skills        map[string]int64
	Folders       map[string]int64
	Closeout      Closeout

	FirstAt Instant // earliest and latest instants of its lines
	LastAt  Instant
	Opened  Instant // when the source was begun, as far as it tells

	Bytes   int64
	Lines   int64
	Bad     int64            // records whose frame cannot be walked
	Unknown map[string]int64 // line types no rule knows, by name
}

// NamesOnly tells facts that come from an agent's own index of names rather than from a transcript.
func (f *Facts) NamesOnly() bool { return f.Lines == 0 && f.Bytes == 0 && f.Class == "" }

// Delta is what one scan found of one session.
type Delta struct {
	Facts Facts
	// Turns are the turns in the bytes this scan read, copies left out; with Scan.Reset those of the
	// whole source.
	Turns []Turn
}

// Scan is the result of reading a source from a cursor.
type Scan struct {
	// Reset says that the source was read from the start: what earlier scans of it told is void.
	Reset  bool
	Deltas []Delta
	Cursor Cursor
	Read   int64 // bytes read from the file, fingerprints included
}
