package codex

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/adapters/jsonedit"
	"tower/core"
)

// TestTrustedHash compares with what Codex itself answered for the same file (hooks/list).
func TestTrustedHash(t *testing.T) {
	text, err := os.ReadFile("testdata/trust/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	b, err := os.ReadFile("testdata/trust/hashes.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	found, err := jsonedit.Hooks(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(want) {
		t.Fatalf("found %d hooks, Codex %d", len(found), len(want))
	}
	for _, h := range found {
		key := fmt.Sprintf("%s:%d:%d", snake(h.Event), h.Group, h.Handler)
		if got := trustedHash(h); got != want[key] {
			t.Errorf("trustedHash(%s) = %s, want %s", key, got, want[key])
		}
	}
}

// trustAll writes the config.toml that Codex writes when the person trusts what stands in the file.
func trustAll(t *testing.T, file string, content []byte, change func(event string) string) {
	t.Helper()
	found, err := jsonedit.Hooks(content)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("model = \"gpt-5.5\"\n\n[hooks.state]\n")
	for _, h := range found {
		fmt.Fprintf(&b, "\n[hooks.state.%q]\ntrusted_hash = %q\n%s", fmt.Sprintf("%s:%s:%d:%d", file, snake(h.Event), h.Group, h.Handler), trustedHash(h), change(h.Event))
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "config.toml"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestHookStatusTrust(t *testing.T) {
	const hook = "/home/dev/my tower/bin/tower-hook"
	foreign := []byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`)
	a := New(core.AgentInfo{Agent: Name, Root: t.TempDir(), HookFile: "hooks.json"})
	content, err := a.InstallHooks(foreign, hook)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(a.info.Root, "config.toml")
	status := func(want core.HookState, reason string) {
		t.Helper()
		if got := a.HookStatus(content, hook); got.State != want || !strings.Contains(got.Reason, reason) || reason == "" && got.Reason != "" {
			t.Errorf("HookStatus = %+v, want %s because of %q", got, want, reason)
		}
	}
	same := func(string) string { return "" }

	status(core.HooksNeedTrust, "yours to answer")
	trustAll(t, a.HookFile(), foreign, same)
	status(core.HooksNeedTrust, "yours to answer")
	trustAll(t, a.HookFile(), content, same)
	status(core.HooksInstalled, "")
	trustAll(t, a.HookFile(), content, func(e string) string {
		if e == "Interrupt" {
			return "enabled = false\n"
		}
		return ""
	})
	status(core.HooksPartial, "Switched off inside Codex: Interrupt.")

	// Another entry in front moves ours away from where it was trusted.
	trustAll(t, a.HookFile(), content, same)
	moved := []byte(strings.Replace(string(content), `"Stop":[`, `"Stop":[{"hooks":[]},`, 1))
	if got := a.HookStatus(moved, hook); got.State != core.HooksNeedTrust || !strings.Contains(got.Reason, "Not trusted: Stop.") {
		t.Errorf("HookStatus of a moved entry = %+v, want that Stop needs trust", got)
	}
	// An entry altered since it was trusted is trusted no more.
	altered := []byte(strings.Replace(string(content), `"timeout":5`, `"timeout":7`, 1))
	if got := a.HookStatus(altered, hook); got.State != core.HooksNeedTrust || !strings.Contains(got.Reason, "Not trusted: Stop.") {
		t.Errorf("HookStatus of an altered entry = %+v, want that Stop needs trust", got)
	}
	if err := os.WriteFile(config, []byte("[features]\nhooks = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status(core.HooksPartial, "features.hooks")
	if err := os.WriteFile(config, []byte("= broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	status(core.HooksNeedTrust, "cannot be read")
}

// TestTrustThroughLinks: a home reached through a link is known to Codex by its real name.
func TestTrustThroughLinks(t *testing.T) {
	const hook = "/t/tower-hook"
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	a := New(core.AgentInfo{Agent: Name, Root: link, HookFile: "hooks.json"})
	content, err := a.InstallHooks(nil, hook)
	if err != nil {
		t.Fatal(err)
	}
	trustAll(t, filepath.Join(real, "hooks.json"), content, func(string) string { return "" })
	if got := a.HookStatus(content, hook); got.State != core.HooksInstalled {
		t.Errorf("HookStatus = %+v, want installed", got)
	}
}

func TestInstalledEvents(t *testing.T) {
	a := New(core.AgentInfo{Agent: Name, Root: "/home/dev/.codex"})
	content, err := a.InstallHooks(nil, "/t/tower-hook")
	if err != nil {
		t.Fatal(err)
	}
	found, err := jsonedit.Hooks(content)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range found {
		got = append(got, fmt.Sprintf("%s %d %s", h.Event, h.Timeout, h.Command))
	}
	want := `SessionStart 5 /t/tower-hook codex SessionStart
UserPromptSubmit 5 /t/tower-hook codex UserPromptSubmit
Stop 5 /t/tower-hook codex Stop
SessionEnd 3 /t/tower-hook codex SessionEnd
PermissionRequest 5 /t/tower-hook codex PermissionRequest
Interrupt 3 /t/tower-hook codex Interrupt
SubagentStop 5 /t/tower-hook codex SubagentStop`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("installed:\n%s\nwant:\n%s", s, want)
	}
}
