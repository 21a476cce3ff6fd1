// Package adapters is the list of the agents Tower knows: one adapter each, and their default facts.
// It promises that the order is that of the list below, and that an agent for which there are no facts
// is left out. The program's wiring alone uses it; it decides nothing, keeps no state, and nothing that
// an agent does is known here.
package adapters

import (
	_ "embed"

	"tower/adapters/claude"
	"tower/adapters/codex"
	"tower/core"
)

// Defaults is the built-in agents.toml, over which the person's own is laid.
//
//go:embed agents.toml
var Defaults []byte

// makers is the one list: to add an agent is to add its line, its folder and its table in agents.toml.
var makers = []struct {
	agent core.Agent
	make  func(core.AgentInfo) core.Adapter
}{
	{claude.Name, func(i core.AgentInfo) core.Adapter { return claude.New(i) }},
	{codex.Name, func(i core.AgentInfo) core.Adapter { return codex.New(i) }},
}

// All returns an adapter for each of the facts that belongs to an agent Tower knows. Their Root is
// absolute.
func All(infos []core.AgentInfo) []core.Adapter {
	var all []core.Adapter
	for _, m := range makers {
		for _, info := range infos {
			if info.Agent == m.agent {
				all = append(all, m.make(info))
			}
		}
	}
	return all
}
