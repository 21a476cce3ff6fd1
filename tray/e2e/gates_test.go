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
	{"gate 2: Claude Code launched, ended, resumed", []string{"claude", "codex", "desktop"}, claudeActs},
	{"gate 2: Codex launched, ended, resumed", []string{"claude", "codex", "desktop"}, codexActs},
	{"every terminal, by the tower and by hand", []string{"claude", "codex", "desktop"}, terminalMatrix},
	{"the right one of several windows", []string{"claude", "codex", "desktop"}, jumpsAmong},
	{"typing, and where it is refused", []string{"claude", "codex", "desktop"}, typing},
	{"prompts byte for byte", []string{"claude", "codex", "desktop"}, promptTexts},
	{"a dialog stands before the session", []string{"claude", "codex", "desktop"}, trustDialog},
	{"a launch that ends at once", []string{"codex", "desktop"}, launcherDies},
	{"a terminal that takes 7 s", []string{"claude", "codex", "desktop"}, slowTerminal},
	{"a restart between a launch and its window", []string{"claude", "codex", "desktop"}, restartInLaunch},
	{"what cannot be done is said", []string{"claude", "codex", "desktop"}, badInput},
	{"a host without a display", []string{"claude", "codex", "desktop"}, noDisplay},
	{"ten windows leave nothing behind", []string{"claude", "codex", "desktop"}, tenWindows},
	{"no secret of the login environment", []string{"claude", "codex", "desktop"}, noSecret},
	{"sessions that no signal may end", []string{"claude", "codex", "desktop"}, background},
	{"gate 2: from the tray", []string{"claude", "codex", "desktop"}, trayActs},
	{"the import counts what is on disk", []string{"claude", "codex", "corpus"}, importCounts},
	{"the tray on a private session bus", []string{"claude", "bus"}, trayMenu},
}

const (
	claudeAgent core.Agent = "claude"
	codexAgent  core.Agent = "codex"
)
