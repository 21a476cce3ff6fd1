package claude

import (
	"path/filepath"
	"strings"
)

// Skill returns the slash command that runs a skill, and whether the agent would find it in dir, see
// [core.Skiller]. It looks where the agent does: in the person's own folder, then in .claude of dir and
// of every folder above, up to the repository's root or, outside of one, to below the person's folder.
// A worktree finds the commands of its repository, but no skills. A command that the person wrote as a
// single file serves as well as a skill.
func (a *Adapter) Skill(name, dir string) (string, bool) {
	prompt := "/" + name
	if name == "" || strings.ContainsAny(name, "/\\ \t\r\n") || strings.HasPrefix(name, ".") {
		return prompt, false
	}
	if installed(a.info.Root, name) {
		return prompt, true
	}
	if dir == "" {
		return prompt, false
	}
	dir = realPath(dir)
	root, of := repository(dir)
	for at := dir; ; at = filepath.Dir(at) {
		if root == "" && at == a.home {
			break
		}
		if installed(filepath.Join(at, ".claude"), name) {
			return prompt, true
		}
		if at == root || filepath.Dir(at) == at {
			break
		}
	}
	return prompt, of != root && isFile(filepath.Join(of, ".claude", "commands", name+".md"))
}

func installed(config, name string) bool {
	return isFile(filepath.Join(config, "skills", name, "SKILL.md")) || isFile(filepath.Join(config, "commands", name+".md"))
}
