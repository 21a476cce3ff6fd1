package core

import "strings"

// Mode says what Tower may write besides its own files.
type Mode string

// The two modes.
const (
	ModeLive    Mode = "live"
	ModeTesting Mode = "testing" // nothing shared is written
)

// Config is everything config.toml and agents.toml say, defaults filled in and checked. The
// defaults and their reasons stand in core/config.
type Config struct {
	Mode          Mode
	Port          int    // 0 = any free port
	Name          string // of the app, as faces show it
	Accent        string // "" = the built-in pair; else "#rrggbb"
	Timezone      string // IANA name; "" = the machine's
	HarnessRoots  []string
	WorkLog       []string
	ProjectRoots  []string
	RetentionDays int
	SweepMinutes  int
	LaunchHome    string // HomeWindow or HomeTmux
	Terminal      string // name of the terminal launches open; "" = the first that is there
	Agents        []AgentInfo
}

// InHarness tells whether a folder lies at or below one of the harness roots.
func (c *Config) InHarness(cwd string) bool {
	for _, root := range c.HarnessRoots {
		if strings.Contains(root, "*") {
			if Glob(root, cwd) {
				return true
			}
			continue
		}
		if rest, ok := strings.CutPrefix(cwd, root); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\' || strings.HasSuffix(root, "/")) {
			return true
		}
	}
	return false
}
