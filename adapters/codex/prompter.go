package codex

import (
	"slices"

	"tower/core"
)

// WithPrompt returns the resuming launch with a first prompt behind it.
func (a *Adapter) WithPrompt(l core.Launch, prompt string) core.Launch {
	argv, caution := words(prompt)
	l.Argv = append(slices.Clip(slices.Clone(l.Argv)), argv...)
	l.Cautions = append(slices.Clip(slices.Clone(l.Cautions)), caution...)
	return l
}
