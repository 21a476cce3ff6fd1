package core

import "context"

// Adapter is all that Tower knows of one agent. Everything else is written against it and never
// learns an agent's name. These methods are required; what else an agent can do is a second interface
// below, whose comment says what its absence means. Implementations are safe for concurrent use.
type Adapter interface {
	// Agent returns the configured facts. It never changes while the program runs.
	Agent() AgentInfo

	// Decode turns a recorded hook call into an Event. A call without a session id is an error; a call
	// that tells nothing of a session (a hook of a sub-agent, say) is an Event of kind EventNote.
	// Process, Nested and Alive are the caller's business.
	Decode(Envelope) (Event, error)

	// Evidence returns the sessions that run now, judged by the agent's own records of running sessions
	// checked against the table. A session is left out when nothing proves it; a record that cannot be
	// read for now must not make the others disappear. An error means that nothing can be said at all,
	// and the caller keeps what it knew.
	Evidence(ctx context.Context, t Table) ([]Sighting, error)

	// Transcripts calls found for every source on disk, archived ones included, with its fingerprint,
	// until found returns false. It opens no source. A folder that cannot be read is an error that
	// carries the others on: errors are joined.
	Transcripts(ctx context.Context, found func(Source) bool) error

	// Scan reads a source from the cursor on; the zero Cursor means from the start. It never fails for
	// what the file holds, only for a file that cannot be read.
	Scan(ctx context.Context, s Source, from Cursor) (Scan, error)

	// Launch and Resume tell how to start a session or take one up again. They start nothing.
	Launch(spec LaunchSpec) (Launch, error)
	Resume(s Session, model string) (Launch, error)
}

// HookInstaller is an Adapter whose agent runs hooks. Without it live status rests on evidence alone
// and every face says so.
type HookInstaller interface {
	// HookFile returns the path of the file to edit.
	HookFile() string
	// InstallHooks returns the file's bytes with Tower's entries added, all else byte-identical; nil
	// content means that there is no file. command is the full path of tower-hook. Content that cannot
	// be understood is an error and nothing is to be written.
	InstallHooks(content []byte, command string) ([]byte, error)
	// UninstallHooks is its inverse: install then uninstall gives back the very bytes.
	UninstallHooks(content []byte, command string) ([]byte, error)
	// HookStatus tells how the entries stand in the content.
	HookStatus(content []byte, command string) HookStatus
	// OneShot is the shortest run of the agent that fires hooks, for the canary. It needs no terminal
	// and its standard input is null.
	OneShot(dir string) (Launch, error)
}

// HookState is how Tower's hook entries stand in an agent's file.
type HookState string

// The states of hook entries.
const (
	HooksInstalled    HookState = "installed"
	HooksNeedTrust    HookState = "needs trust" // in place; the agent runs them once the person trusts them
	HooksPartial      HookState = "partial"     // some entries are missing or altered
	HooksNotInstalled HookState = "not installed"
	HooksUnreadable   HookState = "unreadable" // the file cannot be understood
)

// HookStatus is a HookState with its reason.
type HookStatus struct {
	State   HookState `json:"state"`
	Reason  string    `json:"reason"`  // one sentence, or ""
	Events  []string  `json:"events"`  // installed events
	Missing []string  `json:"missing"` // events of ours that are not there
}

// RuleWriter is an Adapter whose agent takes standing rules from its SessionStart hook's output.
// Without it the agent is given no rules.
type RuleWriter interface {
	// RuleOutput returns the exact bytes the hook prints so that the agent reads text as context.
	RuleOutput(text string) []byte
}

// Finder is an Adapter that can say whether its agent is installed. Without it, an agent counts as
// installed when its Root exists.
type Finder interface {
	// Find returns the path of the agent's command, or "" and where it was looked for.
	Find(path string) (command string, looked string)
}

// Watched is an Adapter whose evidence lies in folders that can be watched, so that a change wakes
// the poll. Without it the timer alone notices.
type Watched interface {
	// Watch returns folders; they need not exist.
	Watch() []string
}

// Versioned is an Adapter that counts the versions of its Scan. A source read by another version is
// read again although it did not change. Without it, sources are read again only when they change.
type Versioned interface {
	ScanVersion() int
}

// Recognizer is an Adapter that can tell a transcript of its agent by the file alone, wherever it
// lies. Without it a file has to be given together with the agent's name.
type Recognizer interface {
	// Recognizes judges by the path and the first 64 KiB (or less) of the content.
	Recognizes(path string, head []byte) bool
}
