package codex

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"tower/adapters/jsonl"
)

// Skill returns the prompt that chooses a skill, and whether Codex would find one of that name for work in
// dir. The blank behind the name closes the list that opens while a name is typed: without it the first
// Enter only takes the name from the list. Codex takes the blank away.
func (a *Adapter) Skill(name, dir string) (prompt string, installed bool) {
	if name == "" || strings.ContainsAny(name, "/\\ \t\r\n") {
		return "", false
	}
	for _, folder := range a.skillFolders(dir) {
		if left := 2000; holdsSkill(folder, name, 3, &left) {
			installed = true
			break
		}
	}
	return "$" + name + " ", installed
}

// skillFolders are the places where Codex looks: its own folder, the person's, and those of every folder
// from the working one up to the root of its repository.
func (a *Adapter) skillFolders(dir string) []string {
	all := []string{filepath.Join(a.info.Root, "skills")}
	if home := filepath.Dir(a.info.Root); filepath.Base(a.info.Root) == ".codex" {
		all = append(all, filepath.Join(home, ".agents", "skills"))
	}
	if dir == "" {
		return all
	}
	root, _ := repository(resolved(dir))
	for at := resolved(dir); ; at = filepath.Dir(at) {
		all = append(all, filepath.Join(at, ".agents", "skills"), filepath.Join(at, ".codex", "skills"))
		if root == "" || at == root || at == filepath.Dir(at) {
			return all
		}
	}
}

// holdsSkill looks for a skill of a name below a folder, at no more than left entries.
func holdsSkill(folder, name string, level int, left *int) bool {
	if skillName(folder) == name {
		return true
	}
	if level == 0 {
		return false
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if *left--; *left < 0 {
			return false
		}
		if (e.IsDir() || e.Type()&os.ModeSymlink != 0) && holdsSkill(filepath.Join(folder, e.Name()), name, level-1, left) {
			return true
		}
	}
	return false
}

// skillName returns what the skill in a folder is called, or "" when there is none that Codex takes: one
// has a head with a description; the name in it goes before the folder's.
func skillName(folder string) string {
	file, err := jsonl.Open(filepath.Join(folder, "SKILL.md"))
	if err != nil {
		return ""
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, 64<<10))
	if err != nil {
		return ""
	}
	name, described := filepath.Base(folder), false
	inside := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		if !inside {
			if line != "---" {
				return ""
			}
			inside = true
			continue
		}
		if line == "---" {
			if described {
				return name
			}
			return ""
		}
		key, val, ok := strings.Cut(line, ":")
		val = strings.Trim(strings.TrimSpace(val), `"'`)
		switch {
		case !ok || val == "":
		case key == "name":
			name = val
		case key == "description":
			described = true
		}
	}
	return ""
}
