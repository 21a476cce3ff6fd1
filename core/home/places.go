package home

import (
	"path/filepath"
	"runtime"

	"tower/core"
)

// ConfigFile is the person's config.toml.
func (h Home) ConfigFile() string { return filepath.Join(h.Config, "config.toml") }

// AgentsFile is the person's agents.toml.
func (h Home) AgentsFile() string { return filepath.Join(h.Config, "agents.toml") }

// GuardFile names the outside lists that testing must not touch.
func (h Home) GuardFile() string { return filepath.Join(h.Config, "guard.toml") }

// Rules is the folder of the standing rules a person writes for new sessions.
func (h Home) Rules() string { return filepath.Join(h.Config, "rules") }

// Profiles is the folder of crew profiles.
func (h Home) Profiles() string { return filepath.Join(h.Config, "profiles") }

// Ledger is the database.
func (h Home) Ledger() string { return filepath.Join(h.Data, "ledger.sqlite") }

// Backup is the folder of copies made before something is changed for good.
func (h Home) Backup() string { return filepath.Join(h.Data, "backup") }

// Inbox is where hooks leave their event files.
func (h Home) Inbox() string { return filepath.Join(h.Data, "inbox") }

// Processed is the dated archive of drained event files.
func (h Home) Processed() string { return filepath.Join(h.Data, "processed") }

// Bad is where event files go that nobody can read.
func (h Home) Bad() string { return filepath.Join(h.Data, "bad") }

// Launches is the folder of what the launcher is to start.
func (h Home) Launches() string { return filepath.Join(h.Data, "launches") }

// Missions is the folder of missions, one below it for each.
func (h Home) Missions() string { return filepath.Join(h.Data, "missions") }

// Window is the folder of the window's own browser profile.
func (h Home) Window() string { return filepath.Join(h.Data, "window") }

// Prepared is what the tower lays out for the hook, which reads nothing else.
func (h Home) Prepared() string { return filepath.Join(h.Data, "prepared") }

// PreparedAgents is the list of configured agents, a JSON array of core.AgentInfo.
func (h Home) PreparedAgents() string { return filepath.Join(h.Prepared(), "agents.json") }

// PreparedRules is what the hook prints, byte for byte, when a session of the agent starts.
func (h Home) PreparedRules(agent core.Agent) string {
	return filepath.Join(h.Prepared(), string(agent), "rules.out")
}

// PreparedProject is printed in place of PreparedRules when the session works in the repository whose
// folder has this name.
func (h Home) PreparedProject(agent core.Agent, repository string) string {
	return filepath.Join(h.Prepared(), string(agent), "projects", repository+".out")
}

// Bin is the folder of the hook that agents run; its parent is the hook's home for ever.
func (h Home) Bin() string { return filepath.Join(h.Data, "bin") }

// HookBinary is the program that agents' hook entries name.
func (h Home) HookBinary() string {
	name := "tower-hook"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(h.Bin(), name)
}

// HookLog has one line for every run of the hook; the older half is HookLog with ".1".
func (h Home) HookLog() string { return filepath.Join(h.Data, "hook.log") }

// Log is the tower's own log.
func (h Home) Log() string { return filepath.Join(h.Data, "tower.log") }

// Journal records what cutover and rollback did, step by step.
func (h Home) Journal() string { return filepath.Join(h.Data, "journal.jsonl") }

// Lock is held for life by the one tower of this home.
func (h Home) Lock() string { return filepath.Join(h.Data, "lock") }

// Socket is where programs of this home talk to the tower.
func (h Home) Socket() string { return filepath.Join(h.Runtime, "tower.sock") }

// TmuxSocket is that of the private tmux server.
func (h Home) TmuxSocket() string { return filepath.Join(h.Runtime, "tmux.sock") }

// Endpoint says who holds the lock and how it is reached.
func (h Home) Endpoint() string { return filepath.Join(h.Runtime, "endpoint.json") }
