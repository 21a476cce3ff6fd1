package home

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		name, goos   string
		env          map[string]string
		config, data string
		wrong        string // part of the error
	}{
		{name: "xdg defaults", goos: "linux", env: map[string]string{"HOME": "/home/ö b"}, config: "/home/ö b/.config/tower", data: "/home/ö b/.local/share/tower"},
		{name: "xdg", goos: "linux", env: map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c/", "XDG_DATA_HOME": "/d"}, config: "/c/tower", data: "/d/tower"},
		{name: "xdg without a home", goos: "linux", env: map[string]string{"XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"}, config: "/c/tower", data: "/d/tower"},
		{name: "one override", goos: "linux", env: map[string]string{"HOME": "/h", "TOWER_HOME": "/t/../x/", "XDG_DATA_HOME": "/d"}, config: "/x", data: "/x"},
		{name: "override without a home", goos: "darwin", env: map[string]string{"TOWER_HOME": "/x"}, config: "/x", data: "/x"},
		{name: "macOS", goos: "darwin", env: map[string]string{"HOME": "/Users/a"}, config: "/Users/a/Library/Application Support/tower", data: "/Users/a/Library/Application Support/tower"},
		{name: "Windows", goos: "windows", env: map[string]string{"LOCALAPPDATA": `C:\Users\a\AppData\Local`, "TEMP": `C:\T`}, config: `C:\Users\a\AppData\Local\tower`, data: `C:\Users\a\AppData\Local\tower`},
		{name: "Windows by profile", goos: "windows", env: map[string]string{"USERPROFILE": `C:\Users\a`, "TEMP": `C:\T`}, config: `C:\Users\a\AppData\Local\tower`, data: `C:\Users\a\AppData\Local\tower`},
		{name: "no home", goos: "linux", wrong: "HOME is not set"},
		{name: "relative home", goos: "linux", env: map[string]string{"HOME": "h"}, wrong: `HOME must be an absolute path, it is "h"`},
		{name: "relative config", goos: "linux", env: map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "c"}, wrong: `XDG_CONFIG_HOME must be an absolute path, it is "c"`},
		{name: "relative data", goos: "linux", env: map[string]string{"HOME": "/h", "XDG_DATA_HOME": "./d"}, wrong: "XDG_DATA_HOME must be an absolute path"},
		{name: "relative override", goos: "linux", env: map[string]string{"HOME": "/h", "TOWER_HOME": "t"}, wrong: "TOWER_HOME must be an absolute path"},
		{name: "no home on macOS", goos: "darwin", wrong: "HOME is not set"},
		{name: "nothing on Windows", goos: "windows", wrong: "neither LOCALAPPDATA nor USERPROFILE"},
		{name: "relative on Windows", goos: "windows", env: map[string]string{"LOCALAPPDATA": `x\y`}, wrong: "LOCALAPPDATA must be an absolute path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := Resolve(env(c.env), c.goos)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Fatalf("Resolve = %v, %v, want an error with %q", h, err, c.wrong)
				}
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("error %q is more than one sentence", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c.config, c.data}, []string{h.Config, h.Data}); diff != "" {
				t.Error(diff)
			}
			if h.Runtime == "" {
				t.Error("no runtime folder")
			}
		})
	}
}

func TestRuntime(t *testing.T) {
	// A short folder: t.TempDir carries the test's name.
	short, err := os.MkdirTemp("/tmp", "r")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(short) })
	resolve := func(pairs map[string]string) Home {
		t.Helper()
		h, err := Resolve(env(pairs), "linux")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	one := resolve(map[string]string{"TOWER_HOME": "/srv/one", "XDG_RUNTIME_DIR": short})
	if !strings.HasPrefix(one.Runtime, short+"/tower-") || len(filepath.Base(one.Runtime)) != len("tower-")+8 {
		t.Errorf("runtime folder = %s, want tower-<8 hex> in %s", one.Runtime, short)
	}
	if two := resolve(map[string]string{"TOWER_HOME": "/srv/two", "XDG_RUNTIME_DIR": short}); two.Runtime == one.Runtime {
		t.Error("two homes share a runtime folder")
	}
	if again := resolve(map[string]string{"TOWER_HOME": "/srv/x/../one", "XDG_RUNTIME_DIR": short}); again.Runtime != one.Runtime {
		t.Errorf("one home has two runtime folders: %s and %s", again.Runtime, one.Runtime)
	}
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 90))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"missing": "/nowhere/at/all", "too long": long, "relative": "run"} {
		h := resolve(map[string]string{"TOWER_HOME": "/srv/one", "XDG_RUNTIME_DIR": dir})
		if strings.HasPrefix(h.Runtime, dir) {
			t.Errorf("%s: runtime folder = %s, want one elsewhere", name, h.Runtime)
		}
		if n := len(h.Socket()); n > socketMax {
			t.Errorf("%s: the socket's path has %d bytes", name, n)
		}
	}
	h := resolve(map[string]string{"TOWER_HOME": "/srv/one", "XDG_RUNTIME_DIR": "/nowhere", "TMPDIR": "/nowhere/either"})
	if strings.HasPrefix(h.Runtime, "/nowhere") {
		t.Errorf("runtime folder = %s, in a TMPDIR that does not exist", h.Runtime)
	}
}

func TestOneHomeThroughLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	real, err := Resolve(env(map[string]string{"TOWER_HOME": filepath.Join(dir, "t")}), "linux")
	if err != nil {
		t.Fatal(err)
	}
	link, err := Resolve(env(map[string]string{"TOWER_HOME": filepath.Join(dir, "link", "t")}), "linux")
	if err != nil {
		t.Fatal(err)
	}
	if real.Runtime != link.Runtime {
		t.Errorf("runtime folder before the home is made = %s and %s", real.Runtime, link.Runtime)
	}
	if err := os.Mkdir(real.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	after, err := Resolve(env(map[string]string{"TOWER_HOME": real.Data}), "linux")
	if err != nil {
		t.Fatal(err)
	}
	if after.Runtime != real.Runtime {
		t.Errorf("runtime folder moved from %s to %s when the home was made", real.Runtime, after.Runtime)
	}
}

func TestForHook(t *testing.T) {
	h := Home{Config: "/c", Data: "/a b/data"}
	got := ForHook(h.HookBinary())
	if diff := cmp.Diff(Home{Data: "/a b/data"}, got); diff != "" {
		t.Errorf("ForHook(%s): %s", h.HookBinary(), diff)
	}
	if got.Inbox() != h.Inbox() {
		t.Errorf("the hook's inbox is %s, the tower's %s", got.Inbox(), h.Inbox())
	}
}

func TestMake(t *testing.T) {
	dir := t.TempDir()
	h := Home{Config: filepath.Join(dir, "config", "tower"), Data: filepath.Join(dir, "share", "tower"), Runtime: filepath.Join(dir, "run")}
	if err := (Home{Config: h.Config, Data: h.Data}).Make(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.Runtime); err == nil {
		t.Error("a home without a runtime folder made one")
	}
	for range 2 { // the second time everything is there
		if err := h.Make(); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{h.Config, h.Data, h.Inbox(), h.Processed(), h.Bad(), h.Launches(), h.Prepared(), h.Bin(), h.Window(), h.Backup(), h.Rules(), h.Runtime} {
		info, err := os.Stat(d)
		if err != nil {
			t.Error(err)
			continue
		}
		if info.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s has mode %v", d, info.Mode())
		}
	}
}

func TestMakeRefusesForeignRuntime(t *testing.T) {
	for _, c := range []struct {
		name, want string
		plant      func(t *testing.T, dir string)
	}{
		{"link", "is a link", func(t *testing.T, dir string) {
			if err := os.Symlink(t.TempDir(), dir); err != nil {
				t.Fatal(err)
			}
		}},
		{"file", "is not a folder", func(t *testing.T, dir string) {
			if err := os.WriteFile(dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"open to others", "open to other users", func(t *testing.T, dir string) {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{"of another user", "belongs to another user", func(t *testing.T, dir string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a folder away")
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(dir, 12345, 12345); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			h := Home{Config: filepath.Join(dir, "c"), Data: filepath.Join(dir, "d"), Runtime: filepath.Join(dir, "run")}
			c.plant(t, h.Runtime)
			err := h.Make()
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), h.Runtime) {
				t.Errorf("Make = %v, want an error that names the folder and says %q", err, c.want)
			}
		})
	}
}
