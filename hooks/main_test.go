package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tower/core"
	"tower/core/home"
	"tower/core/inbox"

	"github.com/google/go-cmp/cmp"
)

// hookBuilt is the program as it is shipped, without cgo; built once for all tests.
var hookBuilt = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tower-hook-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "tower-hook")
	return bin, build(bin, ".")
})

func build(bin, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(envDisk); dir != "" {
		os.Exit(onDisk(dir))
	}
	code := m.Run()
	if bin, err := hookBuilt(); err == nil {
		os.RemoveAll(filepath.Dir(bin))
	}
	os.Exit(code)
}

// installed returns a fresh home with the hook in it.
func installed(t *testing.T) home.Home {
	t.Helper()
	return installedIn(t, filepath.Join(t.TempDir(), "a home ö"))
}

func installedIn(t *testing.T, data string) home.Home {
	t.Helper()
	bin, err := hookBuilt()
	if err != nil {
		t.Fatal(err)
	}
	h := home.Home{Data: data}
	if err := os.MkdirAll(h.Bin(), 0o700); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	put(t, h.HookBinary(), string(program))
	if err := os.Chmod(h.HookBinary(), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// hook is the command of a call. Its environment is empty but for what the test sets.
func hook(h home.Home, args ...string) *exec.Cmd {
	cmd := exec.Command(h.HookBinary(), args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	cmd.Dir = h.Data
	return cmd
}

// inputFile is a file with what the hook is to read: there at once, whatever else the machine does.
func inputFile(t *testing.T, content string) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdin")
	put(t, path, content)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// run calls the hook, asserts that it exits with 0, and returns what it printed.
func run(t *testing.T, cmd *exec.Cmd, stdin string) string {
	t.Helper()
	cmd.Stdin = inputFile(t, stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Errorf("tower-hook: %v", err)
	}
	if errs.Len() > 0 {
		t.Errorf("tower-hook wrote to standard error: %s", errs.String())
	}
	return out.String()
}

func events(t *testing.T, h home.Home) []core.Envelope {
	t.Helper()
	box := inbox.New(h.Inbox(), h.Processed(), h.Bad(), time.Now)
	batch, err := box.Drain()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(batch.Bad) + len(batch.Unreadable) + batch.Later; n > 0 {
		t.Errorf("drain found broken files: %+v", batch)
	}
	var list []core.Envelope
	for _, it := range batch.Items {
		list = append(list, it.Envelope)
		if err := box.Archive(it); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func one(t *testing.T, h home.Home) core.Envelope {
	t.Helper()
	list := events(t, h)
	if len(list) != 1 {
		t.Fatalf("%d events, want one; log: %s", len(list), logged(t, h))
	}
	return list[0]
}

func logged(t *testing.T, h home.Home) string {
	t.Helper()
	b, err := os.ReadFile(h.HookLog())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func value[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func TestCall(t *testing.T) {
	h := installed(t)
	payload := `{ "session_id": "s-1", "transcript_path":"/t/x.jsonl", "cwd":"/work here", "source": "startup", "extra": {"a":[1,2,{"}":"\"]"}]} }`
	cmd := hook(h, "claude", "SessionStart")
	cmd.Env = append(cmd.Env, "TOWER_LAUNCH=token", "TOWER_NAME=my name", "CLAUDE_CODE_ENTRYPOINT=cli", "CODEX_ENTRYPOINT=other")
	before := core.InstantOf(time.Now())
	if out := run(t, cmd, payload+"\n{\"another\":1}"); out != "" {
		t.Errorf("printed %q", out)
	}
	e := one(t, h)
	if e.TS < before || e.TS > core.InstantOf(time.Now()) {
		t.Errorf("ts = %v", e.TS)
	}
	if string(e.Payload) != payload {
		t.Errorf("payload = %s", e.Payload)
	}
	if len(e.Ancestors) == 0 || e.Ancestors[0].PID != os.Getpid() || e.Ancestors[0].Created == 0 {
		t.Errorf("ancestors = %+v, want this process first", e.Ancestors)
	}
	if e.HookMS == nil || *e.HookMS <= 0 || *e.HookMS > 250 {
		t.Errorf("hook_ms = %v", value(e.HookMS))
	}
	got := map[string]any{"agent": e.Agent, "event": e.Event, "v": e.V, "asm_id": value(e.ASMID), "id": value(e.AgentSessionID), "transcript": value(e.TranscriptPath),
		"cwd": value(e.CWD), "source": value(e.Source), "token": value(e.LaunchToken), "name": value(e.SessionName), "entrypoint": value(e.Entrypoint),
		"boot": e.BootID != nil, "pid": value(e.AgentPID), "start": value(e.AgentProcStart), "nested": value(e.Nested), "shared": value(e.PIDShared)}
	want := map[string]any{"agent": core.Agent("claude"), "event": "SessionStart", "v": 1, "asm_id": core.NewSessionID("claude", "s-1"), "id": "s-1", "transcript": "/t/x.jsonl",
		"cwd": "/work here", "source": "startup", "token": "token", "name": "my name", "entrypoint": "cli",
		"boot": true, "pid": nil, "start": nil, "nested": nil, "shared": nil} // no prepared list of agents
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	line := logged(t, h)
	if strings.Count(line, "\n") != 1 || !strings.Contains(line, " claude SessionStart "+e.EventID+" ") || !strings.Contains(line, "written") {
		t.Errorf("log = %q", line)
	}
}

func TestHints(t *testing.T) {
	h := installed(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal([]core.AgentInfo{{Agent: "mine", Exe: []string{self}}, {Agent: "other", Exe: []string{"*/no-such-program"}}})
	if err != nil {
		t.Fatal(err)
	}
	put(t, h.PreparedAgents(), string(list))
	run(t, hook(h, "mine", "Stop"), `{"session_id":"x"}`)
	e := one(t, h)
	if e.AgentPID == nil || *e.AgentPID != os.Getpid() || e.AgentProcStart == nil || *e.AgentProcStart != e.Ancestors[0].Created {
		t.Errorf("agent_pid = %v, start = %v", value(e.AgentPID), value(e.AgentProcStart))
	}
	if e.Nested == nil || *e.Nested || e.PIDShared == nil || *e.PIDShared {
		t.Errorf("nested = %v, pid_shared = %v, want false and false", value(e.Nested), value(e.PIDShared))
	}
	run(t, hook(h, "other", "Stop"), `{"session_id":"x"}`)
	if e := one(t, h); e.AgentPID != nil || e.Nested != nil || e.PIDShared != nil {
		t.Errorf("hints of an agent that is not above: %v %v %v", value(e.AgentPID), value(e.Nested), value(e.PIDShared))
	}
	put(t, h.PreparedAgents(), `[{"agent":`)
	run(t, hook(h, "mine", "Stop"), `{"session_id":"x"}`)
	if e := one(t, h); e.AgentPID != nil || len(e.Ancestors) == 0 {
		t.Errorf("with a torn list of agents: agent_pid = %v, %d ancestors", value(e.AgentPID), len(e.Ancestors))
	}
}

func TestOddArguments(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		event string // "" = none is written
	}{
		{"none", nil, ""},
		{"agent only", []string{"claude"}, "FromPayload"},
		{"empty event", []string{"claude", ""}, "FromPayload"},
		{"event with blanks", []string{"claude", "a b"}, "FromPayload"},
		{"more than two", []string{"claude", "Stop", "x", "--help"}, "Stop"},
		{"agent is a path", []string{"../../etc", "Stop"}, ""},
		{"agent is dots", []string{"..", "Stop"}, ""},
		{"line break", []string{"cla\nude", "Stop"}, ""},
		{"long", []string{strings.Repeat("a", 1000), "Stop"}, ""},
		{"no text", []string{"\xff\xfe", "Stop"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := installed(t)
			if out := run(t, hook(h, c.args...), `{"hook_event_name":"FromPayload"}`); out != "" {
				t.Errorf("printed %q", out)
			}
			got := ""
			if list := events(t, h); len(list) > 0 {
				got = list[0].Event
			}
			if got != c.event {
				t.Errorf("event = %q, want %q", got, c.event)
			}
			log := logged(t, h)
			if strings.Count(log, "\n") != 1 || c.event == "" && !strings.Contains(log, "failed: usage") {
				t.Errorf("log = %q", log)
			}
		})
	}
}

func TestHomeIsWhereTheProgramLies(t *testing.T) {
	h := installed(t)
	elsewhere := t.TempDir()
	link := filepath.Join(t.TempDir(), "link-to-hook")
	if err := os.Symlink(h.HookBinary(), link); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{h.HookBinary(), link} {
		cmd := hook(h, "claude", "Stop")
		cmd.Path = program
		cmd.Dir = elsewhere
		for _, name := range []string{"HOME", "TOWER_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "TMPDIR", "USERPROFILE", "LOCALAPPDATA"} {
			cmd.Env = append(cmd.Env, name+"="+elsewhere)
		}
		run(t, cmd, `{"session_id":"s"}`)
		one(t, h)
		if entries, _ := os.ReadDir(elsewhere); len(entries) > 0 {
			t.Errorf("%s left %v in a folder the environment named", program, entries)
		}
	}
}

func TestConcurrent(t *testing.T) {
	const calls = 50
	h := installed(t)
	var wg sync.WaitGroup
	for i := range calls {
		stdin := inputFile(t, fmt.Sprintf(`{"session_id":"s%d"}`, i))
		wg.Go(func() {
			cmd := hook(h, "claude", "UserPromptSubmit")
			cmd.Stdin = stdin
			if err := cmd.Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, e := range events(t, h) {
		seen[fmt.Sprint(value(e.AgentSessionID))] = true
	}
	if len(seen) != calls {
		t.Errorf("%d of %d events", len(seen), calls)
	}
	lines := strings.Split(strings.TrimSuffix(logged(t, h), "\n"), "\n")
	if len(lines) != calls {
		t.Errorf("%d of %d log lines", len(lines), calls)
	}
	for _, line := range lines {
		if !strings.Contains(line, " claude UserPromptSubmit ") || !strings.HasSuffix(line, "written") {
			t.Errorf("log line %q is not whole", line)
		}
	}
}

// TestLateInput is a machine so busy that the agent comes to write only when the hook's time would be
// over: the event is whole all the same.
func TestLateInput(t *testing.T) {
	h := installed(t)
	cmd := hook(h, "claude", "Stop")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(450 * time.Millisecond) // the lateness itself is what is tested
	if _, err := in.Write([]byte(`{"session_id":"late"}`)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil { // the pipe is still open
		t.Fatal(err)
	}
	if e := one(t, h); value(e.AgentSessionID) != "late" || len(e.Ancestors) == 0 {
		t.Errorf("session %v, %d ancestors", value(e.AgentSessionID), len(e.Ancestors))
	}
}

// TestNoInput ends by itself, and takes the session's id where the agent leaves it as well.
func TestNoInput(t *testing.T) {
	h := installed(t)
	cmd := hook(h, "claude", "Stop")
	cmd.Env = append(cmd.Env, "CLAUDE_CODE_SESSION_ID=from-env", "CODEX_SESSION_ID=another")
	if _, err := cmd.StdinPipe(); err != nil { // never written to, never closed
		t.Fatal(err)
	}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if e := one(t, h); value(e.AgentSessionID) != "from-env" || len(e.Payload) != 0 {
		t.Errorf("session %v, payload %s", value(e.AgentSessionID), e.Payload)
	}
}
