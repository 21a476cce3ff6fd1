package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
	"tower/core/term"
	"tower/core/tmux"
)

func TestJump(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "working")
		w.table.Put(adaptertest.RecordedProc{Proc: core.Proc{PID: 900, PPID: 899, Start: 9000, State: 'S'}, Exe: "/usr/bin/tmux"})
		w.mux.clients = []tmux.Client{
			{Name: "/dev/pts/1", PID: 900, Session: "$1", Activity: 5},
			{Name: "control", PID: 901, Session: "$1", Activity: 9, Control: true},
			{Name: "/dev/pts/2", PID: 902, Session: "$2", Activity: 8},
			{Name: "/dev/pts/3", PID: 903, Session: "$1", Activity: 7}, // from afar: it has no process here
		}
		w.desk.found = &term.Window{Kind: "x11", ID: "77"}
		r, err := w.do(core.Command{Kind: core.CommandJump, Session: id})
		if err != nil || !strings.HasPrefix(r.Said, "Jumped") {
			t.Fatalf("%+v, %v", r, err)
		}
		if got := strings.Join(w.mux.pressed(), " "); got != "<show /dev/pts/1>" {
			t.Errorf("shown: %s", got)
		}
		if len(w.desk.focused) != 1 || w.desk.focused[0] != "77" {
			t.Errorf("focused %v", w.desk.focused)
		}
	})
}

func TestType(t *testing.T) {
	for _, c := range []struct {
		name  string
		hears int // which Enter begins the turn; 0 none
		says  string
		keys  string
	}{
		{"at once", 1, "", "go on|<enter>"},
		{"the first Enter swallowed", 2, "", "go on|<enter>|<enter>"},
		{"never", 0, "no turn began within", "go on|<enter>|<enter>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			acting(t, func(t *testing.T, w *actWorld) {
				id := w.lives("s", "idle")
				enters := 0
				w.mux.hear = func(k string) {
					if k != "<enter>" {
						return
					}
					if enters++; enters == c.hears {
						w.hook("prompt", core.Process{Boot: boot, PID: agentPID, Start: 5000}, adaptertest.FakeHook{Session: "s", Text: "go on"})
					}
				}
				r, err := w.do(core.Command{Kind: core.CommandType, Session: id, Text: "go on"})
				if c.says == "" && (err != nil || !strings.HasPrefix(r.Said, "Delivered")) {
					t.Errorf("%+v, %v", r, err)
				}
				if c.says != "" {
					w.refused(err, "Not delivered.", c.says)
				}
				if got := strings.Join(w.mux.pressed(), "|"); got != c.keys {
					t.Errorf("keys %s, want %s", got, c.keys)
				}
				if w.e.claims.Len() != 0 || len(w.e.listeners) != 0 {
					t.Error("a claim or a listener is left")
				}
			})
		})
	}
}

// TestDialogOpensAfterThePaste: Enter would answer it, so it is not pressed.
func TestDialogOpensAfterThePaste(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		w.mux.hear = func(k string) {
			w.fake.Register("a", adaptertest.FakeRecord{PID: agentPID, Start: 5000, Final: true,
				Threads: []adaptertest.FakeThread{{Session: "s", State: "waiting", Wait: core.WaitPermission}}})
		}
		_, err := w.do(core.Command{Kind: core.CommandType, Session: id, Text: "go on"})
		w.refused(err, "Enter was not pressed", "waits on a")
		if got := strings.Join(w.mux.pressed(), "|"); got != "go on" {
			t.Errorf("keys %s", got)
		}
	})
}

// TestDialogOpensAfterEnter: the turn has begun and asks at once. Enter is not pressed a second time, and what
// counts is whether the text arrived.
func TestDialogOpensAfterEnter(t *testing.T) {
	for _, arrives := range []bool{true, false} {
		acting(t, func(t *testing.T, w *actWorld) {
			id := w.lives("s", "idle")
			w.mux.hear = func(k string) {
				if k != "<enter>" {
					return
				}
				w.fake.Register("a", adaptertest.FakeRecord{PID: agentPID, Start: 5000, Final: true,
					Threads: []adaptertest.FakeThread{{Session: "s", State: "waiting", Wait: core.WaitPermission}}})
				if arrives {
					go func() {
						time.Sleep(toRepress + time.Second)
						w.hook("prompt", core.Process{Boot: boot, PID: agentPID, Start: 5000}, adaptertest.FakeHook{Session: "s", Text: "go on"})
						wake(w.e.wakes.drain)
					}()
				}
			}
			r, err := w.do(core.Command{Kind: core.CommandType, Session: id, Text: "go on"})
			if arrives && (err != nil || !strings.HasPrefix(r.Said, "Delivered")) {
				t.Errorf("%+v, %v", r, err)
			}
			if !arrives {
				w.refused(err, "Not delivered.", "Enter was pressed", "waits on a permission")
			}
			if got := strings.Join(w.mux.pressed(), "|"); got != "go on|<enter>" {
				t.Errorf("keys %s", got)
			}
		})
	}
}

// TestSaid: the class of the last output is known from the hook that ends a turn and, where none told, from
// the end of the transcript.
func TestSaid(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		w.lives("s", "idle")
		w.hook("stop", core.Process{Boot: boot, PID: agentPID, Start: 5000}, adaptertest.FakeHook{Session: "s", Text: "Both exist.\n\nWhich one should I delete?"})
		w.pass(3 * time.Second)
		if said := w.row("s").Live.Said; said == nil || said.Class != core.OutputQuestion || !strings.Contains(said.Line, "Which one") {
			t.Errorf("by the hook: %+v", said)
		}
		w.agent.last = "--- FAIL: TestCounter (0.00s)\nFAIL"
		path := filepath.Join(w.dir, "transcript")
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		w.stop()
		w.sql("UPDATE sessions SET transcript_path = '" + path + "'")
		w.start()
		w.pass(2 * refreshGrown)
		if said := w.row("s").Live.Said; said == nil || said.Class != core.OutputTestFailed {
			t.Errorf("by the transcript: %+v", said)
		}
	})
}
