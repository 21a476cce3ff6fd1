package core

// CommandKind names an action a person can ask for.
type CommandKind string

// The commands.
const (
	CommandRename   CommandKind = "rename"   // Text is the new name; "" takes the name away
	CommandDescribe CommandKind = "describe" // Text
	CommandTag      CommandKind = "tag"      // Tags replace what was there
	CommandHide     CommandKind = "hide"
	CommandUnhide   CommandKind = "unhide"
	CommandImport   CommandKind = "import" // sweep now; Text "full" reads every source from its start
	CommandRestart  CommandKind = "restart"
	CommandStop     CommandKind = "stop"
)

// Command is one thing a person asks for, the same from every face.
type Command struct {
	Kind    CommandKind
	Session SessionID
	Text    string
	Tags    []string
	By      string // the face: tray, page, cli, script
}

// Result is what came of a command that was done. A command that was not done is an error, and a
// *Refusal when that was a decision.
type Result struct {
	Said   string        `json:"said"` // one sentence in the past tense
	Import *ImportResult `json:"import,omitempty"`
}

// ImportResult are the figures of one sweep.
type ImportResult struct {
	Sources     int64   `json:"sources"`
	Opened      int64   `json:"opened"`
	BytesRead   int64   `json:"bytes_read"`
	RowsWritten int64   `json:"rows_written"`
	Failed      int64   `json:"failed"`
	Seconds     float64 `json:"seconds"`
}

// Limits of free text in a command, in bytes.
const (
	MaxName        = 200
	MaxDescription = 4000
	MaxTag         = 60
	MaxTags        = 20
)
