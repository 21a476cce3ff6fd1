package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"tower/core"
)

// Terminals are the names launch.terminal takes. A test of the composition root holds them to those of
// core/term.
var Terminals = []string{
	"xterm", "kitty", "alacritty", "xfce4-terminal", "gnome-terminal", "wezterm", "x-terminal-emulator", "xdg-terminal-exec",
	"terminal", "iterm2", "windows-terminal",
}

// Kind is the type of a value.
type Kind string

// The kinds.
const (
	Text    Kind = "text"
	Number  Kind = "whole number"
	Strings Kind = "list of texts"
)

// Key is one setting: its dotted name in config.toml, its default and what is allowed.
type Key struct {
	Name    string
	Kind    Kind
	Default any // string, int64 or []string
	Allowed string
	Why     string // one sentence for the person
	check   func(any) bool
	apply   func(*core.Config, any)
}

// Env returns the variable that overrides the key: TOWER_DISPLAY_TIMEZONE for display.timezone.
func (k Key) Env() string {
	return "TOWER_" + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

var accent = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// Keys lists every setting.
var Keys = []Key{
	{
		Name: "mode", Kind: Text, Default: "live", Allowed: `"live" or "testing"`,
		Why:   "In testing nothing shared is written: no outside board, no autostart.",
		check: func(v any) bool { return v == "live" || v == "testing" },
		apply: func(c *core.Config, v any) { c.Mode = core.Mode(v.(string)) },
	},
	{
		Name: "port", Kind: Number, Default: int64(7433), Allowed: "0 (any free port) or 1024 to 65535",
		Why:   "Where the page answers, on this machine only. The next free port is taken when it is in use.",
		check: func(v any) bool { n := v.(int64); return n == 0 || n >= 1024 && n <= 65535 },
		apply: func(c *core.Config, v any) { c.Port = int(v.(int64)) },
	},
	{
		Name: "display.name", Kind: Text, Default: "Tower", Allowed: "1 to 40 characters",
		Why:   "What the app is called on its page and in its menu.",
		check: func(v any) bool { n := len([]rune(v.(string))); return n >= 1 && n <= 40 },
		apply: func(c *core.Config, v any) { c.Name = v.(string) },
	},
	{
		Name: "display.accent", Kind: Text, Default: "", Allowed: `"" or a colour like "#1f5bc4"`,
		Why:   "The one colour of links and the main button; moved in lightness until it can be read.",
		check: func(v any) bool { return v == "" || accent.MatchString(v.(string)) },
		apply: func(c *core.Config, v any) { c.Accent = strings.ToLower(v.(string)) },
	},
	{
		Name: "display.timezone", Kind: Text, Default: "", Allowed: `"" (the machine's) or a name like "Europe/Berlin"`,
		Why:   "The zone in which days are cut, in every view.",
		check: func(v any) bool { _, err := time.LoadLocation(v.(string)); return err == nil },
		apply: func(c *core.Config, v any) { c.Timezone = v.(string) },
	},
	{
		Name: "sessions.harness_roots", Kind: Strings,
		Default: []string{"{temp}", "{data}", "*/ClaudeProbe", "*/ClaudeProbe/*", "*/CodexBar/*"},
		Allowed: "folders; '*' stands for anything, {temp} for the system's temp folder, {data} for Tower's own",
		Why:     "Sessions in these folders are machinery (probes, tests), not work: they are hidden.",
		apply:   func(c *core.Config, v any) { c.HarnessRoots = v.([]string) },
	},
	{
		Name: "sessions.project_roots", Kind: Strings, Default: []string{}, Allowed: "folders that hold your projects",
		Why:   "A folder directly below one of these is a project.",
		apply: func(c *core.Config, v any) { c.ProjectRoots = v.([]string) },
	},
	{
		Name: "sessions.work_log", Kind: Strings, Default: []string{"WORKLOG.md", "NOTES.md"}, Allowed: "file names",
		Why:   "The first of these that exists in a repository is named to a session that continues work there.",
		apply: func(c *core.Config, v any) { c.WorkLog = v.([]string) },
	},
	{
		Name: "launch.home", Kind: Text, Default: core.HomeWindow, Allowed: `"window" or "tmux"`,
		Why:   "Where a launched session lives: in a window of its own, or in Tower's tmux server. Without a display it is always tmux.",
		check: func(v any) bool { return v == core.HomeWindow || v == core.HomeTmux },
		apply: func(c *core.Config, v any) { c.LaunchHome = v.(string) },
	},
	{
		Name: "launch.terminal", Kind: Text, Default: "", Allowed: `"" (the first that is installed) or one of: ` + strings.Join(Terminals, ", "),
		Why:   "The terminal that launches open.",
		check: func(v any) bool { return v == "" || slices.Contains(Terminals, v.(string)) },
		apply: func(c *core.Config, v any) { c.Terminal = v.(string) },
	},
	{
		Name: "keep.days", Kind: Number, Default: int64(14), Allowed: "1 to 3650",
		Why:   "How long drained event files, launch files and old logs are kept.",
		check: func(v any) bool { n := v.(int64); return n >= 1 && n <= 3650 },
		apply: func(c *core.Config, v any) { c.RetentionDays = int(v.(int64)) },
	},
	{
		Name: "import.every_minutes", Kind: Number, Default: int64(15), Allowed: "1 to 1440",
		Why:   "How often all transcripts are looked at; what is unchanged is not opened.",
		check: func(v any) bool { n := v.(int64); return n >= 1 && n <= 1440 },
		apply: func(c *core.Config, v any) { c.SweepMinutes = int(v.(int64)) },
	},
}

// convert brings a value as a layer gave it to the key's kind.
func (k Key) convert(v any) (any, bool) {
	switch k.Kind {
	case Text:
		s, ok := v.(string)
		return s, ok
	case Number:
		switch n := v.(type) {
		case int64:
			return n, true
		case int:
			return int64(n), true
		case string: // from the environment
			var i int64
			if _, err := fmt.Sscanf(n, "%d", &i); err != nil || fmt.Sprint(i) != n {
				return nil, false
			}
			return i, true
		}
	case Strings:
		switch l := v.(type) {
		case []string:
			return slices.Clone(l), true
		case []any:
			out := []string{}
			for _, x := range l {
				s, ok := x.(string)
				if !ok {
					return nil, false
				}
				out = append(out, s)
			}
			return out, true
		case string:
			if l == "" {
				return []string{}, true
			}
			return strings.Split(l, ":"), true
		}
	}
	return nil, false
}
