package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	asksTrust      = "whether this folder is trusted"
	asksRestricted = "whether to open this folder, which is marked untrusted, with restrictions"
)

// TestDialogsTrust is a table of what the real program asked at its start in such folders.
func TestDialogsTrust(t *testing.T) {
	base := resolved(t.TempDir())
	for _, f := range []string{
		"plain/a", "git/.git/HEAD", "git/sub/deep/a", "settings/.codex/config.toml", "settings/sub/a", "nosettings/.codex",
		"bogus/.git/x", "git/bogus/.git/x", "main/.git/HEAD", "main/.git/worktrees/w/HEAD", "w/sub/a", "nested/.git/HEAD", "own/sub/.codex/x",
		"super/.git/modules/m/HEAD", "super/.git/HEAD",
	} {
		path := filepath.Join(base, filepath.FromSlash(f))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for dir, to := range map[string]string{"w": filepath.Join(base, "main/.git/worktrees/w"), "broken": "/nowhere", "super/m": "../.git/modules/m"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(base, dir, ".git"), []byte("gitdir: "+to+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(base, "git"), filepath.Join(base, "link")); err != nil {
		t.Skip("no links here: ", err)
	}
	trusted := func(dirs ...string) string { return decided(base, "trusted", dirs) }
	untrusted := func(dirs ...string) string { return decided(base, "untrusted", dirs) }
	for name, c := range map[string]struct{ dir, config, want string }{
		"a plain folder":                        {"plain", "", ""},
		"a plain folder marked untrusted":       {"plain", untrusted("plain"), asksRestricted},
		"a plain folder below an untrusted one": {"plain", untrusted("."), ""},
		"a repository":                          {"git", "", asksTrust},
		"a repository below a trusted folder":   {"git", trusted("."), asksTrust},
		"a trusted repository":                  {"git", trusted("git"), ""},
		"an untrusted repository":               {"git", untrusted("git"), asksRestricted},
		"below a repository":                    {"git/sub/deep", "", asksTrust},
		"below a trusted repository":            {"git/sub/deep", trusted("git"), ""},
		"below an untrusted repository":         {"git/sub/deep", untrusted("git"), asksRestricted},
		"trusted itself":                        {"git/sub/deep", trusted("git/sub/deep"), ""},
		"a folder between trusted":              {"git/sub/deep", trusted("git/sub"), asksTrust},
		"itself before the root":                {"git/sub/deep", trusted("git/sub/deep") + untrusted("git"), ""},
		"itself against the root":               {"git/sub/deep", untrusted("git/sub/deep") + trusted("git"), asksRestricted},
		"by a link":                             {"link", trusted("git"), ""},
		"the link trusted":                      {"link", trusted("link"), asksTrust},
		"settings of its own":                   {"settings", "", asksTrust},
		"below settings":                        {"settings/sub", "", ""},
		"own settings below a trusted folder":   {"own/sub", trusted("own"), asksTrust},
		"own settings, trusted":                 {"own/sub", trusted("own/sub"), ""},
		"a file of that name":                   {"nosettings", "", ""},
		"an empty .git":                         {"bogus", "", ""},
		"an empty .git in a repository":         {"git/bogus", "", asksTrust},
		"an empty .git in a trusted repository": {"git/bogus", trusted("git"), ""},
		"a .git file to nowhere":                {"broken", "", asksTrust},
		"a worktree":                            {"w", "", asksTrust},
		"a worktree of a trusted repository":    {"w", trusted("main"), ""},
		"a trusted worktree":                    {"w", trusted("w"), ""},
		"below a worktree of a trusted one":     {"w/sub", trusted("main"), ""},
		"below a trusted worktree":              {"w/sub", trusted("w"), ""},
		"a submodule of a trusted repository":   {"super/m", trusted("super"), asksTrust},
		"a trusted submodule":                   {"super/m", trusted("super/m"), ""},
		"a config nobody can read":              {"git", "[projects\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.file("auth.json", "{}")
			h.file("config.toml", c.config)
			if got := strings.Join(h.a.Dialogs(filepath.Join(base, filepath.FromSlash(c.dir))), ", "); got != c.want {
				t.Errorf("Dialogs = %q, want %q", got, c.want)
			}
		})
	}
}

func decided(base, level string, dirs []string) string {
	var b strings.Builder
	for _, d := range dirs {
		fmt.Fprintf(&b, "[projects.%q]\ntrust_level = %q\n", filepath.Join(base, filepath.FromSlash(d)), level)
	}
	return b.String()
}

func TestDialogsSignIn(t *testing.T) {
	const own = "[model_providers.own]\nbase_url = \"http://127.0.0.1:1/v1\"\n"
	for name, c := range map[string]struct {
		config, auth string
		want         bool
	}{
		"nothing at all":            {"", "", true},
		"signed in":                 {"", "{}", false},
		"the agent's own provider":  {`model_provider = "openai"`, "", true},
		"another provider":          {"model_provider = \"own\"\n" + own, "", false},
		"another that wants it too": {"model_provider = \"own\"\n" + own + "requires_openai_auth = true\n", "", true},
		"signed in for another":     {"model_provider = \"own\"\n" + own + "requires_openai_auth = true\n", "{}", false},
		"kept in a keyring":         {`cli_auth_credentials_store = "keyring"`, "", false},
		"kept in the file":          {`cli_auth_credentials_store = "file"`, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.file("config.toml", c.config)
			if c.auth != "" {
				h.file("auth.json", c.auth)
			}
			var want []string
			if c.want {
				want = []string{"how to sign in"}
			}
			if d := cmp.Diff(want, h.a.Dialogs(t.TempDir())); d != "" {
				t.Errorf("Dialogs (-want +got):\n%s", d)
			}
		})
	}
}

func TestDialogsHooks(t *testing.T) {
	const asks = "whether its hooks are trusted"
	file := func(event string) string {
		return `{"hooks":{"` + event + `":[{"hooks":[{"type":"command","command":"say done","timeout":5}]}]}}`
	}
	for name, c := range map[string]struct {
		hooks   string
		trusted bool
		change  string
		more    string
		want    bool
	}{
		"no hooks":               {"", false, "", "", false},
		"a new hook":             {file("PreToolUse"), false, "", "", true},
		"trusted":                {file("PreToolUse"), true, "", "", false},
		"changed since":          {file("PreToolUse"), true, "done", "", true},
		"switched off":           {file("Stop"), true, "off", "", false},
		"all hooks off":          {file("Stop"), false, "", "[features]\nhooks = false\n", false},
		"an event nobody knows":  {file("Notification"), false, "", "", false},
		"a file nobody can read": {"{", false, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.file("auth.json", "{}")
			if c.hooks != "" {
				h.file("hooks.json", c.hooks)
			}
			if c.trusted {
				trustAll(t, h.a.HookFile(), []byte(c.hooks), func(string) string {
					if c.change == "off" {
						return "enabled = false\n"
					}
					return ""
				})
			} else {
				h.file("config.toml", c.more)
			}
			if c.change == "done" {
				h.file("hooks.json", strings.Replace(c.hooks, "say done", "say more", 1))
			}
			got := h.a.Dialogs(t.TempDir())
			if (len(got) == 1 && got[0] == asks) != c.want || len(got) > 1 {
				t.Errorf("Dialogs = %q, want asked: %v", got, c.want)
			}
		})
	}
}
