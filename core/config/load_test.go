package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

const agentsToml = `
[claude]
display = "Claude Code"
code = "CC"
exe = ["*/claude"]
root = "~/.claude"
root_env = "CLAUDE_CONFIG_DIR"
[codex]
display = "Codex"
root = "~/.codex"
`

func load(t *testing.T, configText, agentsText string, env map[string]string) (core.Config, Origins, error) {
	t.Helper()
	dir := t.TempDir()
	o := Options{
		ConfigFile: filepath.Join(dir, "config.toml"), AgentsFile: filepath.Join(dir, "agents.toml"),
		Agents: []byte(agentsToml), UserHome: "/home/dev", Data: "/home/dev/.local/share/tower", Temp: "/tmp",
		Getenv: func(k string) string { return env[k] },
	}
	for file, text := range map[string]string{o.ConfigFile: configText, o.AgentsFile: agentsText} {
		if text != "" {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return Load(o)
}

func TestLayers(t *testing.T) {
	c, from, err := load(t, "port = 8001\n[display]\ntimezone = \"Asia/Tokyo\"\nname = \"Turm\"\n", "", map[string]string{"TOWER_DISPLAY_NAME": "Tour", "CLAUDE_CONFIG_DIR": "/srv/claude"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Port != 8001 || c.Timezone != "Asia/Tokyo" || c.Name != "Tour" || c.Mode != core.ModeLive || c.RetentionDays != 14 {
		t.Errorf("Load = %+v", c)
	}
	for key, want := range map[string]string{"port": ":1", "display.timezone": ":3", "display.name": "TOWER_DISPLAY_NAME", "mode": "default"} {
		if !strings.HasSuffix(from[key], want) {
			t.Errorf("origin of %s = %q, want it to end in %q", key, from[key], want)
		}
	}
	if got := c.Agents[0].Root; got != "/srv/claude" {
		t.Errorf("root moved by the agent's variable = %q", got)
	}
	if got := c.Agents[1].Root; got != "/home/dev/.codex" {
		t.Errorf("default root = %q", got)
	}
}

func TestHarnessRoots(t *testing.T) {
	c, _, err := load(t, "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for cwd, want := range map[string]bool{
		"/tmp": true, "/tmp/x/y": true, "/tmpfoo": false, "/home/dev/.local/share/tower/inbox": true,
		"/home/dev/code": false, "/home/dev/Library/CodexBar/ClaudeProbe": true, "": false,
	} {
		if got := c.InHarness(cwd); got != want {
			t.Errorf("InHarness(%q) = %v, want %v", cwd, got, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	for name, x := range map[string]struct {
		config, agents string
		env            map[string]string
		key            string
		line           int
		says           string
	}{
		"unknown key":     {config: "mode = \"live\"\n\n[display]\nacent = \"#000000\"\n", key: "display.acent", line: 4, says: "no such key"},
		"wrong type":      {config: "port = \"high\"\n", key: "port", line: 1, says: "whole number"},
		"bad value":       {config: "mode = \"liv\"\n", key: "mode", line: 1, says: `"live" or "testing"`},
		"port range":      {config: "port = 80\n", key: "port", line: 1, says: "1024"},
		"bad zone":        {config: "display.timezone = \"Mars\"\n", key: "display.timezone", line: 1, says: "Europe/Berlin"},
		"syntax":          {config: "port = 7433\nmode = live\n", line: 2},
		"environment":     {env: map[string]string{"TOWER_PORT": "70000"}, key: "port", says: "TOWER_PORT"},
		"unknown agent":   {agents: "[clod]\nroot = \"/x\"\n", key: "clod", line: 1, says: "claude codex"},
		"agent key":       {agents: "[claude]\nroute = \"/x\"\n", key: "claude.route", line: 2, says: "no such key"},
		"agent type":      {agents: "[claude]\nexe = 3\n", key: "claude.exe", line: 2},
		"relative root":   {agents: "[claude]\nroot = \"x\"\n", key: "claude.root", line: 2, says: "full path"},
		"list of numbers": {config: "[sessions]\nharness_roots = [1]\n", key: "sessions.harness_roots", line: 2, says: "list of texts"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := load(t, x.config, x.agents, x.env)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("Load = %v, want an *Error", err)
			}
			if e.Key != x.key || e.Line != x.line || !strings.Contains(e.Error(), x.says) {
				t.Errorf("Load = %q (key %q line %d), want key %q line %d saying %q", e, e.Key, e.Line, x.key, x.line, x.says)
			}
		})
	}
}

func TestPersonsAgentKeepsTheRest(t *testing.T) {
	c, _, err := load(t, "", "[claude]\nexe = [\"/opt/claude\"]\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := c.Agents[0]; a.Display != "Claude Code" || len(a.Exe) != 1 || a.Exe[0] != "/opt/claude" {
		t.Errorf("merged agent = %+v", a)
	}
}

func TestSettingsThatAreNoFile(t *testing.T) {
	dir := t.TempDir()
	_, _, err := Load(Options{ConfigFile: dir, Agents: []byte(agentsToml), Getenv: func(string) string { return "" }, UserHome: "/home/dev", Temp: "/tmp"})
	if err == nil || !strings.Contains(err.Error(), "not an ordinary file") {
		t.Errorf("Load of a folder = %v", err)
	}
}
