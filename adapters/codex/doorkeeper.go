package codex

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tower/adapters/jsonedit"
	"tower/adapters/jsonl"
)

// doors is the part of config.toml that decides what Codex asks before a session begins.
type doors struct {
	Provider  string `toml:"model_provider"`
	Providers map[string]struct {
		Auth bool `toml:"requires_openai_auth"`
	} `toml:"model_providers"`
	Store    string `toml:"cli_auth_credentials_store"`
	Projects map[string]struct {
		Level string `toml:"trust_level"`
	} `toml:"projects"`
}

// Dialogs returns what Codex asks first when it is started in a folder: to sign in, whether the folder is
// trusted, whether its hooks are, in the order of its own questions. That a newer version or another model
// is offered stands in no record that is the person's, and is left to the screen.
func (a *Adapter) Dialogs(dir string) []string {
	var d doors
	if a.config(&d) != nil {
		return nil // Codex does not start with such a file, and says so
	}
	var all []string
	if a.signsIn(&d) {
		all = append(all, "how to sign in")
	}
	switch d.trust(resolved(dir)) {
	case levelUnknown:
		all = append(all, "whether this folder is trusted")
	case levelUntrusted:
		all = append(all, "whether to open this folder, which is marked untrusted, with restrictions")
	}
	if a.reviews() {
		all = append(all, "whether its hooks are trusted")
	}
	return all
}

// signsIn tells whether Codex has no credentials although its provider wants its own. A key in the
// environment does not spare the question; where they are kept elsewhere nobody can say.
func (a *Adapter) signsIn(d *doors) bool {
	if d.Store != "" && d.Store != "file" {
		return false
	}
	if d.Provider != "" && d.Provider != "openai" && !d.Providers[d.Provider].Auth {
		return false
	}
	_, err := os.Stat(filepath.Join(a.info.Root, "auth.json"))
	return errors.Is(err, fs.ErrNotExist)
}

// level is how a folder stands.
type level int

const (
	levelFree      level = iota // trusted, or nothing in it that needs trust
	levelUnknown                // not decided
	levelUntrusted              // decided against
)

// trust tells how a folder stands, given without links. The decision for the folder itself goes before
// that for its checkout's root, and that before the one for the repository a worktree belongs to; that of
// any other folder above says nothing. Undecided, a folder needs trust when it lies in a repository or has
// settings of its own.
func (d *doors) trust(dir string) level {
	root, main := repository(dir)
	for _, at := range []string{dir, root, main} {
		switch d.Projects[at].Level {
		case "trusted":
			return levelFree
		case "untrusted":
			return levelUntrusted
		}
	}
	if info, err := os.Stat(filepath.Join(dir, ".codex")); root != "" || err == nil && info.IsDir() {
		return levelUnknown
	}
	return levelFree
}

// repository returns the root of the checkout a folder lies in and, for a worktree, that of the repository
// it belongs to; else main is root. A folder .git without a HEAD is none; a file .git always is one.
func repository(dir string) (root, main string) {
	for at := dir; ; at = filepath.Dir(at) {
		git := filepath.Join(at, ".git")
		if info, err := os.Stat(git); err == nil {
			if info.Mode().IsRegular() {
				return at, worktreeOf(git, at)
			}
			if _, err := os.Stat(filepath.Join(git, "HEAD")); err == nil {
				return at, at
			}
		}
		if at == filepath.Dir(at) {
			return "", ""
		}
	}
}

// worktreeOf returns the root of the repository that a .git file of a worktree points into, or root.
func worktreeOf(file, root string) string {
	f, err := jsonl.Open(file)
	if err != nil {
		return root
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 8<<10))
	if err != nil {
		return root
	}
	path, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir:")
	if !ok {
		return root
	}
	path = filepath.FromSlash(strings.TrimSpace(path))
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	inside := filepath.Join(string(filepath.Separator)+".git", "worktrees") + string(filepath.Separator)
	if at := strings.LastIndex(path, inside); at > 0 {
		return resolved(path[:at])
	}
	return root
}

// reviews tells whether Codex will ask about hooks: one of the person's is new or was changed.
func (a *Adapter) reviews() bool {
	config, err := a.trust()
	if err != nil || config.Features.Hooks != nil && !*config.Features.Hooks {
		return false
	}
	file, err := jsonl.Open(a.HookFile())
	if err != nil {
		return false
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxConfig))
	if err != nil {
		return false
	}
	hooks, err := jsonedit.Hooks(b)
	if err != nil {
		return false
	}
	for _, h := range hooks {
		if !codexEvents[h.Event] {
			continue
		}
		e, ok := config.entry(a.hookFiles(), h)
		if off := e.Enabled != nil && !*e.Enabled; !off && (!ok || e.Hash != trustedHash(h)) {
			return true
		}
	}
	return false
}
