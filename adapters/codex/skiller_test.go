package codex

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSkill is what the real program selected and did not.
func TestSkill(t *testing.T) {
	home := t.TempDir()
	repo := filepath.Join(t.TempDir(), "repo")
	leaf := filepath.Join(repo, "mid", "leaf")
	put := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	head := func(name string) string { return "---\nname: " + name + "\ndescription: Ends.\n---\nSay goodbye.\n" }
	put(filepath.Join(repo, ".git", "HEAD"), "ref: refs/heads/main\n")
	put(filepath.Join(leaf, "a"), "")
	for path, content := range map[string]string{
		home + "/.codex/skills/inhome": head("inhome"), home + "/.agents/skills/inagents": head("inagents"),
		repo + "/.agents/skills/inroot": head("inroot"), repo + "/mid/.agents/skills/inmid": head("inmid"), leaf + "/.agents/skills/inleaf": head("inleaf"),
		home + "/.codex/skills/folder": head("other"), repo + "/.codex/skills/indotcodex": head("indotcodex"), home + "/.codex/skills/deep/er": head("nested"),
		home + "/.codex/skills/nofront": "Just text\n", home + "/.codex/skills/nodesc": "---\nname: nodesc\n---\nx\n",
		home + "/.codex/skills/noname": "---\ndescription: \"some words\"\n---\nx\n", home + "/.codex/skills/unended": "---\nname: unended\ndescription: x\n",
		filepath.Dir(repo) + "/.agents/skills/above": head("above"),
	} {
		put(filepath.Join(path, "SKILL.md"), content)
	}
	a := New(info(filepath.Join(home, ".codex")))
	for name, want := range map[string]bool{
		"inhome": true, "inagents": true, "inroot": true, "inmid": true, "inleaf": true, "other": true, "indotcodex": true, "nested": true, "noname": true,
		"folder": false, "nofront": false, "nodesc": false, "unended": false, "InHome": false, "above": false, "none": false,
	} {
		prompt, got := a.Skill(name, leaf)
		if got != want || prompt != "$"+name+" " {
			t.Errorf("Skill(%q) = %q, %v, want %v", name, prompt, got, want)
		}
	}
	if _, got := a.Skill("inmid", repo); got {
		t.Error("a skill of a folder below counts")
	}
	if _, got := a.Skill("inhome", ""); !got {
		t.Error("the person's own skills count without a folder")
	}
	for _, name := range []string{"", "../x", "a b", `a\b`} {
		if prompt, got := a.Skill(name, leaf); prompt != "" || got {
			t.Errorf("Skill(%q) = %q, %v", name, prompt, got)
		}
	}
}
