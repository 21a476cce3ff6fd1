package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
)

// What the agent asks before a session begins, in words that end a sentence. The screen is read with
// the same ones.
const (
	asksSetup    = "how it should be set up"
	asksTrust    = "whether this folder is trusted"
	asksSettings = "what to do about an error in its settings"
	asksAccount  = "what to do about its broken configuration file"
)

// maxAccount bounds what is read of the account file, which grows with every folder worked in.
const maxAccount = 32 << 20

// maxSettings bounds what is read of a settings file.
const maxSettings = 4 << 20

// records is what the agent's account file tells of dialogs. A field of another type than expected
// is as good as absent, for the agent as well.
type records struct {
	Onboarded bool `json:"hasCompletedOnboarding"`
	Projects  map[string]struct {
		Trusted bool `json:"hasTrustDialogAccepted"`
	} `json:"projects"`
}

// Dialogs returns what the agent will ask when it is started in dir, in the order in which it asks, see
// [core.Doorkeeper]. Its records do not tell of every dialog: an API key in the environment, servers of
// a project's .mcp.json and single values of settings may be asked about as well. A record that cannot
// be read tells nothing.
func (a *Adapter) Dialogs(dir string) []string {
	var asks []string
	b, err := readSmall(a.account(), maxAccount)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var acc records
	if err == nil && len(bytes.TrimSpace(b)) > 0 {
		err := json.Unmarshal(bytes.TrimPrefix(b, bom), &acc)
		if bad := (*json.UnmarshalTypeError)(nil); err != nil && !errors.As(err, &bad) {
			return []string{asksAccount}
		}
	}
	if !acc.Onboarded {
		asks = append(asks, asksSetup)
	}
	if dir != "" && !acc.trusts(realPath(dir)) {
		asks = append(asks, asksTrust)
	}
	for _, file := range []string{a.HookFile(), filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json")} {
		if brokenSettings(file) {
			return append(asks, asksSettings)
		}
	}
	return asks
}

// trusts tells whether a person trusted the folder, one above it, or the repository it belongs to: a
// worktree is trusted with its repository, wherever it lies. Acceptance in a repository is recorded for
// its root.
func (acc *records) trusts(dir string) bool {
	if _, of := repository(dir); of != "" && acc.Projects[filepath.ToSlash(of)].Trusted {
		return true
	}
	for at := dir; ; at = filepath.Dir(at) {
		if acc.Projects[filepath.ToSlash(at)].Trusted {
			return true
		}
		if filepath.Dir(at) == at {
			return false
		}
	}
}

var bom = []byte("\xEF\xBB\xBF")

// brokenSettings tells whether a settings file is one that the agent stops at: no JSON, or no object.
// One without content is as good as none.
func brokenSettings(file string) bool {
	b, err := readSmall(file, maxSettings)
	b = bytes.TrimSpace(bytes.TrimPrefix(b, bom))
	if err != nil || len(b) == 0 {
		return false
	}
	return !json.Valid(b) || b[0] != '{'
}
