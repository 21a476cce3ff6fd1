//go:build unix

package tmux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

// prompts are texts that something between the tower and a program could take for something else.
var prompts = map[string]string{
	"one line":         "fix the failing test",
	"24 lines":         strings.Repeat("a line\n", 24),
	"501 characters":   strings.Repeat("x", 501),
	"20,000":           strings.Repeat("0123456789", 2000),
	"230 KB":           strings.Repeat("0123456789abcde\n", 230*1024/16),
	"quotes":           `it's "quoted" ''' """`,
	"shell":            "`id` $(id) $HOME ~ * ; | & > /tmp/x",
	"tmux":             "#{pane_id} %1 %0 ; kill-server",
	"only a semicolon": ";",
	"semicolon behind": "a;",
	"leading minus":    "-b x -t",
	"emoji":            "👩‍👩‍👧 🏳️‍🌈 e\u0301 größe",
	"tabs and blanks":  "\ta  b \t ",
	"trailing newline": "text\n",
	"only a newline":   "\n",
	"backslashes":      `\n \\ \e[201~`,
	"escape in it":     "a\x1b[201~\rrm -rf x\r\x1b[200~b",
	"slash":            "/clear",
}

// TestPaste sends each prompt, cleaned, into a program that records bytes, with bracketed paste.
func TestPaste(t *testing.T) {
	s := newServer(t)
	out := filepath.Join(s.dir, "out")
	p := s.start("x", "sink", out, "bracketed")
	s.shows(p.ID, "READY")
	want := ""
	both(t, s, func(t *testing.T) {
		for name, text := range prompts {
			clean, _, err := Clean(text, true)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Paste(t.Context(), p.ID, clean); err != nil {
				t.Fatalf("%s: Paste = %v", name, err)
			}
			if err := s.Enter(t.Context(), p.ID); err != nil {
				t.Fatalf("%s: Enter = %v", name, err)
			}
			want += pasteBegin + clean + pasteEnd + "\r"
			eventually(t, name+" arrives", func() bool { return len(readFile(t, out)) >= len(want) })
			if got := readFile(t, out); got != want {
				t.Fatalf("%s: the program got %.200q, want %.200q", name, got[len(got)-min(len(got), len(clean)+20):], pasteBegin+clean+pasteEnd)
			}
		}
	})
	if n := strings.Count(want, pasteEnd); strings.Count(want, "\x1b[201") != n || n != 2*len(prompts) {
		t.Errorf("a text left its paste: %d ends of %d", n, 2*len(prompts))
	}
	if lines, err := s.run(t.Context(), "list-buffers"); err != nil || len(lines) != 0 {
		t.Errorf("buffers left: %q, %v", lines, err)
	}
	files, err := os.ReadDir(s.dir)
	if err != nil || len(files) != 3 {
		t.Errorf("files beside the socket: %v, %v, want socket, configuration and the program's own", files, err)
	}
}

func TestPasteRaw(t *testing.T) {
	s := newServer(t)
	out := filepath.Join(s.dir, "out")
	p := s.start("x", "sink", out) // has not asked for bracketed paste
	s.shows(p.ID, "READY")
	if err := s.Paste(t.Context(), p.ID, "a\nb\n"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the text arrives", func() bool { return readFile(t, out) == "a\nb\n" })
}

// TestClosedPanes shows that nothing is typed where it would go astray.
func TestClosedPanes(t *testing.T) {
	s := newServer(t)
	out := filepath.Join(s.dir, "out")
	p := s.start("x", "sink", out, "bracketed")
	s.shows(p.ID, "READY")
	dead := s.run1(Start{ID: "dead", Dir: s.dir, Argv: []string{"/bin/sh", "-c", "exit 0"}})
	eventually(t, "the program is seen dead", func() bool { return s.pane(dead.ID).Dead })
	tmux := func(args ...string) {
		t.Helper()
		if _, err := s.run(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	both(t, s, func(t *testing.T) {
		for _, c := range []struct {
			name, id string
			on, off  []string
			why      string
		}{
			{"copy mode", p.ID, []string{"copy-mode", "-t", p.ID}, []string{"send-keys", "-t", p.ID, "-X", "cancel"}, "copy mode"},
			{"input off", p.ID, []string{"select-pane", "-d", "-t", p.ID}, []string{"select-pane", "-e", "-t", p.ID}, "switched off"},
			{"synchronized", p.ID, []string{"set-option", "-w", "-t", p.ID, "synchronize-panes", "on"}, []string{"set-option", "-w", "-t", p.ID, "synchronize-panes", "off"}, "all its panes"},
			{"dead", dead.ID, nil, nil, "has ended"},
			{"gone", "%9999", nil, nil, "is gone"},
		} {
			if c.on != nil {
				tmux(c.on...)
			}
			for call, err := range map[string]error{"Paste": s.Paste(t.Context(), c.id, "text"), "Enter": s.Enter(t.Context(), c.id)} {
				var r *core.Refusal
				if !errors.As(err, &r) || r.What != "Not delivered." || !strings.Contains(r.Why, c.why) {
					t.Errorf("%s: %s = %v, want a refusal for %q", c.name, call, err, c.why)
				}
			}
			if c.off != nil {
				tmux(c.off...)
			}
		}
	})
	if err := s.Paste(t.Context(), p.ID, ""); err == nil {
		t.Error("an empty text was pasted")
	}
	if err := s.Paste(t.Context(), "x", "text"); err == nil {
		t.Error("a name was taken for a pane")
	}
	if err := s.Enter(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the last Enter arrives", func() bool { return strings.HasSuffix(readFile(t, out), "\r") })
	if got := readFile(t, out); got != "\r" {
		t.Errorf("the program got %q, want nothing but the last Enter", got)
	}
}

// TestSwallowedEnter sends prompts to an input box that is deaf for a moment after each paste: a
// retry presses Enter and nothing else, and each prompt is submitted once and whole.
func TestSwallowedEnter(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	out := filepath.Join(s.dir, "out")
	p := s.start("x", "box", out)
	s.shows(p.ID, "READY")
	s.linked()
	heard := func() int { return strings.Count(readFile(t, out+".heard"), "\n") }
	want, retries := "", 0
	for i, text := range []string{"one line", strings.Repeat("line\n", 24) + "end", strings.Repeat("x", 501), strings.Repeat("0123456789", 2000), "-x", "trailing\n", ";", "a;"} {
		if err := s.Paste(t.Context(), p.ID, text); err != nil {
			t.Fatal(err)
		}
		want += fmt.Sprintf("%q\n", text)
		for before := heard(); readFile(t, out) != want; before = heard() {
			if retries++; retries > 2000 {
				t.Fatalf("%d: not submitted; the box holds %.200q", i, readFile(t, out))
			}
			if err := s.Enter(t.Context(), p.ID); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the box hears Enter", func() bool { return heard() > before })
		}
	}
	if got := readFile(t, out); got != want {
		t.Errorf("submitted %q, want %q", got, want)
	}
	if !strings.Contains(readFile(t, out+".heard"), "swallowed") {
		t.Error("no Enter was swallowed: the test proves nothing")
	}
}
