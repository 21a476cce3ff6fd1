package launch

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/core/proc"
)

func TestWriteRead(t *testing.T) {
	p := newPlace(t)
	mask := 0o022
	o := p.order("0b7c-A", "claude", "--", "PROMPT", "-x", "", "日本 \"`$(id)`\n")
	o.PromptAt, o.Set, o.Unset, o.NullIn, o.Umask = 2, map[string]string{"A": "b=c"}, []string{"CLAUDE*"}, true, &mask
	prompt := "line\n‘quotes’ 👩‍👩‍👧 \x1b[201~ \xff"
	path := write(t, p, o, prompt)
	if want := filepath.Join(p.launches, "0b7c-A.json"); path != want {
		t.Errorf("Write = %q, want %q", path, want)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	o.V, o.Boot, o.Prompt = Version, proc.Boot(), filepath.Join(p.launches, "0b7c-A.prompt")
	if d := cmp.Diff(o, got); d != "" {
		t.Errorf("Read is not what was written (-want +got):\n%s", d)
	}
	if text, err := os.ReadFile(got.Prompt); err != nil || string(text) != prompt {
		t.Errorf("the prompt is %q, %v", text, err)
	}
	for path, mode := range map[string]fs.FileMode{p.launches: 0o700, path: 0o600, got.Prompt: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode of %s = %v, %v, want %v", path, info.Mode(), err, mode)
		}
	}
	entries, _ := os.ReadDir(p.launches)
	for _, e := range entries {
		if !Ours(e.Name()) {
			t.Errorf("Ours(%q) = false", e.Name())
		}
	}

	// The same token again is refused and leaves the first as it is.
	if _, err := Write(p.launches, o, "other"); err == nil {
		t.Error("a token was used twice")
	}
	if text, _ := os.ReadFile(got.Prompt); string(text) != prompt {
		t.Errorf("the second order changed the first one's prompt to %q", text)
	}
}

// TestWriteLeavesNothing: when the order cannot be written, the prompt is gone, too.
func TestWriteLeavesNothing(t *testing.T) {
	p := newPlace(t)
	if err := os.MkdirAll(filepath.Join(p.launches, "t.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	o := p.order("t", "a", "PROMPT")
	o.PromptAt = 1
	if _, err := Write(p.launches, o, "x"); err == nil {
		t.Fatal("Write wrote over a folder")
	}
	if _, err := os.Stat(filepath.Join(p.launches, "t.prompt")); err == nil {
		t.Error("the prompt was left behind")
	}
}

func TestWriteRefuses(t *testing.T) {
	mask := 0o1000
	for name, c := range map[string]struct {
		change func(*Order)
		prompt string
		want   string
	}{
		"no token":        {func(o *Order) { o.Token = "" }, "", "token"},
		"token as path":   {func(o *Order) { o.Token = "../x" }, "", "token"},
		"token as option": {func(o *Order) { o.Token = "-x" }, "", "token"},
		"long token":      {func(o *Order) { o.Token = strings.Repeat("x", 65) }, "", "token"},
		"no program":      {func(o *Order) { o.Argv = nil }, "", "no program"},
		"empty program":   {func(o *Order) { o.Argv[0] = "" }, "", "no program"},
		"prompt nowhere":  {func(o *Order) {}, "x", "no place"},
		"no prompt":       {func(o *Order) { o.PromptAt = 1 }, "", "no file"},
		"prompt outside":  {func(o *Order) { o.PromptAt = 2 }, "x", "argument 2 of 2"},
		"prompt program":  {func(o *Order) { o.PromptAt = 0 }, "x", "argument 0 of 2"},
		"NUL in prompt":   {func(o *Order) { o.PromptAt = 1 }, "a\x00b", "NUL"},
		"NUL in argument": {func(o *Order) { o.Argv[1] = "a\x00b" }, "", "NUL"},
		"bytes":           {func(o *Order) { o.Argv[1] = "a\xff" }, "", "UTF-8"},
		"bytes in folder": {func(o *Order) { o.Dir += "/\xff" }, "", "UTF-8"},
		"relative folder": {func(o *Order) { o.Dir = "work" }, "", "full path"},
		"home folder":     {func(o *Order) { o.Dir = "~/work" }, "", "full path"},
		"no inbox":        {func(o *Order) { o.Inbox = "" }, "", "full path"},
		"no socket":       {func(o *Order) { o.Socket = "" }, "", "full path"},
		"odd variable":    {func(o *Order) { o.Set = map[string]string{"A=B": "c"} }, "", "variable"},
		"umask":           {func(o *Order) { o.Umask = &mask }, "", "umask"},
		"too long":        {func(o *Order) { o.Argv[1] = strings.Repeat("x", maxOrder) }, "", "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			o := p.order("t", "a", "b")
			c.change(&o)
			if _, err := Write(p.launches, o, c.prompt); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Write = %v, want something about %q", err, c.want)
			}
			if entries, _ := os.ReadDir(p.launches); len(entries) > 0 {
				t.Errorf("it left %v", entries)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	p := newPlace(t)
	path := write(t, p, p.order("good", "a"), "")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file string
		text string
		want string
	}{
		"not there":     {"", "", "no such file"},
		"empty":         {"good.json", "", "not an order"},
		"other version": {"good.json", strings.Replace(string(good), `"v":1`, `"v":2`, 1), "version 2"},
		"unknown field": {"good.json", strings.Replace(string(good), `"v":1`, `"v":1,"shell":"x"`, 1), "not an order"},
		"two orders":    {"good.json", string(good) + string(good), "behind"},
		"other token":   {"other.json", string(good), "token"},
		"other ending":  {"good.txt", string(good), "launch file"},
		"other prompt":  {"good.json", strings.Replace(strings.Replace(string(good), `"prompt":""`, `"prompt":"/etc/passwd"`, 1), `"prompt_at":-1,`, `"prompt_at":1,`, 1), "argument"},
		"endless":       {"good.json", strings.Repeat(" ", maxOrder+1), "more than"},
	} {
		dir := filepath.Join(t.TempDir(), "launches")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "absent.json")
		if c.file != "" {
			path = filepath.Join(dir, c.file)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Read = %v, want something about %q", name, err, c.want)
		}
	}
	if _, err := Read("good.json"); err == nil {
		t.Error("Read takes a path that hangs on the folder it is called in")
	}
	elsewhere := strings.Replace(strings.Replace(string(good), `"prompt":""`, `"prompt":"/etc/passwd"`, 1), `"argv":["a"],"prompt_at":-1`, `"argv":["a","b"],"prompt_at":1`, 1)
	if err := os.WriteFile(path, []byte(elsewhere), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "elsewhere") {
		t.Errorf("Read with a prompt elsewhere = %v, want a refusal", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"v":1,"token":"t","agent":"a","argv":["x"],"prompt_at":-1,"cwd":"/","socket":"/s","inbox":"/i"}`))
	f.Add([]byte(`{"v":1,"token":"t","argv":[""]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "t.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := Read(path)
		if err == nil && (o.Token != "t" || len(o.Argv) == 0 || o.PromptAt >= len(o.Argv)) {
			t.Errorf("Read took %q as %+v", text, o)
		}
	})
}

func TestOurs(t *testing.T) {
	for name, want := range map[string]bool{
		"0b7c.json": true, "0b7c.prompt": true, "0b7c.started": true, "0b7c.txt": false, ".json": false,
		"a.b.json": false, "-a.json": false, "a/b.json": false, "json": false,
	} {
		if got := Ours(name); got != want {
			t.Errorf("Ours(%q) = %v, want %v", name, got, want)
		}
	}
}
