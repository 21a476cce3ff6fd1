package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func lay(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// trusting is an account file of somebody who trusts folders.
func trusting(dirs ...string) string {
	s := `{"hasCompletedOnboarding": true, "projects": {`
	for i, dir := range dirs {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprintf(`%q: {"hasTrustDialogAccepted": true}`, filepath.ToSlash(dir))
	}
	return s + "}}"
}

func TestDialogs(t *testing.T) {
	home := realPath(t.TempDir())
	root, dir := filepath.Join(home, ".claude"), filepath.Join(home, "work", "proj")
	account := filepath.Join(home, ".claude.json")
	user, project, local := filepath.Join(root, "settings.json"), filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json")
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"a fresh home":         {nil, []string{asksSetup, asksTrust}},
		"all is well":          {map[string]string{account: trusting(dir)}, nil},
		"a trusted parent":     {map[string]string{account: trusting(filepath.Join(home, "work"))}, nil},
		"a trusted child":      {map[string]string{account: trusting(filepath.Join(dir, "sub"))}, []string{asksTrust}},
		"a trusted neighbour":  {map[string]string{account: trusting(dir + "2")}, []string{asksTrust}},
		"refused":              {map[string]string{account: fmt.Sprintf(`{"hasCompletedOnboarding":true,"projects":{%q:{"hasTrustDialogAccepted":false}}}`, dir)}, []string{asksTrust}},
		"not set up":           {map[string]string{account: fmt.Sprintf(`{"projects":{%q:{"hasTrustDialogAccepted":true}}}`, dir)}, []string{asksSetup}},
		"another type":         {map[string]string{account: `{"hasCompletedOnboarding":"yes","projects":{"` + dir + `":{"hasTrustDialogAccepted":true}}}`}, []string{asksSetup}},
		"an empty account":     {map[string]string{account: ""}, []string{asksSetup, asksTrust}},
		"a broken account":     {map[string]string{account: `{"hasCompletedOnboarding": tr`}, []string{asksAccount}},
		"an older account":     {map[string]string{account: trusting(dir), filepath.Join(root, ".config.json"): `{"hasCompletedOnboarding":true}`}, []string{asksTrust}},
		"broken settings":      {map[string]string{account: trusting(dir), user: `{"permissions": `}, []string{asksSettings}},
		"a comment":            {map[string]string{account: trusting(dir), user: "// mine\n{}"}, []string{asksSettings}},
		"a list":               {map[string]string{account: trusting(dir), user: "[]"}, []string{asksSettings}},
		"empty settings":       {map[string]string{account: trusting(dir), user: " \n"}, nil},
		"a byte order mark":    {map[string]string{account: trusting(dir), user: "\xEF\xBB\xBF{}"}, nil},
		"good settings":        {map[string]string{account: trusting(dir), user: `{"nosuch": 1}`}, nil},
		"the project's":        {map[string]string{account: trusting(dir), user: "{}", project: "{"}, []string{asksSettings}},
		"its local ones":       {map[string]string{account: trusting(dir), local: "{"}, []string{asksSettings}},
		"two broken ones once": {map[string]string{account: trusting(dir), user: "{", local: "{"}, []string{asksSettings}},
		"everything":           {map[string]string{local: "{"}, []string{asksSetup, asksTrust, asksSettings}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range []string{account, user, project, local, filepath.Join(root, ".config.json")} {
				_ = os.Remove(f)
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for f, content := range c.files {
				lay(t, f, content)
			}
			a := New(testInfo(root))
			a.home = home
			if d := cmp.Diff(c.want, a.Dialogs(dir)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestDialogsUnreadable shows that what cannot be read tells nothing.
func TestDialogsUnreadable(t *testing.T) {
	root := t.TempDir()
	a := New(testInfo(root))
	if err := os.Mkdir(filepath.Join(root, ".claude.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := a.Dialogs(t.TempDir()); got != nil {
		t.Errorf("with a folder for an account file: %q", got)
	}
}

// TestDialogsMovedRoot shows which account file counts: beside the usual root, inside a moved one.
func TestDialogsMovedRoot(t *testing.T) {
	home, dir := realPath(t.TempDir()), realPath(t.TempDir())
	moved := filepath.Join(home, "elsewhere")
	lay(t, filepath.Join(home, ".claude.json"), trusting(dir))
	a := New(testInfo(moved))
	a.home = home
	if d := cmp.Diff([]string{asksSetup, asksTrust}, a.Dialogs(dir)); d != "" {
		t.Error(d)
	}
	lay(t, filepath.Join(moved, ".claude.json"), trusting(dir))
	if got := a.Dialogs(dir); got != nil {
		t.Errorf("asks %q although the moved root knows", got)
	}
}

// TestTrustOfRepositories lays out repositories as git does: the root of one stands for all below it,
// and for its worktrees wherever they lie.
func TestTrustOfRepositories(t *testing.T) {
	top := realPath(t.TempDir())
	repo, tree, fake := filepath.Join(top, "repo"), filepath.Join(top, "tree"), filepath.Join(top, "fake")
	sub := filepath.Join(repo, "sub")
	own := filepath.Join(repo, ".git", "worktrees", "tree")
	lay(t, filepath.Join(sub, "x"), "")
	lay(t, filepath.Join(own, "commondir"), "../..\n")
	lay(t, filepath.Join(own, "gitdir"), filepath.Join(tree, ".git")+"\n")
	lay(t, filepath.Join(tree, ".git"), "gitdir: "+own+"\n")
	lay(t, filepath.Join(tree, "in", "x"), "")
	lay(t, filepath.Join(fake, ".git"), "gitdir: "+own+"\n")
	bare := filepath.Join(top, "bare.git")
	bareTree := filepath.Join(top, "baretree")
	lay(t, filepath.Join(bare, "worktrees", "b", "commondir"), "../..\n")
	lay(t, filepath.Join(bare, "worktrees", "b", "gitdir"), filepath.Join(bareTree, ".git")+"\n")
	lay(t, filepath.Join(bareTree, ".git"), "gitdir: "+filepath.Join(bare, "worktrees", "b")+"\n")
	odd := filepath.Join(top, "odd") // its repository has it, but not as a worktree
	lay(t, filepath.Join(repo, ".git", "modules", "odd", "commondir"), "../..\n")
	lay(t, filepath.Join(repo, ".git", "modules", "odd", "gitdir"), filepath.Join(odd, ".git")+"\n")
	lay(t, filepath.Join(odd, ".git"), "gitdir: ../repo/.git/modules/odd\n")
	link := filepath.Join(top, "link")
	if err := os.Symlink(sub, link); err != nil {
		t.Skip("no links here: " + err.Error())
	}
	root := filepath.Join(top, "root")
	a := New(testInfo(root))
	for _, c := range []struct {
		trusted, dir string
		asks         bool
	}{
		{repo, sub, false}, {repo, filepath.Join(tree, "in"), false}, {repo, fake, true}, {repo, odd, true}, {repo, link, false}, {link, link, true},
		{tree, repo, true}, {tree, filepath.Join(tree, "in"), false}, {bare, bareTree, false}, {repo, bareTree, true}, {repo, top, true},
	} {
		lay(t, filepath.Join(root, ".claude.json"), trusting(c.trusted))
		want := []string(nil)
		if c.asks {
			want = []string{asksTrust}
		}
		if d := cmp.Diff(want, a.Dialogs(c.dir)); d != "" {
			t.Errorf("trusted %s, started in %s: %s", c.trusted, c.dir, d)
		}
	}
}

func FuzzDialogs(f *testing.F) {
	f.Add([]byte(trusting("/p")), []byte("{}"))
	f.Add([]byte(`{"projects":[]}`), []byte("["))
	root, dir := f.TempDir(), f.TempDir()
	a := New(testInfo(root))
	f.Fuzz(func(t *testing.T, account, settings []byte) {
		lay(t, filepath.Join(root, ".claude.json"), string(account))
		lay(t, filepath.Join(root, "settings.json"), string(settings))
		for _, asked := range a.Dialogs(dir) {
			if asked == "" {
				t.Error("asks nothing")
			}
		}
	})
}
