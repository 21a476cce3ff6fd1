package claude

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tower/adapters/jsonedit"
	"tower/core"
)

func TestInstalledEvents(t *testing.T) {
	a := New(testInfo("/home/dev/.claude"))
	content, err := a.InstallHooks(nil, "/home/dev/my tower/bin/tower-hook")
	if err != nil {
		t.Fatal(err)
	}
	found, err := jsonedit.Hooks(content)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range found {
		got = append(got, fmt.Sprintf("%s|%s|%d|%s", h.Event, h.Matcher, h.Timeout, h.Command))
	}
	var want []string
	for _, e := range []string{"SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SessionEnd", "PermissionRequest", "Notification", "SubagentStop", "PreToolUse", "PostToolUse"} {
		matcher := ""
		if strings.HasSuffix(e, "ToolUse") {
			matcher = "AskUserQuestion|ExitPlanMode|Skill"
		}
		want = append(want, fmt.Sprintf(`%s|%s|5|"/home/dev/my tower/bin/tower-hook" claude %s`, e, matcher, e))
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("installed:\n%s\nwant:\n%s", g, w)
	}
}

func TestHookStatus(t *testing.T) {
	const hook = "/t/tower-hook"
	a := New(testInfo("/home/dev/.claude"))
	full, err := a.InstallHooks([]byte(`{"model":"opus"}`), hook)
	if err != nil {
		t.Fatal(err)
	}
	status := func(text string, want core.HookState, reason string) {
		t.Helper()
		if got := a.HookStatus([]byte(text), hook); got.State != want || got.Reason != reason {
			t.Errorf("HookStatus = %s %q, want %s %q", got.State, got.Reason, want, reason)
		}
	}
	status(string(full), core.HooksInstalled, "")
	status(strings.Replace(string(full), "{", `{"disableAllHooks":true,`, 1), core.HooksPartial, "The settings switch all hooks off (disableAllHooks).")
	status(strings.Replace(string(full), "|Skill", "", 1), core.HooksPartial, "Missing or altered: PreToolUse.")
	status(strings.ReplaceAll(string(full), "/t/", "/u/"), core.HooksNotInstalled, "")
	status("{\n\"a\": }", core.HooksUnreadable, "The file cannot be read: line 2: no JSON value here.")
	status("", core.HooksNotInstalled, "")
}

func TestRuleOutput(t *testing.T) {
	a := New(testInfo("/r"))
	const text = "Be <brief> & \"kind\".\n\u2028ü"
	var got struct {
		Out struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	out := a.RuleOutput(text)
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Out.Event != "SessionStart" || got.Out.Context != text || strings.Count(string(out), "\n") != 1 {
		t.Errorf("RuleOutput = %s", out)
	}
}
