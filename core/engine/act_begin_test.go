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
	"tower/core/launch"
	"tower/core/term"
	"tower/core/tmux"
)

// begins makes the agent that was launched register its session.
func (w *actWorld) begins(token, native string) {
	w.t.Helper()
	w.mu.Lock()
	p := w.launched[token]
	w.mu.Unlock()
	err := w.fake.Register(token, adaptertest.FakeRecord{PID: p.PID, Start: p.Start, Threads: []adaptertest.FakeThread{{Session: native, State: "idle", CWD: w.dir}}})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestLaunch(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		text := "Do it: \"quotes\" `ticks` $(sub) %1 #{x}; 👩‍🚀\nsecond line\t-end"
		r, err := w.do(core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir, Name: "The job", Model: "m1", Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if r.Launch == nil || r.Launch.Proc.PID == 0 || r.Launch.Terminal != "xterm" {
			t.Fatalf("%+v", r.Launch)
		}
		s := w.e.Snapshot()
		if len(s.Launches) != 1 || s.Launches[0].State != core.LaunchStarted || s.Launches[0].Name != "The job" {
			t.Errorf("launches %+v", s.Launches)
		}
		if w.e.claims.Len() != 1 {
			t.Errorf("%d claims, want 1 until the session is known", w.e.claims.Len())
		}
		spec := w.desk.opened[0]
		if spec.Argv[0] != "/opt/tower" || spec.Argv[1] != "exec" || len(spec.Argv) != 3 {
			t.Errorf("argv %q", spec.Argv)
		}
		if strings.Contains(strings.Join(spec.Argv, " "), "quotes") {
			t.Error("the prompt is in the argument list")
		}
		o, err := launch.Read(spec.Argv[2])
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(o.Prompt); err != nil || string(b) != text || o.PromptAt != 1 {
			t.Errorf("prompt file %q, %v, at %d of %q", b, err, o.PromptAt, o.Argv)
		}
		w.begins(r.Launch.Token, "n1")
		w.pass(6 * time.Second)
		row := w.want("n1", core.StatusLive, "")
		if row.Name != "The job" {
			t.Errorf("name %q", row.Name)
		}
		if got := w.runs("n1"); len(got) != 1 || got[0].LaunchToken != r.Launch.Token {
			t.Errorf("runs %+v", got)
		}
		if len(w.e.Snapshot().Launches) != 0 || w.e.claims.Len() != 0 {
			t.Error("the launch is still under way")
		}
		list, err := w.e.db.Launches(context.Background(), 1)
		if err != nil || len(list) != 1 || list[0].Matched != row.ID || list[0].AskedBy != "test" || list[0].Home != core.HomeWindow {
			t.Errorf("launches kept: %+v, %v", list, err)
		}
	})
}

// TestLaunchWithAKnownID: the row is there, starting, before the agent says a word.
func TestLaunchWithAKnownID(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		w.agent.preset = "n1"
		r, err := w.do(core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir, Name: "The job"})
		if err != nil {
			t.Fatal(err)
		}
		row := w.want("n1", core.StatusStarting, "")
		if row.Name != "The job" || row.CWD != w.dir || r.Launch.Session != row.ID {
			t.Errorf("%+v, %+v", row.Session, r.Launch)
		}
		w.begins(r.Launch.Token, "n1")
		w.pass(6 * time.Second)
		w.want("n1", core.StatusLive, "")
		if got := w.runs("n1"); len(got) != 1 {
			t.Errorf("runs %+v", got)
		}
	})
}

// TestLaunchInTmux: where there is no window to see, the answer says how to.
func TestLaunchInTmux(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		r, err := w.do(core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir, Terminal: "tmux"})
		if err != nil || !strings.Contains(r.Said, "in tmux (pid ") || !strings.Contains(r.Said, "Attach shows it.") {
			t.Errorf("Do = %q, %v", r.Said, err)
		}
	})
}

// TestLaunchThatDies: its end is seen and told with how long it ran, and in tmux with its last lines.
func TestLaunchThatDies(t *testing.T) {
	for _, home := range []string{core.HomeWindow, core.HomeTmux} {
		t.Run(home, func(t *testing.T) {
			acting(t, func(t *testing.T, w *actWorld) {
				w.e.o.Config.LaunchHome = home
				w.agent.preset = "n1"
				dies := func(argv []string) {
					p := w.becomes(argv)
					time.Sleep(800 * time.Millisecond)
					w.table.Drop(p.PID)
					wake(w.e.wakes.poll) // as the kernel would
				}
				w.desk.report = func(s term.Spec) { dies(s.Argv) }
				w.mux.report = func(s tmux.Start) { dies(s.Argv) }
				_, err := w.do(core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir, Name: "The job"})
				w.refused(err, "Not launched.", "It ended after 0.")
				w.want("n1", core.StatusEnded, core.ReasonLaunchFailed)
				w.pass(time.Second)
				l := w.e.Snapshot().Launches
				if len(l) != 1 || l[0].State != core.LaunchFailed || !strings.Contains(l[0].Text, "ended after") {
					t.Fatalf("%+v", l)
				}
				if home == core.HomeTmux && strings.Join(l[0].Lines, "|") != "error: unknown model|bye" {
					t.Errorf("lines %q", l[0].Lines)
				}
				if w.e.claims.Len() != 0 {
					t.Error("the claim is still there")
				}
				w.pass(failedStay + 10*time.Second)
				if l := w.e.Snapshot().Launches; len(l) != 0 {
					t.Errorf("still shown: %+v", l)
				}
			})
		})
	}
}

// TestLaunchFails: the launcher's own sentence, a terminal that fails and one that never comes.
func TestLaunchFails(t *testing.T) {
	for _, c := range []struct {
		name  string
		world func(*actWorld)
		says  []string
	}{
		{"launcher", func(w *actWorld) {
			w.desk.report = func(s term.Spec) {
				o, _ := launch.Read(s.Argv[2])
				w.reports(launch.Report{Token: o.Token}, "The folder is gone.")
			}
		}, []string{"The folder is gone."}},
		{"terminal", func(w *actWorld) { w.desk.failing = os.ErrPermission }, []string{"xterm opened no window"}},
		{"no window", func(w *actWorld) { w.desk.silent = true }, []string{"xterm opened no window within 15 s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			acting(t, func(t *testing.T, w *actWorld) {
				c.world(w)
				_, err := w.do(core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir})
				w.refused(err, append(c.says, "Not launched.")...)
				if w.e.claims.Len() != 0 {
					t.Error("the claim is still there")
				}
				intents, err := w.e.db.Intents(context.Background(), 1)
				if err != nil || len(intents) != 1 || intents[0].Outcome != core.IntentFailed {
					t.Errorf("intents %+v, %v", intents, err)
				}
			})
		})
	}
}

// TestSlowTerminal: a window that takes seven seconds holds up neither the drain nor the poll.
func TestSlowTerminal(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		w.desk.slow = 7 * time.Second
		done := make(chan error, 1)
		go func() {
			_, err := w.do(core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir})
			done <- err
		}()
		w.pass(time.Second)
		p := w.proc(50)
		w.hook("start", p, adaptertest.FakeHook{Session: "other", CWD: w.dir})
		w.pass(2 * time.Second)
		w.want("other", core.StatusLive, "")
		w.table.Drop(50)
		w.pass(6 * time.Second)
		w.want("other", core.StatusLost, "process gone")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestBlockedInADialog: a launch whose process lives without a session is said to be stopped by what the
// agent's own records say it asks; nothing is typed, and it is live once it was answered.
func TestBlockedInADialog(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		w.agent.dialogs = []string{"whether this folder is trusted"}
		r, err := w.do(core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir})
		if err != nil {
			t.Fatal(err)
		}
		w.pass(10 * time.Second)
		l := w.e.Snapshot().Launches
		if len(l) != 1 || l[0].State != core.LaunchBlocked || !strings.Contains(l[0].Text, "whether this folder is trusted") {
			t.Fatalf("%+v", l)
		}
		w.pass(3 * time.Minute) // the waiting ends, the launch does not
		if l = w.e.Snapshot().Launches; len(l) != 1 || l[0].State != core.LaunchBlocked {
			t.Fatalf("%+v", l)
		}
		if w.e.claims.Len() != 0 {
			t.Error("a claim outlives the time-out")
		}
		w.begins(r.Launch.Token, "late")
		w.pass(6 * time.Second)
		row := w.want("late", core.StatusLive, "")
		if got := w.runs("late"); len(got) != 1 || got[0].LaunchToken != r.Launch.Token {
			t.Errorf("a later token does not bind: %+v of %s", got, row.ID)
		}
		if len(w.mux.pressed()) != 0 {
			t.Error("keys were pressed")
		}
	})
}

// TestRestartInMidLaunch: the tower ends while the window opens; the next one takes the session over.
func TestRestartInMidLaunch(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		w.desk.silent = true
		ctx, leave := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			w.e.Do(ctx, core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir, Name: "The job", By: "test"})
			close(done)
		}()
		w.pass(time.Second)
		leave()
		<-done
		argv := w.desk.opened[0].Argv
		w.stop()
		p := w.becomes(argv)
		w.start()
		o, err := launch.Read(argv[2])
		if err != nil {
			t.Fatal(err)
		}
		w.begins(o.Token, "n1")
		w.pass(12 * time.Second)
		row := w.want("n1", core.StatusLive, "")
		if row.Name != "The job" || w.runs("n1")[0].Proc != p || w.runs("n1")[0].LaunchToken != o.Token {
			t.Errorf("%+v, %+v", row.Session, w.runs("n1"))
		}
		intents, err := w.e.db.Intents(context.Background(), 1)
		if err != nil || len(intents) != 1 || intents[0].Outcome != core.IntentInterrupted {
			t.Errorf("intents %+v, %v", intents, err)
		}
	})
}

// TestLongPrompt: what one argument cannot hold is in a file, and the session is told so.
func TestLongPrompt(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		text := strings.Repeat("x", 200_000)
		r, err := w.do(core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, CWD: w.dir, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Launch.Cautions) == 0 || !strings.Contains(r.Said, "200000 bytes") {
			t.Errorf("%+v", r)
		}
		o, err := launch.Read(w.desk.opened[0].Argv[2])
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(w.home.Launches(), r.Launch.Token+".prompt")
		b, err := os.ReadFile(file)
		if err != nil || string(b) != text || o.PromptAt != -1 || !strings.Contains(o.Argv[1], file) {
			t.Errorf("file of %d bytes, %v; argv %.200q", len(b), err, o.Argv)
		}
	})
}
