package classify

import (
	"os"
	"path/filepath"
	"testing"

	"tower/core"
)

// TestScreen judges screens recorded of Claude Code 2.1.197 and Codex 0.171.0 in every state, with
// scripted answers.
func TestScreen(t *testing.T) {
	want := map[string]core.Said{
		"claude-cleared":            {},
		"claude-idle":               {},
		"claude-working":            {Class: core.OutputWorking, Line: "✽ Galloping…"},
		"claude-idle-2":             {Class: core.OutputDone, Line: "Worked. DONE"},
		"claude-waiting_permission": {Class: core.OutputQuestion, Line: "Do you want to proceed?"},
		"claude-idle-3":             {Class: core.OutputComplete, Line: "Touched. COMPLETE"},
		"claude-waiting_question":   {Class: core.OutputQuestion, Line: "Which colour?"},
		"claude-skill":              {Class: core.OutputWorking, Line: "✶ Crystallizing… (1s · ↓ 8 tokens)"},
		"claude-shell":              {},
		"claude-idle-4":             {},
		"codex-dialog_hook-trust":   {Class: core.OutputQuestion, Line: "Hooks can run outside the sandbox after you trust them."},
		"codex-cleared":             {},
		"codex-idle":                {},
		"codex-working":             {Class: core.OutputWorking, Line: "• Working (0s • esc to interrupt)"},
		"codex-idle-2":              {Class: core.OutputDone, Line: "Worked. DONE"},
		"codex-waiting_permission":  {Class: core.OutputQuestion, Line: "Would you like to run the following command?"},
		"codex-idle-3":              {Class: core.OutputComplete, Line: "Touched. COMPLETE"},
		"codex-idle-4":              {Class: core.OutputQuestion, Line: "Which colour do you want?"},
		"codex-idle-5":              {Class: core.OutputDone, Line: "Closed."},
		"codex-delivered":           {},
		"codex-idle-6":              {},
	}
	files, err := filepath.Glob(filepath.Join("testdata", "screens", "*.txt"))
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d screens, %v, want %d", len(files), err, len(want))
	}
	for _, file := range files {
		name := filepath.Base(file[:len(file)-len(".txt")])
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		w, ok := want[name]
		if got := Screen(string(b)); got != w || !ok {
			t.Errorf("%s: Screen = %+v, want %+v", name, got, w)
		}
	}
}

// TestScreenOthers judges what other programs and other moments put on a screen.
func TestScreenOthers(t *testing.T) {
	cases := []struct {
		name, tail string
		want       core.Said
	}{
		{"nothing", " \n\n", core.Said{}},
		{"a shell", "$ make test\nok  \texample.org/store\t0.02s\n$ ", core.Said{}},
		{"a shell with a failure", "$ go test ./...\n--- FAIL: TestX (0.00s)\nFAIL\n$ ", core.Said{}},
		{"braille spinner of another agent", " ⠏ Reading files… (esc to cancel, 4s)\n\n> Type your message\n", core.Said{Class: core.OutputWorking, Line: "⠏ Reading files… (esc to cancel, 4s)"}},
		{"colours", "\x1b[2m✻ Brewing… \x1b[0m(12s · ↑ 1.2k tokens · esc to interrupt)\n\n❯ \n", core.Said{Class: core.OutputWorking, Line: "✻ Brewing… (12s · ↑ 1.2k tokens · esc to interrupt)"}},
		{"a message that speaks of the footer", "● Renamed the footer text esc to interrupt in three files.\n\n✻ Baked for 3s\n\n────────────\n❯ \n────────────\n", core.Said{Class: core.OutputDone, Line: "Renamed the footer text esc to interrupt in three files."}},
		{"a message of several lines", "❯ go on\n\n● Two findings.\n\n  Shall I fix both?\n\n  1. the leak\n  2. the race\n\n✻ Baked for 3s\n\n────────────\n❯ \n────────────\n", core.Said{Class: core.OutputQuestion, Line: "Shall I fix both?"}},
		{"a prompt was typed after it", "● Shall I fix both?\n\n❯ yes\n\n────────────\n❯ \n────────────\n", core.Said{}},
		{"a list typed into the box", "● Renamed it.\n\n────────────\n❯ 1. first\n────────────\n", core.Said{Class: core.OutputDone, Line: "Renamed it."}},
		{"a framed dialog", "╭──────────────────╮\n│ Do you trust the files in this folder? │\n│                  │\n│ ❯ 1. Yes, proceed │\n│   2. No, exit     │\n╰──────────────────╯\n", core.Said{Class: core.OutputQuestion, Line: "Do you trust the files in this folder?"}},
		{"a turn that could not be had", "› go\n\n■ You've hit your usage limit. Try again at 5:00 PM.\n\n› Ask Codex to do anything\n", core.Said{Class: core.OutputNeedHelp, Line: "You've hit your usage limit. Try again at 5:00 PM."}},
		{"output of a tool only", "● Bash(go test ./...)\n  ⎿  FAIL example.org/x\n\n────────────\n❯ \n", core.Said{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := Screen(c.tail); got != c.want {
				t.Errorf("Screen = %+v, want %+v", got, c.want)
			}
		})
	}
}
