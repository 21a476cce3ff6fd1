package codex

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"tower/adapters/jsonedit"
	"tower/adapters/jsonl"
	"tower/core"
)

// hookEvents are the events Tower listens to, in the order they are written, with the agent's time
// limit in seconds. The list is fixed for ever, because every change asks the person for trust again.
// Codex allows no more than three seconds for SessionEnd and Interrupt and warns about more.
var hookEvents = []struct {
	name    string
	seconds int
}{
	{"SessionStart", 5},
	{"UserPromptSubmit", 5},
	{"Stop", 5},
	{"SessionEnd", shortSeconds},
	{"PermissionRequest", 5},
	{"Interrupt", shortSeconds},
	{"SubagentStop", 5},
}

// maxConfig bounds what is read of the agent's config.toml.
const maxConfig = 16 << 20

const (
	shortSeconds   = 3
	defaultSeconds = 600 // the agent's, for an entry that names none
)

// trustStep is what the person has to do, and why Tower does not.
const trustStep = "Codex runs a hook only after you have trusted it: start codex in a terminal, and when it says " +
	`"Hooks need review", look at the entries that name tower-hook and trust them. ` +
	"That question is yours to answer, so Tower leaves it to you."

// HookFile returns the person's own hooks.json.
func (a *Adapter) HookFile() string {
	name := a.info.HookFile
	if name == "" {
		name = "hooks.json"
	}
	return filepath.Join(a.info.Root, filepath.FromSlash(name))
}

func (a *Adapter) hooksWanted(command string) []jsonedit.Hook {
	var all []jsonedit.Hook
	for _, e := range hookEvents {
		all = append(all, jsonedit.Hook{
			Event:   e.name,
			Command: jsonedit.ShellWord(command) + " " + string(Name) + " " + e.name,
			Timeout: e.seconds,
		})
	}
	return all
}

func ownsHook(command string) func(string) bool {
	prefix := jsonedit.ShellWord(command) + " " + string(Name) + " "
	return func(text string) bool { return strings.HasPrefix(text, prefix) }
}

// InstallHooks adds an entry for every event behind what stands there. Behind, because Codex keeps
// trust by position: in front of another entry ours would cost that entry its trust.
func (a *Adapter) InstallHooks(content []byte, command string) ([]byte, error) {
	out, err := jsonedit.AddHooks(content, a.hooksWanted(command), ownsHook(command))
	if err != nil {
		return nil, fmt.Errorf("add hooks: %w", err)
	}
	return out, nil
}

// UninstallHooks takes them away again; nil means that there was no file before.
func (a *Adapter) UninstallHooks(content []byte, command string) ([]byte, error) {
	out, err := jsonedit.DropHooks(content, ownsHook(command))
	if err != nil {
		return nil, fmt.Errorf("remove hooks: %w", err)
	}
	return out, nil
}

// HookStatus tells which events are in place, and whether Codex would run them as config.toml stands
// now.
func (a *Adapter) HookStatus(content []byte, command string) core.HookStatus {
	s, found := jsonedit.HookStatus(content, a.hooksWanted(command))
	if s.State != core.HooksInstalled {
		return s
	}
	config, err := a.trust()
	switch {
	case err != nil:
		s.State, s.Reason = core.HooksNeedTrust, "Codex's config.toml cannot be read, so nobody can say whether the hooks are trusted. "+trustStep
		return s
	case config.Features.Hooks != nil && !*config.Features.Hooks:
		s.State, s.Reason = core.HooksPartial, "Hooks are switched off in Codex's config.toml (features.hooks)."
		return s
	}
	var untrusted, off []string
	for _, h := range found {
		entry, ok := config.entry(a.hookFiles(), h)
		switch {
		case !ok || entry.Hash != trustedHash(h):
			untrusted = append(untrusted, h.Event)
		case entry.Enabled != nil && !*entry.Enabled:
			off = append(off, h.Event)
		}
	}
	switch {
	case len(untrusted) > 0:
		s.State, s.Reason = core.HooksNeedTrust, trustStep
		if len(untrusted) < len(found) {
			s.Reason = "Not trusted: " + strings.Join(untrusted, ", ") + ". " + trustStep
		}
	case len(off) > 0:
		s.State, s.Reason = core.HooksPartial, "Switched off inside Codex: "+strings.Join(off, ", ")+"."
	}
	return s
}

// trustFile is the part of config.toml that says which hooks run.
type trustFile struct {
	Features struct {
		Hooks *bool `toml:"hooks"`
	} `toml:"features"`
	Hooks struct {
		State map[string]trustEntry `toml:"state"`
	} `toml:"hooks"`
}

type trustEntry struct {
	Hash    string `toml:"trusted_hash"`
	Enabled *bool  `toml:"enabled"`
}

func (a *Adapter) trust() (f trustFile, err error) { return f, a.config(&f) }

// config reads the part of config.toml that into describes. A file that is not there says nothing.
func (a *Adapter) config(into any) error {
	file, err := jsonl.Open(filepath.Join(a.info.Root, "config.toml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxConfig))
	if err != nil {
		return err
	}
	return toml.Unmarshal(b, into)
}

// hookFiles are the names by which Codex may know the hook file: as it stands, and with the links on
// the way resolved.
func (a *Adapter) hookFiles() []string {
	files := []string{a.HookFile()}
	if root, err := filepath.EvalSymlinks(a.info.Root); err == nil {
		files = append(files, filepath.Join(root, filepath.Base(files[0])))
	}
	if real, err := filepath.EvalSymlinks(files[0]); err == nil {
		files = append(files, real)
	}
	return files
}

func (f *trustFile) entry(files []string, h jsonedit.PlacedHook) (trustEntry, bool) {
	for _, file := range files {
		if e, ok := f.Hooks.State[fmt.Sprintf("%s:%s:%d:%d", file, snake(h.Event), h.Group, h.Handler)]; ok {
			return e, true
		}
	}
	return trustEntry{}, false
}

// codexEvents are the events Codex has hooks for; one of any other name it passes over.
var codexEvents = set("SessionStart SessionEnd UserPromptSubmit PreToolUse PermissionRequest PostToolUse PreCompact " +
	"PostCompact SubagentStart SubagentStop Stop Interrupt")

// snake returns the name of an event as Codex writes it in its own file.
func snake(event string) string {
	var b strings.Builder
	for i, c := range event {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// trustedHash returns what Codex writes into config.toml when the person trusts an entry: the SHA-256
// of the entry as compact JSON with sorted keys, defaults filled in and limits applied. It is
// computed to be compared, never to be written.
func trustedHash(h jsonedit.PlacedHook) string {
	seconds := h.Timeout
	if seconds == 0 {
		seconds = defaultSeconds
	}
	if h.Event == "SessionEnd" || h.Event == "Interrupt" {
		seconds = min(seconds, shortSeconds)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b) // a map's keys come out sorted
	enc.SetEscapeHTML(false)
	entry := map[string]any{
		"event_name": snake(h.Event),
		"hooks":      []any{map[string]any{"async": false, "command": h.Command, "timeout": seconds, "type": "command"}},
	}
	if h.Matcher != "" {
		entry["matcher"] = h.Matcher
	}
	if enc.Encode(entry) != nil {
		return "" // texts and numbers always encode
	}
	sum := sha256.Sum256(bytes.TrimRight(b.Bytes(), "\n"))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// OneShot asks for one word and ends. Its input must be null: otherwise Codex waits for its end.
func (a *Adapter) OneShot(dir string) (core.Launch, error) {
	return core.Launch{
		Argv:   []string{"codex", "exec", "--skip-git-repo-check", "Answer with the single word: ok"},
		Dir:    dir,
		NullIn: true,
	}, nil
}
