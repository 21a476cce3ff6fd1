package claude

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

// told is what a test compares of an event.
type toldEvent struct {
	Kind                                                 core.EventKind
	Source, Reason, Ask, Message, Prompt, Model, Session string
	Wait                                                 core.Wait
}

func TestDecode(t *testing.T) {
	const main, second = "75ee2d1b-f2b7-4471-bd52-b4a0c28aa2a0", "4352ed40-b473-4cac-a34b-842d1d560f93"
	a := New(core.AgentInfo{Root: "/home/dev/.claude"})
	for file, want := range map[string]toldEvent{
		"SessionStart.startup":              {Kind: core.EventStart, Source: "startup", Model: "claude-opus-4-8[1m]", Session: main},
		"SessionStart.clear":                {Kind: core.EventStart, Source: "clear", Session: second},
		"SessionStart.compact":              {Kind: core.EventStart, Source: "compact", Model: "claude-opus-4-8[1m]", Session: main},
		"UserPromptSubmit":                  {Kind: core.EventPrompt, Prompt: "first prompt as one arg", Session: main},
		"Stop":                              {Kind: core.EventStop, Message: "ok (mock)", Session: main},
		"Stop.with-background-task":         {Kind: core.EventStop, Message: "Started in background.", Session: second},
		"Stop.with-background-subagent":     {Kind: core.EventNote, Message: "Launched the agent.", Session: "204cb95b-c04c-4e47-9f7f-5cba10cfdee2"},
		"StopFailure.rate_limit":            {Kind: core.EventStop, Reason: "rate_limit", Message: "API Error: Request rejected (429) · limit reached", Session: "39641473-2cfe-45e1-93ea-f9f86c4a7976"},
		"SessionEnd.clear":                  {Kind: core.EventEnd, Reason: "clear", Session: main},
		"SessionEnd.prompt_input_exit":      {Kind: core.EventEnd, Reason: "prompt_input_exit"},
		"PermissionRequest.Bash":            {Kind: core.EventWait, Wait: core.WaitPermission, Ask: "Bash: sleep 3; touch zz", Session: main},
		"PermissionRequest.AskUserQuestion": {Kind: core.EventWait, Wait: core.WaitQuestion, Ask: "Which colour?", Session: main},
		"PermissionRequest.ExitPlanMode":    {Kind: core.EventWait, Wait: core.WaitPermission, Ask: "approve the plan", Session: "3d35b711-bfc9-46d2-8759-7c870bf7aade"},
		"PreToolUse.AskUserQuestion":        {Kind: core.EventWait, Wait: core.WaitQuestion, Ask: "Which colour?", Session: main},
		"PreToolUse.ExitPlanMode":           {Kind: core.EventWait, Wait: core.WaitPermission, Ask: "approve the plan"},
		"PreToolUse.Skill":                  {Kind: core.EventNote, Session: main},
		"PreToolUse.Bash":                   {Kind: core.EventNote},
		"PostToolUse.AskUserQuestion":       {Kind: core.EventResolve, Session: main},
		"PostToolUse.Skill":                 {Kind: core.EventNote, Session: main},
		"Notification.idle_prompt":          {Kind: core.EventNote, Ask: "Claude is waiting for your input", Session: second},
		"Notification.permission_prompt":    {Kind: core.EventNote, Ask: "Claude needs your permission", Session: main},
		"SubagentStop":                      {Kind: core.EventNote, Session: main},
		"SubagentStop.internal-fork":        {Kind: core.EventNote, Session: main},
		"ConfigChange.user_settings":        {Kind: core.EventNote, Session: second},
	} {
		t.Run(file, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata/hooks", file+".json"))
			if err != nil {
				t.Fatal(err)
			}
			event, _, _ := strings.Cut(file, ".")
			e, err := a.Decode(core.Envelope{EventID: "e", Event: event, TS: 7, Payload: b})
			if err != nil {
				t.Fatal(err)
			}
			got := toldEvent{e.Kind, e.Source, e.Reason, e.Ask, e.Message, e.Prompt, e.Model, e.Native, e.Wait}
			if want.Session == "" {
				got.Session = ""
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func decode(t *testing.T, event, payload string, change func(*core.Envelope)) core.Event {
	t.Helper()
	env := core.Envelope{EventID: "e", Event: event, TS: 7, Payload: json.RawMessage(payload)}
	if change != nil {
		change(&env)
	}
	e, err := New(core.AgentInfo{Root: "/r"}).Decode(env)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestDecodeInsideSubagent(t *testing.T) {
	for _, event := range []string{"Stop", "UserPromptSubmit", "PermissionRequest", "SessionEnd", "PreToolUse"} {
		e := decode(t, event, `{"session_id":"s","agent_id":"a1","tool_name":"AskUserQuestion"}`, nil)
		if e.Kind != core.EventNote || e.Native != "s" {
			t.Errorf("%s inside a sub-agent = %s of %q, want a note of the session", event, e.Kind, e.Native)
		}
	}
}

func TestDecodeTaskNotification(t *testing.T) {
	e := decode(t, "UserPromptSubmit", `{"session_id":"s","prompt":"<task-notification>\n<task-id>x</task-id>"}`, nil)
	if e.Kind != core.EventPrompt || e.Prompt != "" {
		t.Errorf("a task notification = %s %q, want a prompt nobody typed", e.Kind, e.Prompt)
	}
}

func TestDecodeEntrypoint(t *testing.T) {
	for entrypoint, want := range map[string]core.Class{
		"cli": core.ClassMain, "claude-vscode": core.ClassMain, "remote_mobile": core.ClassMain, "claude-desktop-3p": core.ClassMain,
		"sdk-cli": core.ClassHeadless, "sdk-ts": core.ClassHeadless, "mcp": core.ClassHeadless, "": "", "new-thing": "",
	} {
		e := decode(t, "SessionStart", `{"session_id":"s"}`, func(env *core.Envelope) { env.Entrypoint = &entrypoint })
		if e.Class != want || e.Entrypoint != entrypoint {
			t.Errorf("entrypoint %q makes class %q, want %q", entrypoint, e.Class, want)
		}
	}
}

func TestDecodeOddPayloads(t *testing.T) {
	var nul core.Envelope
	nul.Event, nul.Payload = "Stop", json.RawMessage("null")
	if _, err := New(core.AgentInfo{}).Decode(nul); !errors.Is(err, ErrNoSession) {
		t.Errorf("Decode without a session = %v, want ErrNoSession", err)
	}
	long := strings.Repeat("ä", 5000)
	e := decode(t, "PermissionRequest", `{"session_id":"s","cwd":3,"tool_name":"Write","tool_input":{"file_path":"/a\n\tb `+long+`","command":null}}`, nil)
	if n := utf8.RuneCountInString(e.Ask); n != maxAsk || !strings.HasPrefix(e.Ask, "Write: ") || strings.ContainsAny(e.Ask, "\n\t") || !utf8.ValidString(e.Ask) {
		t.Errorf("ask has %d runes: %q", n, e.Ask)
	}
	e = decode(t, "PermissionRequest", `{"session_id":"s","tool_name":"Bash","tool_input":"rm"}`, nil)
	if e.Wait != core.WaitPermission || e.Ask != "Bash" {
		t.Errorf("a tool with a text for input = %q %q", e.Wait, e.Ask)
	}
	e = decode(t, "PermissionRequest", `{"session_id":"s","tool_name":"AskUserQuestion","tool_input":{}}`, nil)
	if e.Wait != core.WaitQuestion || e.Ask != "" {
		t.Errorf("a question without words = %q %q", e.Wait, e.Ask)
	}
}

func FuzzDecode(f *testing.F) {
	files, _ := filepath.Glob("testdata/hooks/*.json")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(strings.SplitN(filepath.Base(file), ".", 2)[0], b)
	}
	a := New(core.AgentInfo{Root: "/r"})
	f.Fuzz(func(t *testing.T, event string, payload []byte) {
		e, err := a.Decode(core.Envelope{EventID: "e", Event: event, Payload: payload})
		if (err == nil) != (e.Native != "") {
			t.Errorf("Decode = %+v, %v", e, err)
		}
		if (e.Kind == core.EventWait) != (e.Wait != "") {
			t.Errorf("kind %s waits for %q", e.Kind, e.Wait)
		}
		if utf8.RuneCountInString(e.Ask) > maxAsk {
			t.Errorf("ask is too long: %q", e.Ask)
		}
	})
}
