package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/adapters/adaptertest"
	"tower/core"
)

const testExe = "/home/dev/npm/node_modules/@anthropic-ai/claude-code/bin/claude.exe"

// testInfo are the facts of the tests, shaped like those of agents.toml.
func testInfo(root string) core.AgentInfo {
	return core.AgentInfo{
		Agent: Name, Display: "Claude Code", Code: "CC", Tag: "claude", Install: "npm", Root: root,
		Exe: []string{"*/claude", "*/claude.exe"}, HookFile: "settings.json", Transcripts: []string{"projects"}, Closeout: "closeout",
	}
}

// register lays a recorded registry file under its pid and returns the process it speaks of.
func register(t testing.TB, root, sample string) adaptertest.RecordedProc {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/registry", sample+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	write(t, root, r.PID, b)
	start, err := strconv.ParseUint(r.Start, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return adaptertest.RecordedProc{Proc: core.Proc{PID: r.PID, PPID: 2, Start: start, TTY: 34816}, Exe: testExe, Args: []string{"claude"}}
}

func write(t testing.TB, root string, pid int, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(root, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "sessions", strconv.Itoa(pid)+".json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEvidenceOfEveryState(t *testing.T) {
	type claim struct {
		Pill   core.Pill
		Wait   core.Wait
		Reason string
		Class  core.Class
		Name   string
		At     core.Instant
		Ends   bool // by a signal
	}
	for sample, want := range map[string]claim{
		"interactive-cli-nostatus":                  {core.PillStarting, "", "", core.ClassMain, "", 1796059413607, true},
		"interactive-cli-idle":                      {core.PillIdle, "", "", core.ClassMain, "", 1796059175159, true},
		"interactive-cli-busy":                      {core.PillWorking, "", "", core.ClassMain, "", 1796059200303, true},
		"interactive-cli-shell":                     {core.PillShell, "", "", core.ClassMain, "my nice name", 1796059380439, true},
		"interactive-cli-waiting-permission_prompt": {core.PillWaiting, core.WaitPermission, "permission prompt", core.ClassMain, "", 1796059200670, true},
		"interactive-cli-waiting-dialog_open":       {core.PillWaiting, core.WaitDialog, "dialog open", core.ClassMain, "", 1796059272349, true},
		"interactive-sdk-cli-nostatus":              {"", "", "", core.ClassHeadless, "", 1796059936623, true},
		"bg-cli-busy":                               {core.PillWorking, "", "", core.ClassMain, "bgtask", 1796060031936, false},
	} {
		t.Run(sample, func(t *testing.T) {
			a := New(testInfo(t.TempDir()))
			p := register(t, a.info.Root, sample)
			seen, err := a.Evidence(t.Context(), adaptertest.NewTable("boot", p))
			if err != nil || len(seen) != 1 {
				t.Fatalf("Evidence = %v, %v, want one session", seen, err)
			}
			s := seen[0]
			got := claim{s.Pill, s.Wait, s.Reason, s.Class, s.Name, s.At, len(s.Signal) > 0}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			proc := core.Process{Boot: "boot", PID: p.PID, Start: p.Start}
			if s.Proc != proc || s.Grade != core.GradeRecord || !s.Final || s.CWD != "/home/dev/proj" || s.Version != "2.1.197" ||
				s.TTY != 34816 || s.Shared || !cmp.Equal(s.MustGo, []core.Process{proc}) || want.Ends == (s.Caution != "") {
				t.Errorf("sighting = %+v", s)
			}
		})
	}
}

func TestEvidenceOfOddRecords(t *testing.T) {
	p := adaptertest.RecordedProc{Proc: core.Proc{PID: 41, Start: 777}, Exe: testExe, Args: []string{"claude"}}
	good := map[string]any{"pid": 41, "sessionId": "s", "procStart": "777", "kind": "interactive", "entrypoint": "cli", "status": "idle"}
	for name, c := range map[string]struct {
		change map[string]any
		want   core.Pill // "" = no session
		raw    string
	}{
		"as it should be":         {nil, core.PillIdle, "idle"},
		"a state nobody knows":    {map[string]any{"status": "pondering"}, core.PillOther, "pondering"},
		"a kind nobody knows":     {map[string]any{"kind": "novel"}, core.PillIdle, "idle"},
		"a field of another type": {map[string]any{"startedAt": "yesterday", "name": 7}, core.PillIdle, "idle"},
		"the daemon":              {map[string]any{"kind": "daemon"}, "", ""},
		"a daemon's worker":       {map[string]any{"kind": "daemon-worker"}, "", ""},
		"another start":           {map[string]any{"procStart": "778"}, "", ""},
		"a start that is longer":  {map[string]any{"procStart": "0777"}, "", ""},
		"no start":                {map[string]any{"procStart": ""}, "", ""},
		"another pid":             {map[string]any{"pid": 42}, "", ""},
		"no session":              {map[string]any{"sessionId": ""}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := New(testInfo(t.TempDir()))
			r := map[string]any{}
			for _, m := range []map[string]any{good, c.change} {
				for k, v := range m {
					r[k] = v
				}
			}
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			write(t, a.info.Root, 41, b)
			seen, err := a.Evidence(t.Context(), adaptertest.NewTable("boot", p))
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.want == "" && len(seen) != 0:
				t.Errorf("Evidence = %+v, want nothing", seen)
			case c.want != "" && (len(seen) != 1 || seen[0].Pill != c.want || seen[0].Raw != c.raw):
				t.Errorf("Evidence = %+v, want one %s", seen, c.want)
			}
		})
	}
}

// TestEvidenceReadsNoMoreThanNeeded: nothing is opened for a process that is not there, the folder
// may hold anything, and a file that proves nothing stays.
func TestEvidenceReadsNoMoreThanNeeded(t *testing.T) {
	a := New(testInfo(t.TempDir()))
	p := register(t, a.info.Root, "interactive-cli-idle")
	dir := filepath.Join(a.info.Root, "sessions")
	write(t, a.info.Root, 999, []byte(`{"pid":999}`))
	for _, name := range []string{"x.json", "16380.json.tmp", "16380", "-1.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "77.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	folder := adaptertest.RecordedProc{Proc: core.Proc{PID: 77, Start: 1}, Exe: testExe}
	seen, err := a.Evidence(t.Context(), adaptertest.NewTable("boot", p, folder))
	if err != nil || len(seen) != 1 {
		t.Fatalf("Evidence = %v, %v, want one session", seen, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "999.json")); err != nil {
		t.Errorf("a record of a dead process was touched: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if seen, err := a.Evidence(t.Context(), adaptertest.NewTable("boot", p)); err == nil {
		t.Errorf("Evidence from a registry that is no folder = %v, want an error", seen)
	}
}

func TestSameStart(t *testing.T) {
	for _, c := range []struct {
		raw      uint64
		recorded string
		want     bool
	}{
		{56714, "56714", true},
		{56714, "56715", false},
		{56714, " 56714", false},
		{0, "0", false},
		{1_796_059_174_123_456, "Mon Nov 30 17:19:34 2026", true},
		{1_796_059_175_123_456, "Mon Nov 30 17:19:34 2026", false},
		{1, "Thu Jan  1 00:00:00 1970", false},
	} {
		if got := sameStart(c.raw, c.recorded); got != c.want {
			t.Errorf("sameStart(%d, %q) = %v, want %v", c.raw, c.recorded, got, c.want)
		}
	}
}

// fifty lays out a registry of fifty live sessions.
func fifty(t testing.TB, root string) *adaptertest.RecordedTable {
	table := adaptertest.NewTable("boot")
	b, err := os.ReadFile("testdata/registry/interactive-cli-busy.json")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		pid := 20000 + i
		write(t, root, pid, []byte(strings.Replace(string(b), `"pid": 16380`, fmt.Sprintf(`"pid": %d`, pid), 1)))
		table.Put(adaptertest.RecordedProc{Proc: core.Proc{PID: pid, Start: 56714}, Exe: testExe})
	}
	return table
}

func BenchmarkEvidence(b *testing.B) {
	a := New(testInfo(b.TempDir()))
	table := fifty(b, a.info.Root)
	for b.Loop() {
		if seen, err := a.Evidence(b.Context(), table); err != nil || len(seen) != 50 {
			b.Fatalf("Evidence saw %d, %v", len(seen), err)
		}
	}
}

func FuzzReadRecord(f *testing.F) {
	files, _ := filepath.Glob("testdata/registry/*.json")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		a := New(testInfo(t.TempDir()))
		write(t, a.info.Root, 16380, b)
		p := adaptertest.RecordedProc{Proc: core.Proc{PID: 16380, Start: 56714}, Exe: testExe}
		seen, err := a.Evidence(t.Context(), adaptertest.NewTable("boot", p))
		if err != nil || len(seen) > 1 || len(seen) == 1 && (seen[0].Native == "" || seen[0].Proc.PID != 16380) {
			t.Errorf("Evidence = %+v, %v", seen, err)
		}
	})
}
