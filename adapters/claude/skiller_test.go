package claude

import (
	"path/filepath"
	"testing"
)

func TestSkill(t *testing.T) {
	home := realPath(t.TempDir())
	root, work := filepath.Join(home, ".claude"), filepath.Join(home, "work")
	repo := filepath.Join(work, "repo")
	deep, plain := filepath.Join(repo, "sub", "deep"), filepath.Join(work, "plain", "sub")
	tree := filepath.Join(home, "tree")
	own := filepath.Join(repo, ".git", "worktrees", "tree")
	for _, file := range []string{
		"work/.claude/skills/above/SKILL.md", "work/.claude/commands/abovecmd.md",
		"work/repo/.claude/skills/whole/SKILL.md", "work/repo/.claude/commands/wholecmd.md", "work/repo/sub/.claude/skills/part/SKILL.md",
		"work/repo/sub/deep/x", "work/plain/sub/x", "tree/x",
		".claude/skills/mine/SKILL.md", ".claude/commands/minecmd.md", ".claude/skills/nothing/notes.md", ".claude/skills/a folder/SKILL.md",
	} {
		lay(t, filepath.Join(home, filepath.FromSlash(file)), "x")
	}
	lay(t, filepath.Join(own, "commondir"), "../..\n")
	lay(t, filepath.Join(own, "gitdir"), filepath.Join(tree, ".git")+"\n")
	lay(t, filepath.Join(tree, ".git"), "gitdir: "+own+"\n")
	a := New(testInfo(root))
	a.home = home
	for _, c := range []struct {
		name, dir string
		want      bool
	}{
		{"mine", deep, true}, {"minecmd", deep, true}, {"mine", "", true}, {"mine", filepath.Join(home, "gone"), true},
		{"whole", repo, true}, {"whole", deep, true}, {"wholecmd", deep, true}, {"part", deep, true}, {"part", repo, false}, {"part", "", false},
		{"above", deep, false}, {"above", plain, true}, {"abovecmd", plain, true}, {"above", home, false},
		{"wholecmd", tree, true}, {"whole", tree, false},
		{"nothing", deep, false}, {"nosuch", deep, false}, {"", deep, false}, {"../skills/mine", deep, false}, {"a folder", deep, false}, {"..", deep, false},
	} {
		prompt, got := a.Skill(c.name, c.dir)
		if got != c.want || prompt != "/"+c.name {
			t.Errorf("Skill(%q, %s) = %q, %v, want %v", c.name, c.dir, prompt, got, c.want)
		}
	}
	// With the root elsewhere, the usual one is nobody's.
	a = New(testInfo(filepath.Join(home, "moved")))
	a.home = home
	for name, dir := range map[string]string{"mine": plain, "minecmd": home} {
		if _, got := a.Skill(name, dir); got {
			t.Errorf("Skill(%q, %s) is installed although the root is elsewhere", name, dir)
		}
	}
}
