package claude

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

func TestHolds(t *testing.T) {
	const other = "22222222-0000-4000-8000-000000000002"
	in := func(name string, lines ...string) string {
		path := filepath.Join(t.TempDir(), name+suffix)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := fields{"sessionId": other}
	filler := strings.Repeat(user(5, strings.Repeat("x", 1000), foreign)+"\n", 2*proofSize/1000)
	gone := filepath.Join(t.TempDir(), session+suffix)
	folder := t.TempDir()
	for name, c := range map[string]struct {
		s    core.Session
		want string // what the refusal holds; "" = it holds
	}{
		"a session":            {core.Session{Native: session, Transcript: in(session, user(1, "x"))}, ""},
		"a resumed copy":       {core.Session{Native: session, Transcript: in(session, filler, user(9, "own"))}, ""},
		"one line, enormous":   {core.Session{Native: session, Transcript: in(session, `{"sessionId":"`+session+`","message":"`+strings.Repeat("x", 3*proofSize)+`"}`)}, ""},
		"no id":                {core.Session{Native: "--help", Transcript: gone}, "Its id is not one that Claude Code gives."},
		"nothing recorded":     {core.Session{Native: session}, "No transcript of it is recorded, and Claude Code keeps none for its folder."},
		"gone":                 {core.Session{Native: session, Transcript: gone}, "Its transcript " + gone + " is gone."},
		"a folder":             {core.Session{Native: session, Transcript: folder}, "is gone."},
		"the name of another":  {core.Session{Native: session, Transcript: in(other, user(1, "x"))}, "bears the id of another session."},
		"the lines of another": {core.Session{Native: session, Transcript: in(session, user(1, "x", foreign), user(2, session, foreign))}, "holds no line of this session."},
		"nothing in it":        {core.Session{Native: session, Transcript: in(session)}, "holds no line of this session."},
	} {
		t.Run(name, func(t *testing.T) {
			err := New(testInfo(t.TempDir())).Holds(t.Context(), c.s)
			var refusal *core.Refusal
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (!errors.As(err, &refusal) || refusal.What != "Not resumed." || !strings.Contains(refusal.Why, c.want)):
				t.Errorf("%v, want a refusal that says %q", err, c.want)
			}
		})
	}
}

// TestHoldsUnreadable shows that a transcript nobody may read is refused, with the cause.
func TestHoldsUnreadable(t *testing.T) {
	path := writeLines(t, user(1, "x"))
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(path); err == nil {
		f.Close()
		t.Skip("this user may read everything")
	}
	err := New(testInfo(t.TempDir())).Holds(t.Context(), core.Session{Native: session, Transcript: path})
	if err == nil || !strings.Contains(err.Error(), "cannot be read: permission denied.") {
		t.Errorf("%v, want that it cannot be read", err)
	}
}

func TestHoldsIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := core.Session{Native: session, Transcript: writeLines(t, user(1, "x"))}
	if err := New(testInfo(t.TempDir())).Holds(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
}

// TestTranscriptPlace finds a transcript that nobody recorded where the agent keeps it.
func TestTranscriptPlace(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	a := New(testInfo(root))
	a.home = home
	long := filepath.Join(home, strings.Repeat("über/", 50))
	for cwd, folder := range map[string]string{
		filepath.Join(home, "my pröj.x"): dashes(filepath.Join(home, "my pröj.x")),
		long:                             dashes(long)[:200] + "-1x2y3z",
	} {
		if err := os.MkdirAll(cwd, 0o700); err != nil {
			t.Fatal(err)
		}
		s := core.Session{Native: session, CWD: cwd}
		if got := a.transcript(s); got != "" {
			t.Errorf("found %s where none is", got)
		}
		want := filepath.Join(root, "projects", folder, session+suffix)
		put(t, want)
		if got := a.transcript(s); got != want {
			t.Errorf("transcript of a session in %s = %q, want %q", cwd, got, want)
		}
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(cwd, link); err == nil {
			if got := a.transcript(core.Session{Native: session, CWD: link}); got != want {
				t.Errorf("through a link %q, want %q", got, want)
			}
		}
		if err := os.Remove(want); err != nil {
			t.Fatal(err)
		}
	}
}

// dashes is the rule of the folder's name, told another way.
func dashes(dir string) string {
	var b strings.Builder
	for _, r := range filepath.Clean(dir) {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", r) {
			b.WriteRune(r)
		} else {
			b.WriteString("-")
		}
	}
	return b.String()
}

func TestFolderName(t *testing.T) {
	for dir, want := range map[string]string{"/home/dev/my proj.x": "-home-dev-my-proj-x", "/ï": "--", "/😀": "---", "": ""} {
		if got, whole := folderName(dir); got != want || !whole {
			t.Errorf("folderName(%q) = %q, %v, want %q", dir, got, whole, want)
		}
	}
}

func TestShort(t *testing.T) {
	a := New(testInfo("/r"))
	a.home = filepath.FromSlash("/home/dev")
	for path, want := range map[string]string{"/home/dev/x": "~/x", "/home/devil/x": "/home/devil/x", "/home/dev": "/home/dev"} {
		if got := a.short(filepath.FromSlash(path)); got != filepath.FromSlash(want) {
			t.Errorf("short(%q) = %q, want %q", path, got, want)
		}
	}
}
