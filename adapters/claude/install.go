package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"tower/adapters/jsonedit"
	"tower/core"
)

// hookEvents are the events Tower listens to, in the order they are written. The list is fixed for
// ever; there is none that fires for every tool call.
var hookEvents = []struct {
	name, matcher string
}{
	{"SessionStart", ""},
	{"UserPromptSubmit", ""},
	{"Stop", ""},
	{"StopFailure", ""},
	{"SessionEnd", ""},
	{"PermissionRequest", ""},
	{"Notification", ""},
	{"SubagentStop", ""},
	{"PreToolUse", askTool + "|" + planTool + "|Skill"},
	{"PostToolUse", askTool + "|" + planTool + "|Skill"},
}

// hookSeconds is the agent's time limit for one call. The hook needs a hundredth of it; the limit
// also lifts SessionEnd above the 1.5 seconds the agent grants it otherwise.
const hookSeconds = 5

// HookFile returns the person's own settings file.
func (a *Adapter) HookFile() string {
	name := a.info.HookFile
	if name == "" {
		name = "settings.json"
	}
	return filepath.Join(a.info.Root, filepath.FromSlash(name))
}

func (a *Adapter) wanted(command string) []jsonedit.Hook {
	var all []jsonedit.Hook
	for _, e := range hookEvents {
		all = append(all, jsonedit.Hook{
			Event:   e.name,
			Matcher: e.matcher,
			Command: jsonedit.ShellWord(command) + " " + string(Name) + " " + e.name,
			Timeout: hookSeconds,
		})
	}
	return all
}

func (a *Adapter) owns(command string) func(string) bool {
	prefix := jsonedit.ShellWord(command) + " " + string(Name) + " "
	return func(text string) bool { return strings.HasPrefix(text, prefix) }
}

// InstallHooks adds an entry for every event, each in a group of its own behind what stands there.
func (a *Adapter) InstallHooks(content []byte, command string) ([]byte, error) {
	out, err := jsonedit.AddHooks(content, a.wanted(command), a.owns(command))
	if err != nil {
		return nil, fmt.Errorf("add hooks: %w", err)
	}
	return out, nil
}

// UninstallHooks takes them away again; nil means that there was no file before.
func (a *Adapter) UninstallHooks(content []byte, command string) ([]byte, error) {
	out, err := jsonedit.DropHooks(content, a.owns(command))
	if err != nil {
		return nil, fmt.Errorf("remove hooks: %w", err)
	}
	return out, nil
}

// HookStatus tells which events are in place. The agent asks nobody before it runs them.
func (a *Adapter) HookStatus(content []byte, command string) core.HookStatus {
	s, found := jsonedit.HookStatus(content, a.wanted(command))
	if s.State == core.HooksUnreadable || len(found) == 0 {
		return s
	}
	var doc struct {
		Off bool `json:"disableAllHooks"`
	}
	if json.Unmarshal(content, &doc) == nil && doc.Off {
		s.State, s.Reason = core.HooksPartial, "The settings switch all hooks off (disableAllHooks)."
	}
	return s
}

// RuleOutput returns the object by which a hook of SessionStart hands the agent text to read.
func (a *Adapter) RuleOutput(text string) []byte {
	var out struct {
		Specific struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	out.Specific.Event, out.Specific.Context = "SessionStart", text
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(out) != nil {
		return nil // two strings always encode
	}
	return b.Bytes()
}
