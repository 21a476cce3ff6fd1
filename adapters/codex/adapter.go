package codex

import (
	"path/filepath"
	"time"

	"tower/core"
)

// Name is this agent's short name in agents.toml, in hook commands and in the ledger.
const Name core.Agent = "codex"

// Adapter is the adapter of one Codex home. It is safe for concurrent use; what it keeps besides the
// configured facts are caches of files that have not changed.
type Adapter struct {
	info  core.AgentInfo
	names nameCache
	tails tailCache
	calls callCache

	daemon daemon
}

// New returns the adapter for an agent described by info, whose Root is absolute.
func New(info core.AgentInfo) *Adapter {
	if info.Agent == "" {
		info.Agent = Name
	}
	return &Adapter{info: info, names: nameCache{rest: time.Second}}
}

// Agent returns the configured facts.
func (a *Adapter) Agent() core.AgentInfo { return a.info }

// Watch returns the folder whose change means that a thread began or ended.
func (a *Adapter) Watch() []string { return []string{a.locks()} }

func (a *Adapter) locks() string { return filepath.Join(a.info.Root, "thread-writer-locks") }
