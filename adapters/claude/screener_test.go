package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

// TestScreens holds the reading of screens against recordings. The name of a file tells what is seen in
// it: the input box, a dialog, or neither.
func TestScreens(t *testing.T) {
	asks := map[string]string{
		"trust": asksTrust, "theme": asksSetup, "security": asksSetup, "settings": asksSettings, "apikey": asksKey,
		"login": asksLogin, "bypass": asksBypass, "mcp": asksServer, "mcps": asksServer, "bashmode": asksShell, "ctrlr": asksSearch,
		"perm-bash":   "Bash command: touch made.txt. Do you want to proceed?",
		"perm-narrow": "Bash command: touch narrow.txt. Do you want to proceed?",
		"talk-perm":   "Bash command: touch x.txt. Do you want to proceed?",
		"perm-write":  "Create file: made2.txt. Do you want to create made2.txt?",
		"plan":        "Exit plan mode?", "plan-ready": "Claude has written up a plan and is ready to execute. Would you like to proceed?", "question": "Which colour?", "question-chat": "Which colour?", "ask-narrow": "Which colour?",
		"resume-picker": "Resume session (1 of 10)", "slash-model": "Select model", "slash-theme": "Theme",
		"slash-config": "Settings Status Config Usage Stats", "slash-status": "Settings Status Config Usage Stats",
		"slash-permissions": "Permissions Recently denied Allow Ask Deny Workspace",
	}
	files, err := filepath.Glob("testdata/screens/*.txt")
	if err != nil || len(files) != 40 {
		t.Fatalf("%d recorded screens, %v, want 40", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kind, name, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txt"), ".")
		want := core.Screen{Input: kind == "input"}
		if kind == "dialog" {
			if want.Dialog = asks[name]; want.Dialog == "" {
				t.Errorf("nobody says what %s asks", name)
			}
		}
		screen := string(b)
		for what, shown := range map[string]string{
			"as recorded": screen, "with blank lines below": screen + "\n\n \n", "with blanks at the right": strings.ReplaceAll(screen, "\n", "  \n"),
		} {
			if got := New(core.AgentInfo{}).Screen("✳ Claude Code", shown); got != want {
				t.Errorf("%s, %s: %+v, want %+v", file, what, got, want)
			}
		}
	}
}

// TestScreenNeedsStructure shows the words of dialogs where no dialog is.
func TestScreenNeedsStructure(t *testing.T) {
	rule := strings.Repeat("─", 60)
	const dialog = "Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n"
	for name, c := range map[string]struct {
		screen string
		want   core.Screen
	}{
		"nothing":                          {"", core.Screen{}},
		"an answer that speaks of it":      {"● " + dialog + "\n" + rule + "\n❯ \n" + rule + "\n  ? for shortcuts", core.Screen{Input: true}},
		"an answer with rules of its own":  {"● " + rule + "\n" + dialog + rule + "\n\n" + rule + "\n❯ x\n" + rule + "\n", core.Screen{Input: true}},
		"a shell behind it":                {rule + "\n" + dialog + "\n$ ", core.Screen{}},
		"a shell whose prompt is a cursor": {rule + "\n" + dialog + "\n\n❯ ", core.Screen{}},
		"only its options":                 {" ❯ 1. Yes\n   2. No\n\nand so on", core.Screen{}},
		"only a list":                      {rule + "\n 1. one\n 2. two", core.Screen{}},
		"text typed into the box":          {rule + "\n❯ Do you want to proceed?\n  1. Yes\n" + rule + "\n  ? for shortcuts", core.Screen{Input: true}},
		"a dialog below an echoed prompt":  {rule + "\n❯ go\n" + rule + "\n Bash command\n\n   ls\n\n " + dialog, core.Screen{Dialog: "Bash command: ls. Do you want to proceed?"}},
		"one without options below it":     {rule + "\n❯ go\n" + rule + "\n  Settings  Status\n\n  Version: 2\n\n  Esc to cancel", core.Screen{Dialog: "Settings Status"}},
		"a box that was left":              {rule + "\n❯ /exit\n" + rule + "\n/exit  Exit\nResume this session with:\nclaude --resume x\n$", core.Screen{}},
		"a rule alone":                     {rule, core.Screen{}},
		"two rules, nothing between":       {rule + "\n" + rule, core.Screen{}},
	} {
		if got := New(core.AgentInfo{}).Screen("", c.screen); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// FuzzScreen shows that no screen is both at rest and stopped, and that what is asked is one line.
func FuzzScreen(f *testing.F) {
	files, _ := filepath.Glob("testdata/screens/*.txt")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	a := New(core.AgentInfo{})
	f.Fuzz(func(t *testing.T, screen string) {
		got := a.Screen("", screen)
		if got.Input && got.Dialog != "" || strings.ContainsAny(got.Dialog, "\n\r") || len([]rune(got.Dialog)) > maxAsk {
			t.Errorf("Screen(%q) = %+v", screen, got)
		}
	})
}
