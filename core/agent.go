package core

import "strings"

// Agent is the short name of a terminal coding agent, such as "claude" or "codex". Only the adapter
// of that name and the person's agents.toml know more about it.
type Agent string

// AgentInfo holds the facts of one agent that are configuration, not code: one table of agents.toml.
// Paths may begin with "~/" in the file; here they are absolute.
type AgentInfo struct {
	Agent   Agent  `json:"agent"`
	Display string `json:"display"` // "Claude Code"
	Code    string `json:"code"`    // two letters for narrow columns: "CC"
	Tag     string `json:"tag"`     // what it wears on a board card, without '#'
	Install string `json:"install"` // one sentence: how a person gets it

	// Exe are globs over the full path of an executable, '*' matching any run of characters, '/'
	// included. A process is this agent's when its executable matches one, or when an argument of an
	// interpreter matches Argv. Tests narrow them, so that other people's agents stay out of sight.
	Exe  []string `json:"exe"`
	Argv []string `json:"argv"`
	// Helpers are globs over "argument list joined by blanks"; a process that matches is the agent's
	// own machinery (daemon, pty host, spare), never a session and never counted as an agent.
	Helpers []string `json:"helpers"`
	// Shared says that the executable is also that of a desktop app or daemon, so that one process may
	// serve several sessions.
	Shared bool `json:"shared"`

	Root         string   `json:"root"`        // the agent's own folder, e.g. ~/.claude
	RootEnv      string   `json:"root_env"`    // environment variable that moves Root, or ""
	Transcripts  []string `json:"transcripts"` // folders below Root that hold transcripts
	HookFile     string   `json:"hook_file"`   // below Root
	Instructions string   `json:"instructions"`
	Closeout     string   `json:"closeout"` // name of the closeout skill
	UsageURL     string   `json:"usage_url"`
	Untested     bool     `json:"untested"`
	// ResumeAnywhere says that the agent finds a session from any folder, not only its own.
	ResumeAnywhere bool `json:"resume_anywhere"`
}

// MatchExe tells whether a process with this executable and these arguments is the agent's: its
// machinery included. An executable replaced under a running process keeps its old name.
func (a *AgentInfo) MatchExe(exe string, args []string) bool {
	exe = strings.TrimSuffix(exe, " (deleted)")
	for _, g := range a.Exe {
		if exe != "" && Glob(g, exe) {
			return true
		}
	}
	for _, g := range a.Argv {
		// Only the first arguments: an interpreter's script stands there, a prompt does not.
		for i, arg := range args {
			if i > 3 {
				break
			}
			if i > 0 && Glob(g, arg) {
				return true
			}
		}
	}
	return false
}

// IsHelper tells whether a process of the agent is machinery rather than a session.
func (a *AgentInfo) IsHelper(args []string) bool {
	if len(a.Helpers) == 0 || len(args) == 0 {
		return false
	}
	line := strings.Join(args, " ")
	for _, g := range a.Helpers {
		if Glob(g, line) {
			return true
		}
	}
	return false
}

// Glob matches s against a pattern in which '*' stands for any run of characters, '/' included, and
// every other character for itself.
func Glob(pattern, s string) bool {
	star, mark := -1, 0
	p, i := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
