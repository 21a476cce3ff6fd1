package codex

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

// recorded wraps a recorded payload as tower-hook does.
func recorded(t *testing.T, file string) core.Envelope {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/hooks", file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Stdin  json.RawMessage `json:"stdin"`
		Parent string          `json:"parent_argv"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	args := strings.Split(r.Parent, " ")
	event, _, _ := strings.Cut(file, "-")
	return core.Envelope{
		V: 1, EventID: "e1", Agent: Name, Event: event, TS: 1796059200000, Payload: r.Stdin,
		Ancestors: []core.Ancestor{{PID: 5, Exe: "/bin/sh", Args: []string{"sh", "-c", "x"}}, {PID: 4, Exe: args[0], Args: args}},
	}
}

func TestDecode(t *testing.T) {
	const daemon, clear, embed = "01a22d7d-7cab-7020-9eae-186e31910781", "01a22d89-87c0-7562-a9b3-07ab7931858e", "01a22d89-4280-7b52-8475-61eea9367046"
	cases := map[string]core.Event{
		"SessionStart-startup":             {Kind: core.EventStart, Native: "01a22d7d-7e32-7be0-bcbd-ce851508a78c", Source: "startup"},
		"SessionStart-clear":               {Kind: core.EventStart, Native: clear, Source: "clear"},
		"SessionStart-compact":             {Kind: core.EventStart, Native: embed, Source: "compact"},
		"SessionStart-fork":                {Kind: core.EventStart, Native: "01a22d80-3b0a-7c73-a072-0d9dd0f40f9a", Source: "fork"},
		"SessionStart-resume":              {Kind: core.EventStart, Native: "01a22d7f-65e1-75e0-b5da-1fbdba238b1b", Source: "resume", Model: "gpt-5.4"},
		"UserPromptSubmit":                 {Kind: core.EventPrompt, Native: "01a22d7d-7e32-7be0-bcbd-ce851508a78c", Prompt: "SLOWTEXT daemon one"},
		"UserPromptSubmit-subagent":        {Kind: core.EventNote, Native: embed},
		"SubagentStart":                    {Kind: core.EventNote, Native: embed},
		"SubagentStop":                     {Kind: core.EventNote, Native: embed},
		"Stop":                             {Kind: core.EventStop, Native: "01a22d7d-7e32-7be0-bcbd-ce851508a78c", Message: "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"},
		"SessionEnd":                       {Kind: core.EventEnd, Native: "01a22d7d-7e32-7be0-bcbd-ce851508a78c", Reason: "other"},
		"PermissionRequest-Bash":           {Kind: core.EventWait, Native: daemon, Wait: core.WaitPermission, Ask: "Bash touch /home/dev/outside/escalated (Need to write outside)"},
		"PermissionRequest-mcp_tower_ping": {Kind: core.EventWait, Native: "01a22d83-d9d7-7e41-a56c-cc56baedc4a8", Wait: core.WaitPermission, Ask: "mcp__tower__ping"},
		"Interrupt":                        {Kind: core.EventResolve, Native: daemon},
		"PreToolUse-Bash":                  {Kind: core.EventNote, Native: daemon},
		"PostToolUse-spawn_agent":          {Kind: core.EventNote, Native: embed},
		"PreCompact":                       {Kind: core.EventNote, Native: embed},
		"PostCompact":                      {Kind: core.EventNote, Native: embed},
	}
	a := New(info("/home/dev/.codex"))
	for file, want := range cases {
		t.Run(file, func(t *testing.T) {
			e := recorded(t, file)
			var p struct {
				CWD        string `json:"cwd"`
				Transcript string `json:"transcript_path"`
				AgentID    string `json:"agent_id"`
				Model      string `json:"model"`
			}
			if err := json.Unmarshal(e.Payload, &p); err != nil {
				t.Fatal(err)
			}
			want.ID, want.At, want.Agent, want.Name, want.Raw = "e1", e.TS, Name, e.Event, e.Payload
			if p.AgentID == "" {
				want.CWD, want.Transcript, want.Model = p.CWD, p.Transcript, p.Model
			}
			got, err := a.Decode(e)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("Decode (-want +got):\n%s", d)
			}
		})
	}
	all, _ := filepath.Glob("testdata/hooks/*.json")
	for _, path := range all {
		if _, err := a.Decode(recorded(t, strings.TrimSuffix(filepath.Base(path), ".json"))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if len(all) < 25 {
		t.Errorf("%d recorded hooks", len(all))
	}
}

func TestDecodeClass(t *testing.T) {
	a := New(info("/r"))
	of := func(args ...string) []core.Ancestor {
		return []core.Ancestor{{Exe: "/bin/sh", Args: []string{"sh", "exec"}}, {Exe: native, Args: args}}
	}
	for name, c := range map[string]struct {
		chain []core.Ancestor
		want  core.Class
	}{
		"exec":                            {of(native, "exec", "hi"), core.ClassHeadless},
		"terminal":                        {of(native, "--no-daemon", "exec is a word"), ""},
		"daemon":                          {of(server, "app-server", "--listen", "unix://"), ""},
		"nested in exec of another agent": {append(of(native), core.Ancestor{Exe: native, Args: []string{native, "exec"}}), ""},
		"given up":                        {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ev, err := a.Decode(core.Envelope{Event: "Stop", Payload: []byte(`{"session_id":"` + t1 + `"}`), Ancestors: c.chain})
			if err != nil || ev.Class != c.want {
				t.Errorf("class = %q, %v, want %q", ev.Class, err, c.want)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	a := New(info("/r"))
	for name, payload := range map[string]string{
		"no session id": `{"hook_event_name":"Stop"}`, "an empty one": `{"session_id":""}`, "not an object": `[1]`, "torn": `{"session_id":"x`, "nothing": ``, "another shape": `{"session_id":5}`,
	} {
		if ev, err := a.Decode(core.Envelope{Event: "Stop", Payload: []byte(payload)}); err == nil {
			t.Errorf("%s: Decode = %+v, want an error", name, ev)
		}
	}
	id := t1
	if ev, err := a.Decode(core.Envelope{Event: "Stop", AgentSessionID: &id}); err != nil || ev.Native != t1 {
		t.Errorf("the hook's own reading of the id: %q, %v", ev.Native, err)
	}
}

func TestAsk(t *testing.T) {
	for _, c := range []struct{ payload, want string }{
		{`{"tool_name":"Bash","tool_input":{"command":"echo a\n\techo b"}}`, "Bash echo a echo b"},
		{`{"tool_name":"Bash","tool_input":{"command":["ls","-la"]}}`, "Bash ls -la"},
		{`{"tool_name":"apply_patch","tool_input":"raw"}`, "apply_patch"},
		{`{"tool_name":"x","tool_input":{"command":7,"description":"why\nnot"}}`, "x (why not)"},
		{`{}`, ""},
	} {
		var p payload
		if err := json.Unmarshal([]byte(c.payload), &p); err != nil {
			t.Fatal(err)
		}
		if got := p.ask(); got != c.want {
			t.Errorf("ask of %s = %q, want %q", c.payload, got, c.want)
		}
	}
	p := payload{Tool: "Bash", Input: json.RawMessage(`{"command":"` + strings.Repeat("プ", 300) + `"}`)}
	if got := p.ask(); len(got) > askBytes || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") || len(got) < askBytes-10 {
		t.Errorf("a long question is cut to %d bytes: %q", len(got), got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"session_id":"x","tool_input":{"command":["a",1]},"hook_event_name":"PermissionRequest"}`))
	a := New(info("/r"))
	f.Fuzz(func(t *testing.T, b []byte) {
		ev, err := a.Decode(core.Envelope{Event: "Stop", Payload: b})
		if err == nil && ev.Native == "" {
			t.Error("an event without session")
		}
		if len(ev.Ask) > askBytes || strings.ContainsAny(ev.Ask, "\n\r") {
			t.Errorf("ask = %q", ev.Ask)
		}
	})
}
