package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
	"tower/core/launch"
	"tower/core/term"
	"tower/core/tmux"
)

func TestEnd(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		r, err := w.do(core.Command{Kind: core.CommandEnd, Session: id})
		if err != nil {
			t.Fatal(err)
		}
		if r.End == nil || !r.End.Ended || r.End.WindowClosed == nil || !*r.End.WindowClosed {
			t.Errorf("result %+v %+v", r, r.End)
		}
		if got := w.sent(); len(got) != 1 || got[0] != syscall.SIGTERM {
			t.Errorf("signals %v, want one SIGTERM", got)
		}
		w.want("s", core.StatusKilled, "ended by you")
		if w.row("s").Busy != "" || w.e.claims.Len() != 0 {
			t.Error("the claim is still there")
		}
		w.pass(20 * time.Second) // polls do not make it anything else
		w.want("s", core.StatusKilled, "ended by you")
		intents, err := w.e.db.Intents(context.Background(), 5)
		if err != nil || len(intents) != 1 || intents[0].Outcome != core.IntentDone || intents[0].AskedBy != "test" {
			t.Errorf("intents %+v, %v", intents, err)
		}
		w.stop() // nor does a restart
		w.start()
		w.pass(20 * time.Second)
		w.want("s", core.StatusKilled, "ended by you")
	})
}

// TestEndOfADeafOne: what did not end is live again, and only force is stronger.
func TestEndOfADeafOne(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		w.deaf = true
		began := time.Now()
		r, err := w.do(core.Command{Kind: core.CommandEnd, Session: id})
		if err != nil || r.End == nil || r.End.Ended || !strings.Contains(r.Said, "by force") {
			t.Fatalf("%+v, %v", r, err)
		}
		if took := time.Since(began); took < toDie || took > toDie+time.Second {
			t.Errorf("took %v, want about %v", took, toDie)
		}
		w.pass(6 * time.Second)
		w.want("s", core.StatusLive, "")
		if w.e.claims.Len() != 0 {
			t.Error("the claim is still there")
		}
		r, err = w.do(core.Command{Kind: core.CommandEnd, Session: id, Force: true})
		if err != nil || !r.End.Ended {
			t.Fatalf("%+v, %v", r, err)
		}
		if got := w.sent(); len(got) != 2 || got[1] != syscall.SIGKILL {
			t.Errorf("signals %v", got)
		}
		w.want("s", core.StatusKilled, "ended by you")
	})
}

// TestEndIsWrittenFirst: when the ledger takes nothing, nothing is signalled, and the row is as it was.
func TestEndIsWrittenFirst(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		w.sql("CREATE TRIGGER full BEFORE INSERT ON intents BEGIN SELECT abs(-9223372036854775808); END")
		_, err := w.do(core.Command{Kind: core.CommandEnd, Session: id})
		if err == nil {
			t.Fatal("ended without being written down")
		}
		if n := len(w.sent()); n != 0 {
			t.Errorf("%d signals", n)
		}
		w.pass(6 * time.Second)
		w.want("s", core.StatusLive, "")
	})
}

// TestProofIsMadeAgain: a process that became another between the proof and the signal gets none.
func TestProofIsMadeAgain(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		table := w.e.o.Table
		reads := 0
		w.e.o.Table = func() (core.Table, error) {
			if reads++; reads == 2 { // after the kill was written
				w.table.Put(adaptertest.RecordedProc{Proc: core.Proc{PID: agentPID, PPID: 1, Start: 9999}, Exe: "/opt/fake/fake-agent", Args: []string{"fake-agent"}})
			}
			return table()
		}
		_, err := w.do(core.Command{Kind: core.CommandEnd, Session: id})
		if err == nil {
			t.Fatal("not refused")
		}
		if n := len(w.sent()); n != 0 {
			t.Errorf("%d signals", n)
		}
	})
}

// TestDoubleClick: two ENDs at the same time are one END and one refusal.
func TestDoubleClick(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		w.deaf = true // so that the first is still at it
		var wg sync.WaitGroup
		results := make([]core.Result, 2)
		errs := make([]error, 2)
		for i := range 2 {
			wg.Go(func() { results[i], errs[i] = w.do(core.Command{Kind: core.CommandEnd, Session: id}) })
			w.pass(100 * time.Millisecond)
			if i == 0 && w.row("s").Busy != "ending" {
				t.Errorf("the row is %q, want ending", w.row("s").Busy)
			}
		}
		wg.Wait()
		if errs[0] != nil {
			t.Error(errs[0])
		}
		w.refused(errs[1], "Not ended.")
		if n := len(w.sent()); n != 1 {
			t.Errorf("%d signals, want 1", n)
		}
	})
}

// TestKillOfAFormerTower: a tower that died between writing and signalling leaves a session that reads
// as ended and runs; the next one takes that back.
func TestKillOfAFormerTower(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		err := w.e.post(context.Background(), func(ctx context.Context) error {
			s := w.e.picture.Session(id)
			if err := w.e.take(core.Event{Kind: core.EventKill, At: core.InstantOf(time.Now()), Agent: s.Agent, Native: s.Native}); err != nil {
				return err
			}
			return w.e.commit(ctx)
		})
		if err != nil {
			t.Fatal(err)
		}
		w.stop()
		w.start()
		w.pass(5 * time.Second)
		w.want("s", core.StatusKilled, "ended by you") // it may still be dying
		w.pass(15 * time.Second)
		w.want("s", core.StatusLive, "")
	})
}

func TestJump(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "working")
		w.table.Put(adaptertest.RecordedProc{Proc: core.Proc{PID: 900, PPID: 899, Start: 9000, State: 'S'}, Exe: "/usr/bin/tmux"})
		w.mux.clients = []tmux.Client{
			{Name: "/dev/pts/1", PID: 900, Session: "$1", Activity: 5},
			{Name: "control", PID: 901, Session: "$1", Activity: 9, Control: true},
			{Name: "/dev/pts/2", PID: 902, Session: "$2", Activity: 8},
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
