package installer

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/adapters/adaptertest"
	"tower/adapters/claude"
	"tower/core"
)

// house is an installer with a fake agent whose folder is its own.
func house(t *testing.T) (*Hooks, *adaptertest.Fake) {
	t.Helper()
	dir := t.TempDir()
	fake := adaptertest.NewFake(filepath.Join(dir, "agent"))
	if err := os.Mkdir(filepath.Join(dir, "agent"), 0o700); err != nil {
		t.Fatal(err)
	}
	h := &Hooks{
		Adapters: []core.Adapter{fake},
		Binary:   filepath.Join(dir, "data", "bin", "tower-hook"),
		Backup:   filepath.Join(dir, "data", "backup"),
		HookLog:  filepath.Join(dir, "data", "hook.log"),
	}
	store(t, h.Binary, "program", 0o700)
	return h, fake
}

func store(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func refusal(t *testing.T, err error, words string) {
	t.Helper()
	var r *core.Refusal
	if !errors.As(err, &r) || !strings.Contains(r.Error(), words) {
		t.Errorf("error = %v, want a refusal with %q", err, words)
	}
}

func TestInstallAndUninstall(t *testing.T) {
	h, fake := house(t)
	const mine = "on start: \"mine\"\n"
	store(t, fake.HookFile(), mine, 0o640)
	r, err := h.Install(adaptertest.FakeName)
	if err != nil || !r.Changed || r.Status.State != core.HooksInstalled || r.Said == "" {
		t.Fatalf("Install = %+v, %v", r, err)
	}
	if got := load(t, r.Copy); got != mine {
		t.Errorf("the copy holds %q, want %q", got, mine)
	}
	if st, err := os.Stat(fake.HookFile()); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("mode = %v, %v, want 0640", st.Mode(), err)
	}
	if s, err := h.Status(adaptertest.FakeName); err != nil || s.State != core.HooksInstalled {
		t.Errorf("Status = %+v, %v", s, err)
	}
	before, _ := os.Stat(fake.HookFile())
	r, err = h.Install(adaptertest.FakeName)
	after, _ := os.Stat(fake.HookFile())
	if err != nil || r.Changed || r.Copy != "" || !os.SameFile(before, after) || !strings.Contains(r.Said, "already") {
		t.Errorf("Install again = %+v, %v, or it wrote the file again", r, err)
	}
	if r, err = h.Uninstall(adaptertest.FakeName); err != nil || !r.Changed || r.Status.State != core.HooksNotInstalled {
		t.Errorf("Uninstall = %+v, %v", r, err)
	}
	if got := load(t, fake.HookFile()); got != mine {
		t.Errorf("Uninstall left %q, want %q", got, mine)
	}
	if r, err = h.Uninstall(adaptertest.FakeName); err != nil || r.Changed {
		t.Errorf("Uninstall again = %+v, %v", r, err)
	}
}

func TestInstallWithoutAFile(t *testing.T) {
	h, fake := house(t)
	r, err := h.Install(adaptertest.FakeName)
	if err != nil || !r.Changed || r.Copy != "" {
		t.Fatalf("Install = %+v, %v", r, err)
	}
	if st, err := os.Stat(fake.HookFile()); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v, want 0600", st.Mode(), err)
	}
	if r, err = h.Uninstall(adaptertest.FakeName); err != nil || r.Copy == "" {
		t.Errorf("Uninstall = %+v, %v", r, err)
	}
	if _, err := os.Lstat(fake.HookFile()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file that held nothing else is still there: %v", err)
	}
}

func TestInstallKeepsLinks(t *testing.T) {
	for _, there := range []bool{true, false} {
		h, fake := house(t)
		target := filepath.Join(t.TempDir(), "dotfiles.txt")
		if there {
			store(t, target, "mine\n", 0o644)
		}
		link := filepath.Join(filepath.Dir(fake.HookFile()), "link")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("link", fake.HookFile()); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Install(adaptertest.FakeName); err != nil {
			t.Fatal(err)
		}
		if to, err := os.Readlink(fake.HookFile()); err != nil || to != "link" {
			t.Errorf("the link became %q, %v", to, err)
		}
		if !strings.Contains(load(t, target), "tower-hook") {
			t.Error("the file behind the link was not written")
		}
		if _, err := h.Uninstall(adaptertest.FakeName); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(fake.HookFile()); err != nil {
			t.Errorf("the link is gone: %v", err)
		}
		if _, err := os.Stat(target); (err == nil) != there {
			t.Errorf("behind the link: %v, want a file: %v", err, there)
		}
	}
}

func TestInstallRefuses(t *testing.T) {
	t.Run("unknown agent", func(t *testing.T) {
		h, _ := house(t)
		_, err := h.Install("nobody")
		refusal(t, err, `There is no agent "nobody".`)
		_, err = h.Uninstall("nobody")
		refusal(t, err, "There is no agent")
		_, err = h.Status("nobody")
		refusal(t, err, "There is no agent")
	})
	t.Run("agent without hooks", func(t *testing.T) {
		h, fake := house(t)
		h.Adapters = []core.Adapter{struct{ core.Adapter }{fake}}
		_, err := h.Install(adaptertest.FakeName)
		refusal(t, err, "runs no hooks")
	})
	t.Run("agent not there", func(t *testing.T) {
		h, fake := house(t)
		if err := os.Remove(fake.Agent().Root); err != nil {
			t.Fatal(err)
		}
		_, err := h.Install(adaptertest.FakeName)
		refusal(t, err, "Nothing installs the fake agent.")
		if _, err := os.Stat(fake.Agent().Root); err == nil {
			t.Error("Install made the agent's folder")
		}
	})
	t.Run("no hook program", func(t *testing.T) {
		h, _ := house(t)
		h.Binary += "-missing"
		_, err := h.Install(adaptertest.FakeName)
		refusal(t, err, "There is no hook at")
	})
	t.Run("malformed file", func(t *testing.T) {
		h, fake := house(t)
		store(t, fake.HookFile(), "!!", 0o600)
		for _, do := range []func(core.Agent) (HookResult, error){h.Install, h.Uninstall} {
			_, err := do(adaptertest.FakeName)
			refusal(t, err, `The file begins with "!".`)
		}
		if got := load(t, fake.HookFile()); got != "!!" {
			t.Errorf("the file became %q", got)
		}
		if _, err := os.Stat(h.Backup); err == nil {
			t.Error("a copy was made of a file that was not changed")
		}
	})
	t.Run("a folder in its place", func(t *testing.T) {
		h, fake := house(t)
		if err := os.Mkdir(fake.HookFile(), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := h.Install(adaptertest.FakeName)
		refusal(t, err, "not a regular file")
		if s, err := h.Status(adaptertest.FakeName); err != nil || s.State != core.HooksUnreadable {
			t.Errorf("Status = %+v, %v", s, err)
		}
	})
	t.Run("comments in Claude Code's settings", func(t *testing.T) {
		h, _ := house(t)
		root := t.TempDir()
		h.Adapters = []core.Adapter{claude.New(core.AgentInfo{Agent: "claude", Display: "Claude Code", Root: root})}
		text := "{\n  // mine\n  \"model\": \"opus\"\n}\n"
		store(t, filepath.Join(root, "settings.json"), text, 0o600)
		_, err := h.Install("claude")
		refusal(t, err, "line 2: a key is missing here")
		if got := load(t, filepath.Join(root, "settings.json")); got != text {
			t.Errorf("the file became %q", got)
		}
	})
}

// meddler writes to the hook file while it is being edited.
type meddler struct {
	*adaptertest.Fake
	times int
}

func (m *meddler) InstallHooks(content []byte, command string) ([]byte, error) {
	if m.times > 0 {
		m.times--
		if err := os.WriteFile(m.HookFile(), append(bytes.Clone(content), "theirs\n"...), 0o600); err != nil {
			return nil, err
		}
	}
	return m.Fake.InstallHooks(content, command)
}

func TestFileChangesMeanwhile(t *testing.T) {
	h, fake := house(t)
	h.Adapters = []core.Adapter{&meddler{fake, 1}}
	if r, err := h.Install(adaptertest.FakeName); err != nil || !r.Changed {
		t.Fatalf("Install = %+v, %v", r, err)
	}
	if got := load(t, fake.HookFile()); !strings.HasPrefix(got, "theirs\n") || !strings.Contains(got, "tower-hook") {
		t.Errorf("the file holds %q, want their line and ours", got)
	}
	h, fake = house(t)
	h.Adapters = []core.Adapter{&meddler{fake, 2}}
	_, err := h.Install(adaptertest.FakeName)
	refusal(t, err, "changed twice")
	if got := load(t, fake.HookFile()); got != "theirs\ntheirs\n" {
		t.Errorf("the file holds %q, want theirs", got)
	}
}

// forgetful loses an entry it should have written.
type forgetful struct{ *adaptertest.Fake }

func (f forgetful) InstallHooks([]byte, string) ([]byte, error) {
	return []byte("nothing of ours"), nil
}

func TestNewContentIsReadBack(t *testing.T) {
	h, fake := house(t)
	store(t, fake.HookFile(), "mine\n", 0o600)
	h.Adapters = []core.Adapter{forgetful{fake}}
	if _, err := h.Install(adaptertest.FakeName); err == nil || !strings.Contains(err.Error(), "check the new content") {
		t.Errorf("Install = %v, want that the new content is found wrong", err)
	}
	if got := load(t, fake.HookFile()); got != "mine\n" {
		t.Errorf("the file became %q", got)
	}
}

func TestInstallHookBinary(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "tower-hook"), filepath.Join(dir, "data", "bin", "tower-hook")
	_, err := InstallHookBinary(from, to)
	refusal(t, err, "it should lie at "+from)
	step := func(content string, want bool) fs.FileInfo {
		t.Helper()
		if content != "" {
			store(t, from, content, 0o755)
		}
		if did, err := InstallHookBinary(from, to); did != want || err != nil {
			t.Errorf("InstallHookBinary = %v, %v, want %v", did, err, want)
		}
		st, err := os.Stat(to)
		if err != nil || st.Mode().Perm() != 0o700 {
			t.Fatalf("the hook is %v, %v", st, err)
		}
		return st
	}
	first := step("one", true)
	if !os.SameFile(first, step("", false)) {
		t.Error("an equal program was written again")
	}
	if os.SameFile(first, step("two", true)) || load(t, to) != "two" {
		t.Error("another program did not take its place by rename")
	}
	if err := os.Chmod(to, 0o600); err != nil {
		t.Fatal(err)
	}
	step("", true)
}
