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
	SprintNode  string    `json:"sprint_node"`
	ScriptPath  string    `json:"script_path"`
	PromptPath  string    `json:"prompt_path"`
	RequestedAt Instant   `json:"requested_at"`
	Proc        Process   `json:"process"`
	Matched     SessionID `json:"matched_asm_id"`
	MatchedAt   Instant   `json:"matched_at"`
	Expired     bool      `json:"expired"`
	Continues   SessionID `json:"continues_asm_id"`
}
