package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

// TestScreens judges screens of the real program: the first line of each file is the title, the rest what
// was shown.
func TestScreens(t *testing.T) {
	a := New(info("/r"))
	asks := map[string]string{
		"dialog-trust":                   "Trust this folder?",
		"dialog-trust-below-root":        "Trust this folder?",
		"dialog-restricted":              "Open this untrusted folder with restrictions?",
		"dialog-sign-in":                 "How to sign in?",
		"dialog-sign-in-provider":        "How to sign in?",
		"dialog-hooks":                   "Hooks need review: 1 hook is new or changed.",
		"dialog-model":                   "Which model to use?",
		"dialog-update":                  "Update available · 0.171.0 → 9.9.9",
		"dialog-command":                 "Would you like to run the following command? touch $HOME/escalated",
		"dialog-command-in-conversation": "Would you like to run the following command? touch $HOME/escalated",
		"dialog-edit":                    "Would you like to make the following edits? /var/lib/tower-test/hello.txt",
		"dialog-mcp":                     `Allow the tower MCP server to run tool "ping"?`,
		"dialog-folder":                  "In which folder to go on?",
		"dialog-archived":                "This conversation is archived. Take it out of the archive?",
		"dialog-open-elsewhere":          "This conversation is open in another app",
		"dialog-resume-picker":           "Which session to resume?",
		"dialog-model-picker":            "Select Model and Effort",
		"dialog-permissions":             "Update Model Permissions",
	}
	files, err := filepath.Glob("testdata/screens/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatalf("recorded screens: %d, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			title, tail, _ := strings.Cut(string(b), "\n")
			want := core.Screen{Dialog: asks[name], Input: strings.HasPrefix(name, "input-")}
			if strings.HasPrefix(name, "dialog-") != (want.Dialog != "") {
				t.Fatalf("no expectation for %s", name)
			}
			if got := a.Screen(title, tail); got != want {
				t.Errorf("Screen = %+v, want %+v", got, want)
			}
			// The empty lines below a small dialog may be there or not.
			if got := a.Screen(title, strings.TrimRight(tail, "\n")); got != want {
				t.Errorf("Screen of the trimmed text = %+v, want %+v", got, want)
			}
		})
	}
}

func TestScreenByTitle(t *testing.T) {
	a := New(info("/r"))
	for title, asks := range map[string]bool{
		"[ ! ] Action Required | fix it | demo": true,
		"[ . ] Action Required | fix it | demo": true,
		"Action Required in the title | demo":   false,
		"⠏ fix it | demo":                       false,
		"":                                      false,
	} {
		if got := a.Screen(title, "\n\n"); (got.Dialog != "") != asks || got.Input {
			t.Errorf("Screen(%q) = %+v, asks = %v", title, got, asks)
		}
	}
}

// TestScreenHalfDrawn takes no part of a dialog for the input box.
func TestScreenHalfDrawn(t *testing.T) {
	a := New(info("/r"))
	for tail, want := range map[string]core.Screen{
		"> 1. Sign in with ChatGPT\n     Usage included\n":              {},
		"  Trust this folder?\n":                                        {},
		"› fix it\n\n\n• Done.\n":                                       {}, // what was typed, not the box
		"› fix it\n\n\n• Done.\n\n› \n\n  GPT-5.5 default · /p\n":       {Input: true},
		"› fix it\n\n\n• Done.\n\n›\n":                                  {Input: true},
		"  New dialog\n\n› 1. One\n  2. Two\n\n  enter confirm · esc x": {Dialog: "New dialog"},
		"› 1. One\n  2. Two\n\n  enter confirm":                         {Dialog: "Codex asks for something."},
	} {
		if got := a.Screen("demo", tail); got != want {
			t.Errorf("Screen(%q) = %+v, want %+v", tail, got, want)
		}
	}
}

// FuzzScreen holds that any bytes are judged, that a screen is never both, and that an answer is a line.
func FuzzScreen(f *testing.F) {
	files, _ := filepath.Glob("testdata/screens/*.txt")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		title, tail, _ := strings.Cut(string(b), "\n")
		f.Add(title, tail)
	}
	f.Add("", "› \n")
	f.Add("", ">\nenter confirm")
	a := New(info("/r"))
	f.Fuzz(func(t *testing.T, title, tail string) {
		got := a.Screen(title, tail)
		if got.Dialog != "" && got.Input {
			t.Errorf("Screen = %+v: both", got)
		}
		if strings.Contains(got.Dialog, "\n") || len(got.Dialog) > askBytes {
			t.Errorf("Dialog = %q: not one short line", got.Dialog)
		}
	})
}
