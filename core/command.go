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

// The commands that act on processes and windows. Each is proven before and after.
const (
	CommandLaunch   CommandKind = "launch"   // Agent, CWD, Model, Name, Terminal; Text is the prompt
	CommandResume   CommandKind = "resume"   // Session, Model; CWD only where its own folder is gone; Text is a first prompt
	CommandContinue CommandKind = "continue" // Session handed to Agent; Model; Text is added to the prefix
	CommandAttach   CommandKind = "attach"   // open a window on a session that runs without one
	CommandJump     CommandKind = "jump"     // bring the session's window to the front
	CommandEnd      CommandKind = "end"      // Force: SIGKILL
	CommandType     CommandKind = "type"     // Text goes to the running session as one prompt
	CommandCloseout CommandKind = "closeout" // run the agent's closeout skill: typed when it lives, else by resume
)

// Command is one thing a person asks for, the same from every face.
type Command struct {
	Kind    CommandKind
	Session SessionID
	Text    string
	Tags    []string
	By      string // the face: tray, page, cli, script

	Agent    Agent
	Model    string // "" = the flag is withheld
	CWD      string // absolute
	Name     string
	Terminal string // "" = as configured
	Force    bool
	Here     bool // attach: say what to run in the asker's own terminal, open none
}

// Result is what came of a command that was done. A command that was not done is an error, and a
// *Refusal when that was a decision.
type Result struct {
	Said   string        `json:"said"` // one sentence in the past tense
	Import *ImportResult `json:"import,omitempty"`
	End    *EndResult    `json:"end,omitempty"`
	Launch *LaunchResult `json:"launch,omitempty"`
	Run    *Launch       `json:"run,omitempty"` // what the asker is to run in its own terminal
}

// EndResult is the consequence of END, not the action. WindowClosed is nil when the session showed in no
// window. Ended false means that the process was signalled and lives: the row is live again.
type EndResult struct {
	Ended        bool   `json:"ended"`
	WindowClosed *bool  `json:"window_closed"`
	Detail       string `json:"detail"`
}

// LaunchResult is what is known once the agent's process runs in its window.
type LaunchResult struct {
	Token    string    `json:"token"`
	Agent    Agent     `json:"agent"`
	Session  SessionID `json:"asm_id"` // "" while the agent has not told its id
	Proc     Process   `json:"process"`
	Terminal string    `json:"terminal"`
	Cautions []string  `json:"cautions"`
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
	MaxPrompt      = 1 << 20 // of a launch and of what is typed
	MaxWord        = 200     // a model, a terminal
)
