package adapters

import (
	"bytes"
	"slices"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"tower/core"
)

// facts reads the built-in agents.toml strictly.
func facts(t *testing.T) map[core.Agent]core.AgentInfo {
	t.Helper()
	var tables map[core.Agent]struct {
		Display, Code, Tag, Install string
		Exe, Argv, Helpers          []string
		Shared                      bool
		Root                        string
		RootEnv                     string `toml:"root_env"`
		Transcripts                 []string
		HookFile                    string `toml:"hook_file"`
		Instructions, Closeout      string
		UsageURL                    string `toml:"usage_url"`
		ResumeAnywhere              bool   `toml:"resume_anywhere"`
	}
	if err := toml.NewDecoder(bytes.NewReader(Defaults)).DisallowUnknownFields().Decode(&tables); err != nil {
		t.Fatal(err)
	}
	all := map[core.Agent]core.AgentInfo{}
	for name, x := range tables {
		all[name] = core.AgentInfo{
			Agent: name, Display: x.Display, Code: x.Code, Tag: x.Tag, Install: x.Install, Exe: x.Exe, Argv: x.Argv,
			Helpers: x.Helpers, Shared: x.Shared, Root: x.Root, RootEnv: x.RootEnv, Transcripts: x.Transcripts,
			HookFile: x.HookFile, Instructions: x.Instructions, Closeout: x.Closeout, UsageURL: x.UsageURL,
			ResumeAnywhere: x.ResumeAnywhere,
		}
	}
	return all
}

func TestEveryAgentHasFactsAndAnAdapter(t *testing.T) {
	all := facts(t)
	var infos []core.AgentInfo
	for _, info := range all {
		if info.Display == "" || len(info.Code) != 2 || info.Tag == "" || info.Install == "" || len(info.Exe) == 0 ||
			info.Root == "" || len(info.Transcripts) == 0 || info.HookFile == "" || info.Instructions == "" || info.Closeout == "" {
			t.Errorf("facts of %s have holes: %+v", info.Agent, info)
		}
		infos = append(infos, info)
	}
	infos = append(infos, core.AgentInfo{Agent: "unheard-of"})
	got := All(infos)
	if len(got) != len(makers) || len(got) != len(all) {
		t.Fatalf("%d adapters for %d makers and %d tables", len(got), len(makers), len(all))
	}
	for i, a := range got {
		if a.Agent().Agent != makers[i].agent {
			t.Errorf("adapter %d is of %s, want %s", i, a.Agent().Agent, makers[i].agent)
		}
	}
}

// TestWhoseProcess shows which processes count as an agent's, and which of those as its machinery.
func TestWhoseProcess(t *testing.T) {
	const (
		npmClaude = "/home/dev/npm/node_modules/@anthropic-ai/claude-code/bin/claude.exe"
		native    = "/home/dev/.local/share/claude/versions/2.1.197"
		codexBin  = "/home/dev/npm/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
		daemonBin = "/home/dev/.codex/packages/app-server-daemon/releases/0.171.0-x86_64-unknown-linux-musl/codex"
		wrapper   = "/home/dev/npm/node_modules/.bin/../@openai/codex/bin/codex"
	)
	for _, c := range []struct {
		exe    string
		args   []string
		agent  core.Agent
		helper bool
	}{
		{npmClaude, []string{"claude"}, "claude", false},
		{npmClaude, []string{"claude", "--resume", "x"}, "claude", false},
		{npmClaude + " (deleted)", []string{"claude"}, "claude", false},
		{native, []string{"claude", "-p", "x"}, "claude", false},
		{"/usr/local/bin/claude", []string{"claude"}, "claude", false},
		{npmClaude, []string{npmClaude, "daemon", "run", "--origin", "transient", "--spawned-by", "{}"}, "claude", true},
		{npmClaude, []string{"claude.exe", "--bg-pty-host", "/tmp/s", "80", "24", "--", "claude.exe"}, "claude", true},
		{npmClaude, []string{npmClaude, "--bg-pty-host", "/tmp/s", "80", "24", "--", "claude.exe"}, "claude", true},
		{npmClaude, []string{npmClaude, "--bg-spare", "/tmp/s"}, "claude", true},
		{npmClaude, []string{"claude.exe", "--session-id", "u", "-n", "bg", "do it"}, "claude", false},
		{npmClaude, []string{"claude", "explain --bg-spare and daemon run"}, "claude", false},
		{"/usr/bin/node", []string{"node", "/home/dev/lib/node_modules/@anthropic-ai/claude-code/cli.js"}, "claude", false},

		{codexBin, []string{"codex"}, "codex", false},
		{codexBin, []string{"codex", "exec", "fix the app-server"}, "codex", false},
		{"/usr/bin/node", []string{"node", wrapper, "--no-daemon"}, "codex", false},
		{"/usr/bin/node", []string{"node", wrapper, "app-server"}, "codex", true},
		{daemonBin, []string{daemonBin, "app-server", "--listen", "unix://", "--managed-daemon"}, "codex", true},
		{daemonBin, []string{daemonBin, "app-server", "daemon", "pid-update-loop"}, "codex", true},
		{codexBin, []string{"codex", "app-server"}, "codex", true},
		{codexBin, []string{"codex", "mcp-server"}, "codex", true},

		{"/usr/bin/vim", []string{"vim", "/home/dev/bin/codex.md"}, "", false},
		{"/usr/bin/bash", []string{"bash", "-c", "claude --help"}, "", false},
		{"/usr/bin/node", []string{"node", "server.js"}, "", false},
		{"/opt/Claude/claude-desktop", []string{"claude-desktop"}, "", false},
	} {
		var who []core.Agent
		helper := false
		for _, info := range facts(t) {
			if info.MatchExe(c.exe, c.args) {
				who = append(who, info.Agent)
				helper = info.IsHelper(c.args)
			}
		}
		want := []core.Agent{c.agent}
		if c.agent == "" {
			want = nil
		}
		if !slices.Equal(who, want) || helper != c.helper {
			t.Errorf("%s %q is of %v, helper %v; want %v, %v", c.exe, c.args, who, helper, want, c.helper)
		}
	}
}
