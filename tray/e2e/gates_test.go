//go:build e2e

package e2e

import "tower/core"

// gates in the order they are played. The hooks come first, since everything after needs them; the
// import comes late, since it counts what all the others left on disk.
var gates = []gate{
	{"hooks of Claude Code: install, canary", []string{"claude"}, claudeHooks},
	{"hooks of Codex: install, trust, canary", []string{"codex"}, codexHooks},
	{"one-shot of Claude Code", []string{"claude"}, claudeOneShot},
	{"one-shot of Codex", []string{"codex"}, codexOneShot},
	{"rules reach Claude Code", []string{"claude"}, claudeRules},
	{"rules reach Codex", []string{"codex"}, codexRules},
	{"a life in Claude Code", []string{"claude"}, claudeLife},
	{"a life in Codex", []string{"codex"}, codexLife},
	{"Claude Code killed", []string{"claude"}, claudeKilled},
	{"Claude Code's window closed", []string{"claude"}, claudeClosed},
	{"Codex killed", []string{"codex"}, codexKilled},
	{"Codex's window closed", []string{"codex"}, codexClosed},
	{"Codex's daemon keeps a thread", []string{"codex"}, codexDaemon},
	{"a hook whose environment points elsewhere", []string{"codex"}, hookMoved},
	{"whole sessions with the tower down", []string{"claude", "codex"}, towerDown},
	{"the import counts what is on disk", []string{"claude", "codex", "corpus"}, importCounts},
	{"the tray on a private session bus", []string{"claude", "bus"}, trayMenu},
}

const (
	claudeAgent core.Agent = "claude"
	codexAgent  core.Agent = "codex"
)
