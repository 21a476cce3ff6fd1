package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
)

func TestResume(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.over("s")
		r, err := w.do(core.Command{Kind: core.CommandResume, Session: id})
		if err != nil {
			t.Fatal(err)
		}
		w.want("s", core.StatusLost, "process gone") // nothing is stored before the agent is there
		if w.row("s").Busy != "resuming" {
			t.Errorf("busy %q", w.row("s").Busy)
		}
		w.begins(r.Launch.Token, "s")
		w.pass(6 * time.Second)
		row := w.want("s", core.StatusLive, "")
		if runs := w.runs("s"); len(runs) != 2 || runs[1].LaunchToken != r.Launch.Token {
			t.Errorf("runs %+v", runs)
		}
		if row.ResumedBy != "test" || row.Busy != "" || len(w.agent.resumed) != 1 || w.agent.resumed[0] != "" {
			t.Errorf("by %q, busy %q, models %q", row.ResumedBy, row.Busy, w.agent.resumed)
		}
	})
}

func TestContinue(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.over("s")
		w.agent.last = "All but the last test pass.\nNext: the flaky one."
		log := filepath.Join(w.dir, "WORKLOG.md")
		if err := os.WriteFile(log, []byte("# log"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := w.do(core.Command{Kind: core.CommandRename, Session: id, Text: "Flaky test"}); err != nil {
			t.Fatal(err)
		}
		r, err := w.do(core.Command{Kind: core.CommandContinue, Session: id, Agent: adaptertest.FakeName, Text: "Only the flaky one, please."})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(r.Said, "Continued with Fake Agent in ") {
			t.Errorf("it says %q", r.Said)
		}
		prompt := w.agent.launched[0].Prompt
		for _, want := range []string{"Fake Agent session s\n", "Title: Flaky test\n", "It worked in: " + w.dir, "work log: " + log, "> Next: the flaky one.\n", "Only the flaky one, please."} {
			if !strings.Contains(prompt, want) {
				t.Errorf("the prefix does not say %q:\n%s", want, prompt)
			}
		}
		w.begins(r.Launch.Token, "n2")
		w.pass(6 * time.Second)
		if row := w.want("n2", core.StatusLive, ""); row.Continues != id || row.Name != "Flaky test" {
			t.Errorf("continues %q, name %q", row.Continues, row.Name)
		}
	})
}

// TestAdoption: a thread that a server drives is tied to the launch that began it, by four proofs; with
// one of them missing it is not.
func TestAdoption(t *testing.T) {
	for _, c := range []struct {
		name  string
		world func(w *actWorld, b *core.Begun)
		taken bool
	}{
		{"all four hold", func(*actWorld, *core.Begun) {}, true},
		{"begun long before", func(_ *actWorld, b *core.Begun) { b.At -= 60_000 }, false},
		{"three launches fit", func(w *actWorld, _ *core.Begun) {
			for range 2 {
				if _, err := w.do(core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir, Name: "The job"}); err != nil {
					w.t.Error(err)
				}
			}
		}, false},
		{"begun long after", func(_ *actWorld, b *core.Begun) { b.At += 200_000 }, false},
		{"the launch's process is gone", func(w *actWorld, _ *core.Begun) {
			for _, p := range w.launched {
				w.table.Drop(p.PID)
			}
		}, false},
		{"two threads fit", func(w *actWorld, b *core.Begun) {
			w.agent.begun = append(w.agent.begun, core.Begun{Native: "t2", CWD: b.CWD, At: b.At})
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			acting(t, func(t *testing.T, w *actWorld) {
				r, err := w.do(core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir, Name: "The job"})
				if err != nil {
					t.Fatal(err)
				}
				w.agent.begun = []core.Begun{{Native: "t1", CWD: w.dir, At: core.InstantOf(time.Now())}}
				c.world(w, &w.agent.begun[0])
				var threads []string // last, because from now on a poll may read what was begun
				for _, b := range w.agent.begun {
					threads = append(threads, b.Native)
				}
				w.serves(threads...)
				w.pass(6 * time.Second)
				row := w.row("t1")
				if taken := row.Name == "The job"; taken != c.taken {
					t.Errorf("taken %v, want %v", taken, c.taken)
				}
				list, err := w.e.db.Launches(context.Background(), 1)
				if err != nil || (list[0].Matched == row.ID) != c.taken || c.taken && list[0].Token != r.Launch.Token {
					t.Errorf("%+v, %v", list, err)
				}
			})
		})
	}
}

// serves has a shared process of the agent drive threads.
func (w *actWorld) serves(threads ...string) {
	p := w.proc(300)
	r := adaptertest.FakeRecord{PID: 300, Start: p.Start, Shared: true}
	for _, id := range threads {
		r.Threads = append(r.Threads, adaptertest.FakeThread{Session: id, State: "idle", CWD: w.dir})
	}
	if err := w.fake.Register("server", r); err != nil {
		w.t.Fatal(err)
	}
}
