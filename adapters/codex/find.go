package codex

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"

	"tower/core"
)

// Find returns the codex command on a PATH, or "" and where it was looked for.
func (a *Adapter) Find(path string) (command, looked string) {
	names := []string{"codex"}
	if runtime.GOOS == "windows" {
		names = []string{"codex.exe", "codex.cmd", "codex.bat"}
	}
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			continue // an empty entry means the folder one happens to be in
		}
		for _, name := range names {
			full := filepath.Join(dir, name)
			info, err := os.Stat(full)
			if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
				return full, ""
			}
		}
	}
	return "", "the folders of PATH"
}

// RuleOutput returns what the SessionStart hook prints so that the agent reads text as context.
func (a *Adapter) RuleOutput(text string) []byte {
	var out struct {
		Specific struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	out.Specific.Event, out.Specific.Context = "SessionStart", text
	b, err := json.Marshal(out)
	if err != nil {
		panic("codex: encode two strings: " + err.Error())
	}
	return append(b, '\n')
}

var (
	_ core.Adapter    = (*Adapter)(nil)
	_ core.Watched    = (*Adapter)(nil)
	_ core.Finder     = (*Adapter)(nil)
	_ core.RuleWriter = (*Adapter)(nil)
	_ core.Versioned  = (*Adapter)(nil)
)
