package core

// LaunchSpec is what a person asks for when starting a session.
type LaunchSpec struct {
	CWD    string
	Prompt string
	Model  string // "" = the flag is withheld
	Name   string
	Args   []string // permission flags and the like, already checked
}

// Launch tells how to start an agent: a command without a shell, and what is special about it.
type Launch struct {
	Argv     []string          `json:"argv"`
	Dir      string            `json:"cwd"`
	Set      map[string]string `json:"set"`   // environment to set
	Unset    []string          `json:"unset"` // names to remove; a trailing '*' removes a family
	NullIn   bool              `json:"null_stdin"`
	Preset   string            `json:"preset_id"` // the session id the agent was told to use, or ""
	Cautions []string          `json:"cautions"`  // what a person should know, one sentence each
}

// LaunchRecord is one row of the ledger's launches: a session the tower was asked to start.
type LaunchRecord struct {
	Token       string    `json:"token"`
	Agent       Agent     `json:"agent"`
	CWD         string    `json:"cwd"`
	Name        string    `json:"name"`
	Model       string    `json:"model"`
	SprintNode  string    `json:"sprint_node"`
	ScriptPath  string    `json:"script_path"` // what the launcher reads
	PromptPath  string    `json:"prompt_path"`
	AskedBy     string    `json:"asked_by"`
	RequestedAt Instant   `json:"requested_at"`
	Continues   SessionID `json:"continues_asm_id"`
	// Expect is the session it must become: the one that is resumed, or the id the agent was told to
	// use. "" when the agent chooses.
	Expect  SessionID `json:"expect_asm_id"`
	Resumes bool      `json:"resumes"`

	// What the launcher reported before it became the agent.
	Home     string  `json:"home"`     // window or tmux
	Terminal string  `json:"terminal"` // its name
	Proc     Process `json:"process"`
	TTY      string  `json:"tty"`    // /dev/pts/3
	Window   string  `json:"window"` // the terminal's own id of the window, as its environment said
	Pane     string  `json:"pane"`   // of tmux

	Matched   SessionID `json:"matched_asm_id"`
	MatchedAt Instant   `json:"matched_at"`
	Expired   bool      `json:"expired"` // nobody waits for it any more; its token still binds
	EndedAt   Instant   `json:"ended_at"`
	Failed    string    `json:"failed"` // why it came to nothing, one sentence
}

// Waits tells whether the launch has led neither to a session nor to an end.
func (l *LaunchRecord) Waits() bool { return l.Matched == "" && !l.Expired && l.EndedAt == 0 }

// The homes of a launch.
const (
	HomeWindow = "window" // a terminal window of its own
	HomeTmux   = "tmux"   // the tower's private tmux server
)

// EnvLaunch is the variable that carries a launch's token to the agent and, inherited, to its children.
const EnvLaunch = "TOWER_LAUNCH"

// LaunchState is how far a launch is.
type LaunchState string

// The states of a launch that has led to no session yet.
const (
	LaunchOpening LaunchState = "opening" // the terminal was asked for a window
	LaunchStarted LaunchState = "started" // the agent's process runs, its session is not known
	LaunchBlocked LaunchState = "blocked" // it is stopped by a dialog; nothing is ever typed into one
	LaunchFailed  LaunchState = "failed"
)

// Launching is a launch as faces show it, until its session is known or its failure was seen.
type Launching struct {
	Token       string      `json:"token"`
	Agent       Agent       `json:"agent"`
	CWD         string      `json:"cwd"`
	Name        string      `json:"name"`
	Terminal    string      `json:"terminal"`
	RequestedAt Instant     `json:"requested_at"`
	Expect      SessionID   `json:"expect_asm_id"`
	State       LaunchState `json:"state"`
	Text        string      `json:"text"`  // one sentence: what it is stopped by, why it failed
	Lines       []string    `json:"lines"` // the last lines it showed, when it failed and they could be had
}

// Intent is the record of one action a person asked for and how it ended. It is written before the
// action begins and silences nobody: claims do that.
type Intent struct {
	ID      string      `json:"id"`
	Action  CommandKind `json:"action"`
	Session SessionID   `json:"asm_id"`
	Node    string      `json:"node_id"`
	Token   string      `json:"token"`
	AskedBy string      `json:"asked_by"`
	AskedAt Instant     `json:"asked_at"`
	Detail  string      `json:"detail"`
	EndedAt Instant     `json:"ended_at"`
	Outcome string      `json:"outcome"` // done, failed, interrupted
}

// The outcomes of an intent.
const (
	IntentDone        = "done"
	IntentFailed      = "failed"
	IntentInterrupted = "interrupted" // the tower ended meanwhile
)
