package claude

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/adapters/adaptertest"
	"tower/core"
)

// TestBackground takes what the registry says of a background session and asks how it is stopped and
// shown.
func TestBackground(t *testing.T) {
	root := t.TempDir()
	table := adaptertest.NewTable("boot", register(t, root, "bg-cli-idle"), register(t, root, "interactive-cli-idle"))
	a := New(testInfo(root))
	a.home = filepath.Dir(root)
	seen, err := a.Evidence(t.Context(), table)
	if err != nil || len(seen) != 2 {
		t.Fatalf("Evidence = %v, %v, want two", seen, err)
	}
	var bg, window core.Sighting
	for _, x := range seen {
		if x.NoEnd != "" {
			t.Errorf("%s cannot be ended: %s", x.Native, x.NoEnd)
		}
		if len(x.Signal) == 0 {
			bg = x
		} else {
			window = x
		}
	}
	want := core.Launch{
		Argv: []string{"claude", "stop", bg.Native[:8]}, Dir: root, NullIn: true,
		Set: map[string]string{"CLAUDE_CONFIG_DIR": root}, Unset: []string{"CLAUDE*", "CLAUDECODE", "AI_AGENT"},
	}
	got, ok := a.Stop(core.Session{Native: bg.Native}, bg)
	if d := cmp.Diff(want, got); d != "" || !ok {
		t.Errorf("Stop: %v %s", ok, d)
	}
	want.Argv[1], want.NullIn = "attach", false
	got, ok = a.Attach(core.Session{Native: bg.Native}, bg)
	if d := cmp.Diff(want, got); d != "" || !ok {
		t.Errorf("Attach: %v %s", ok, d)
	}
	for name, c := range map[string]struct {
		s core.Session
		x core.Sighting
	}{
		"a session in a window": {core.Session{Native: window.Native}, window},
		"another session":       {core.Session{Native: window.Native}, bg},
		"no sighting":           {core.Session{Native: bg.Native}, core.Sighting{}},
	} {
		if l, ok := a.Stop(c.s, c.x); ok {
			t.Errorf("Stop of %s = %q", name, l.Argv)
		}
		if l, ok := a.Attach(c.s, c.x); ok {
			t.Errorf("Attach of %s = %q", name, l.Argv)
		}
	}
}

// TestJob shows which id names a background session to the agent: /clear gives the session another id
// and its job none.
func TestJob(t *testing.T) {
	root := t.TempDir()
	a := New(testInfo(root))
	x := core.Sighting{Native: session, Proc: core.Process{Boot: "b", PID: 7, Start: 99}, Caution: backgroundCaution}
	record := func(pid int, start, id, job string) string {
		return `{"pid":` + strconv.Itoa(pid) + `,"procStart":"` + start + `","sessionId":"` + id + `","kind":"bg","jobId":"` + job + `"}`
	}
	for name, c := range map[string]struct{ record, want string }{
		"the record's":         {record(7, "99", session, "722f5eb6"), "722f5eb6"},
		"no record":            {"", session[:8]},
		"none in it":           {record(7, "99", session, ""), session[:8]},
		"an option":            {record(7, "99", session, "--force1"), session[:8]},
		"of another session":   {record(7, "99", preset, "722f5eb6"), session[:8]},
		"of an earlier pid":    {record(7, "98", session, "722f5eb6"), session[:8]},
		"a path":               {record(7, "99", session, "../../ab"), session[:8]},
		"a half-written file":  {`{"pid":7,"job`, session[:8]},
		"a job id of a letter": {record(7, "99", session, "a"), session[:8]},
	} {
		file := filepath.Join(root, "sessions", "7.json")
		_ = os.Remove(file)
		if c.record != "" {
			lay(t, file, c.record)
		}
		l, ok := a.Stop(core.Session{Native: session}, x)
		if !ok || l.Argv[2] != c.want {
			t.Errorf("%s: %q, want %s", name, l.Argv, c.want)
		}
	}
	x.Native = "--help"
	if l, ok := a.Stop(core.Session{Native: "--help"}, x); ok {
		t.Errorf("Stop of a session without an id = %q", l.Argv)
	}
}
