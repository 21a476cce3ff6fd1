package engine

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
	"tower/core/claim"
	"tower/core/launch"
)

var aLaunch = core.Command{Kind: core.CommandLaunch, Agent: adaptertest.FakeName, Name: "The job"}

// launches launches and returns the token and the process.
func (w *actWorld) launches() (string, core.Process) {
	w.t.Helper()
	c := aLaunch
	c.CWD = w.dir
	r, err := w.do(c)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.Launch.Token, r.Launch.Proc
}

// child puts a shell and an agent in it below a process, with the environment inherited.
func (w *actWorld) child(below core.Process, token string) core.Process {
	w.table.Put(
		adaptertest.RecordedProc{Proc: core.Proc{PID: 700, PPID: below.PID, Start: 7000, State: 'S'}, Exe: "/bin/sh", Args: []string{"sh", "-c", "fake-agent"}},
		adaptertest.RecordedProc{Proc: core.Proc{PID: 701, PPID: 700, Start: 7010, State: 'S'}, Exe: "/opt/fake/fake-agent", Args: []string{"fake-agent"},
			Env: map[string]string{core.EnvLaunch: token}})
	return core.Process{Boot: boot, PID: 701, Start: 7010}
}

// TestChildOfALaunch: an agent that a launched one starts inherits its token, and the token is not its own,
// though it be of the same agent and seen first.
func TestChildOfALaunch(t *testing.T) {
	for _, by := range []string{"evidence", "hook"} {
		t.Run(by, func(t *testing.T) {
			acting(t, func(t *testing.T, w *actWorld) {
				token, p := w.launches()
				c := w.child(p, token)
				switch by {
				case "evidence":
					err := w.fake.Register("child", adaptertest.FakeRecord{PID: c.PID, Start: c.Start, Threads: []adaptertest.FakeThread{{Session: "child", State: "idle"}}})
					if err != nil {
						t.Fatal(err)
					}
				case "hook":
					w.hook("start", c, adaptertest.FakeHook{Session: "child", CWD: w.dir}, func(env *core.Envelope) {
						env.LaunchToken = &token
						env.Ancestors = append(env.Ancestors,
							core.Ancestor{PID: 700, PPID: p.PID, Created: 7000, Exe: "/bin/sh", Args: []string{"sh"}},
							core.Ancestor{PID: p.PID, PPID: 1, Created: p.Start, Exe: "/opt/fake/fake-agent", Args: []string{"fake-agent"}})
					})
				}
				w.pass(6 * time.Second)
				if row := w.want("child", core.StatusLive, ""); row.Name != "" || w.runs("child")[0].LaunchToken != "" {
					t.Errorf("the child took the launch: name %q, runs %+v", row.Name, w.runs("child"))
				}
				w.begins(token, "n1")
				w.pass(6 * time.Second)
				if row := w.want("n1", core.StatusLive, ""); row.Name != "The job" || w.runs("n1")[0].LaunchToken != token {
					t.Errorf("the launched one lost it: name %q, runs %+v", row.Name, w.runs("n1"))
				}
			})
		})
	}
}

// TestInheritedToken: a process that is not below the launch carries a token because somebody handed it on. It
// binds while nobody knows the launch's own process, and never against what is known.
func TestInheritedToken(t *testing.T) {
	for _, told := range []bool{true, false} {
		acting(t, func(t *testing.T, w *actWorld) {
			token, _ := w.launches()
			if !told { // as if the report were lost
				if err := w.e.post(context.Background(), func(context.Context) error {
					u := w.e.launches[token]
					u.Proc = core.Process{}
					w.e.note(u)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			w.hook("start", w.proc(50), adaptertest.FakeHook{Session: "x", CWD: w.dir}, func(env *core.Envelope) { env.LaunchToken = &token })
			w.pass(6 * time.Second)
			if bound := w.row("x").Name == "The job"; bound == told {
				t.Errorf("its process known: %v; bound: %v", told, bound)
			}
		})
	}
}

// TestLaunchAfterARestart: whose launch a running session is stays known to the next tower.
func TestLaunchAfterARestart(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		token, p := w.launches()
		w.begins(token, "n1")
		w.pass(6 * time.Second)
		row := w.want("n1", core.StatusLive, "")
		w.stop()
		w.start()
		w.pass(6 * time.Second)
		su, err := w.e.subject(context.Background(), row.ID)
		if err != nil || su.tied.Token != token {
			t.Errorf("tied to %+v, %v", su.tied, err)
		}
		if got, _ := w.e.launched.Load(p); got != token {
			t.Errorf("process %v is launch %v", p, got)
		}
		if len(w.e.Snapshot().Launches) != 0 {
			t.Error("a launch that led to its session is under way again")
		}
	})
}

// TestResumeAfterARestart: a resume that was under way when the tower ended is not begun a second time.
func TestResumeAfterARestart(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.over("s")
		r, err := w.do(core.Command{Kind: core.CommandResume, Session: id})
		if err != nil {
			t.Fatal(err)
		}
		w.stop()
		w.start()
		w.pass(time.Second)
		_, err = w.do(core.Command{Kind: core.CommandResume, Session: id})
		w.refused(err, "Not resumed.", "Another action is under way", "resuming")
		w.begins(r.Launch.Token, "s")
		w.pass(6 * time.Second)
		w.want("s", core.StatusLive, "")
		if w.e.claims.Len() != 0 {
			t.Error("the claim is still there")
		}
	})
}

// TestResumeIsProvenUnderTheClaim: a session that came to life between the check and the claim is not resumed.
func TestResumeIsProvenUnderTheClaim(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.over("s")
		w.e.claims.Watch(func() { // the claim is taken: somebody was faster
			if _, held := w.e.claims.Get(claim.Session(id)); held {
				p := w.proc(777)
				w.fake.Register("elsewhere", adaptertest.FakeRecord{PID: 777, Start: p.Start, Threads: []adaptertest.FakeThread{{Session: "s", State: "idle"}}})
			}
		})
		_, err := w.do(core.Command{Kind: core.CommandResume, Session: id})
		w.refused(err, "Not resumed.", "running in process 777")
		if len(w.desk.opened) > 0 || files(t, w.home.Launches()) > 0 || w.e.claims.Len() > 0 {
			t.Error("something was begun")
		}
	})
}

// TestLateWindow: a window that comes after its launch was given up may begin, unless the session runs by now
// or is being taken up by another.
func TestLateWindow(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.over("s")
		w.desk.silent = true
		_, err := w.do(core.Command{Kind: core.CommandResume, Session: id})
		w.refused(err, "Not resumed.", "opened no window")
		o, err := launch.Read(w.desk.opened[0].Argv[2])
		if err != nil {
			t.Fatal(err)
		}
		asks := func() error {
			return w.e.post(context.Background(), func(context.Context) error {
				if u := w.e.launches[o.Token]; u == nil || w.e.overtaken(u) {
					return fs.ErrNotExist
				}
				return nil
			})
		}
		if err := asks(); err != nil {
			t.Errorf("a late window is not welcome: %v", err)
		}
		w.desk.silent = false
		r, err := w.do(core.Command{Kind: core.CommandResume, Session: id})
		if err != nil {
			t.Fatal(err)
		}
		if err := asks(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("while another launch resumes it: %v", err)
		}
		w.begins(r.Launch.Token, "s")
		w.pass(6 * time.Second)
		w.want("s", core.StatusLive, "")
		if _, err := w.e.LoginEnvironment(context.Background(), o.Token, 1); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("while it runs: %v", err)
		}
	})
}

// TestEndWhileStarting: a launch that a person ended did not fail.
func TestEndWhileStarting(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		w.agent.preset = "n1"
		w.launches()
		row := w.want("n1", core.StatusStarting, "")
		r, err := w.do(core.Command{Kind: core.CommandEnd, Session: row.ID})
		if err != nil || !r.End.Ended {
			t.Fatalf("%+v, %v", r, err)
		}
		w.pass(6 * time.Second)
		w.want("n1", core.StatusKilled, "ended by you")
		if l := w.e.Snapshot().Launches; len(l) != 0 {
			t.Errorf("told as a failure: %+v", l)
		}
		list, err := w.e.db.Launches(context.Background(), 1)
		if err != nil || list[0].EndedAt == 0 || list[0].Failed != "" {
			t.Errorf("%+v, %v", list, err)
		}
		if w.e.claims.Len() != 0 {
			t.Error("the claim is still there")
		}
	})
}

// TestStopAfterALaunch: the window that stays open as long as the session keeps no tower from ending.
func TestStopAfterALaunch(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		w.desk.stays = true
		w.launches()
		began := time.Now()
		w.stop()
		if took := time.Since(began); took > time.Second {
			t.Errorf("the end took %v", took)
		}
	})
}

// TestRefusedWrites: what the ledger does not take is not begun, and the record of it does not stay open.
func TestRefusedWrites(t *testing.T) {
	for _, c := range []struct {
		table, name string
		do          func(w *actWorld) error
		left        int // launches shown
	}{
		{"intents", "end", func(w *actWorld) error {
			_, err := w.do(core.Command{Kind: core.CommandEnd, Session: w.row("s").ID})
			return err
		}, 0},
		{"intents", "end by the agent's own command", func(w *actWorld) error {
			w.agent.stop = &core.Launch{Argv: []string{"/bin/false"}}
			w.fake.Register("a", adaptertest.FakeRecord{PID: agentPID, Start: 5000, Shared: true, Threads: []adaptertest.FakeThread{{Session: "s", State: "idle"}}})
			_, err := w.do(core.Command{Kind: core.CommandEnd, Session: w.row("s").ID})
			return err
		}, 0},
		{"intents", "type", func(w *actWorld) error {
			_, err := w.do(core.Command{Kind: core.CommandType, Session: w.row("s").ID, Text: "go on"})
			return err
		}, 0},
		{"launches", "launch", func(w *actWorld) error {
			c := aLaunch
			c.CWD = w.dir
			_, err := w.do(c)
			return err
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			acting(t, func(t *testing.T, w *actWorld) {
				w.lives("s", "idle")
				w.sql("CREATE TRIGGER full BEFORE INSERT ON " + c.table + " BEGIN SELECT abs(-9223372036854775808); END")
				if err := c.do(w); err == nil {
					t.Fatal("done without being written down")
				}
				if len(w.sent()) > 0 || len(w.mux.pressed()) > 0 || len(w.desk.opened) > 0 || w.e.claims.Len() > 0 {
					t.Errorf("signals %v, keys %q, windows %d, claims %d", w.sent(), w.mux.pressed(), len(w.desk.opened), w.e.claims.Len())
				}
				w.sql("DROP TRIGGER full")
				w.pass(6 * time.Second)
				w.want("s", core.StatusLive, "")
				intents, err := w.e.db.Intents(context.Background(), 5)
				if err != nil || len(intents) != 1 || intents[0].Outcome != core.IntentFailed {
					t.Errorf("intents %+v, %v", intents, err)
				}
				l := w.e.Snapshot().Launches
				if len(l) != c.left || c.left == 1 && l[0].State != core.LaunchFailed {
					t.Errorf("launches %+v", l)
				}
			})
		})
	}
}
