// Package claude is the adapter for Claude Code: it knows where that agent keeps its transcripts and
// its registry of running sessions, what its hooks say, and how it is started. It promises what
// [core.Adapter] asks for. It reads below the root it was given, and where the agent itself looks when
// it is started in a folder: the account file beside the root, and that folder's own settings, skills
// and repository.
//
// It never writes into the agent's folder, never signals a process and never asks the operating
// system about one: processes come in as a [core.Table], hook entries go out as bytes. Only the list
// in package adapters and the tests of this folder may import it.
package claude

import (
	"os"
	"strings"

	"tower/core"
)

// Name is this agent's short name in agents.toml, in hook commands and in the ledger.
const Name core.Agent = "claude"

// Adapter is the one value of this package. It holds no state besides the configured facts, so it is
// safe for concurrent use.
type Adapter struct {
	info core.AgentInfo
	home string        // the person's folder, "" when nobody knows it
	id   func() string // mints the id of a session to be launched
}

// What this agent can do besides; see the comments of the interfaces for what absence means.
var (
	_ core.Keeper     = (*Adapter)(nil)
	_ core.Teller     = (*Adapter)(nil)
	_ core.Doorkeeper = (*Adapter)(nil)
	_ core.Stopper    = (*Adapter)(nil)
	_ core.Attacher   = (*Adapter)(nil)
	_ core.Screener   = (*Adapter)(nil)
	_ core.Skiller    = (*Adapter)(nil)
	_ core.Confirmer  = (*Adapter)(nil)
	_ core.Prompter   = (*Adapter)(nil)
)

// New returns the adapter for an agent described by info, whose Root is absolute.
func New(info core.AgentInfo) *Adapter {
	if info.Agent == "" {
		info.Agent = Name
	}
	home, _ := os.UserHomeDir() // without one nothing is beside the root and no path is shortened
	return &Adapter{info: info, home: home, id: core.UUID4}
}

// Agent returns the configured facts.
func (a *Adapter) Agent() core.AgentInfo { return a.info }

// classOf tells from the agent's word for how it was started whether a person sits at the session.
// A word nobody knows is left to the transcript.
func classOf(entrypoint string) core.Class {
	switch {
	case entrypoint == "cli", entrypoint == "claude-vscode", entrypoint == "claude-in-teams",
		strings.HasPrefix(entrypoint, "claude-desktop"), strings.HasPrefix(entrypoint, "remote"):
		return core.ClassMain
	case strings.HasPrefix(entrypoint, "sdk-"), entrypoint == "mcp":
		return core.ClassHeadless
	}
	return ""
}
