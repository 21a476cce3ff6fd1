package engine

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
	"tower/core/tmux"
)

// TestRefusals has a row for everything that stands between a click and a signal or a key. In none of
// them is anything signalled, typed, opened or written down as done.
func TestRefusals(t *testing.T) {
	type change = func(*adaptertest.RecordedProc, *adaptertest.FakeRecord)
	end := func(id core.SessionID) core.Command { return core.Command{Kind: core.CommandEnd, Session: id} }
	force := func(id core.SessionID) core.Command {
		return core.Command{Kind: core.CommandEnd, Session: id, Force: true}
	}
	send := func(id core.SessionID) core.Command {
		return core.Command{Kind: core.CommandType, Session: id, Text: "go on"}
	}
	jump := func(id core.SessionID) core.Command { return core.Command{Kind: core.CommandJump, Session: id} }
	resume := func(id core.SessionID) core.Command {
		return core.Command{Kind: core.CommandResume, Session: id}
	}
	record := func(f func(*adaptertest.FakeRecord)) change {
		return func(_ *adaptertest.RecordedProc, r *adaptertest.FakeRecord) { f(r) }
	}
	process := func(f func(*adaptertest.RecordedProc)) change {
		return func(p *adaptertest.RecordedProc, _ *adaptertest.FakeRecord) { f(p) }
	}
	cleared := record(func(r *adaptertest.FakeRecord) { r.Threads[0].Session = "after" }) // and nobody has heard of it
	silent := record(func(r *adaptertest.FakeRecord) { r.Threads = nil })                 // evidence says nothing: the run alone
	cases := []struct {
		name   string
		change []change
		pane   func(*tmux.Pane)
		world  func(*actWorld)
		ask    func(core.SessionID) core.Command
		says   []string
	}{
		{"recycled pid", []change{silent, process(func(p *adaptertest.RecordedProc) { p.Start = 9999 })}, nil, nil, end, []string{"Not ended.", "not the one that was recorded"}},
		{"recycled pid, typed into", []change{silent, process(func(p *adaptertest.RecordedProc) { p.Start = 9999 })}, nil, nil, send, []string{"Not delivered.", "not the one"}},
		{"recycled pid, by force", []change{silent, process(func(p *adaptertest.RecordedProc) { p.Start = 9999 })}, nil, nil, force, []string{"Not ended."}},
		{"unreadable start", []change{silent, process(func(p *adaptertest.RecordedProc) { p.Start = 0 })}, nil, nil, end, []string{"start time cannot be read", "End it in its own window."}},
		{"zombie", []change{silent, process(func(p *adaptertest.RecordedProc) { p.State = 'Z' })}, nil, nil, end, []string{"has ended already"}},
		{"program unreadable", []change{process(func(p *adaptertest.RecordedProc) { p.Hidden = []string{"exe", "args"} }), silent}, nil, nil, end, []string{"cannot be read"}},
		{"another program", []change{process(func(p *adaptertest.RecordedProc) { p.Exe, p.Args = "/usr/bin/vim", []string{"vim"} }), silent}, nil, nil, end, []string{"/usr/bin/vim", "no program of Fake Agent"}},
		{"same name, another folder", []change{process(func(p *adaptertest.RecordedProc) {
			p.Exe, p.Args = "/opt/fake/fake-agent-desktop", []string{"fake-agent"}
		}), silent}, nil, nil, end, []string{"no program of"}},
		{"helper", []change{process(func(p *adaptertest.RecordedProc) { p.Args = []string{"fake-agent", "serve", "--all"} }), silent}, nil, nil, end, []string{"machinery"}},
		{"shared binary", []change{record(func(r *adaptertest.FakeRecord) { r.Shared = true })}, nil, nil, end, []string{"Not ended.", "Nothing was signalled."}},
		{"shared binary, typed into", []change{record(func(r *adaptertest.FakeRecord) { r.Shared = true })}, nil, nil, send, []string{"Not delivered.", "other sessions too"}},
		{"shared binary, jumped to", []change{record(func(r *adaptertest.FakeRecord) { r.Shared = true })}, nil, nil, jump, []string{"No window to jump to.", "other sessions too"}},
		{"shared binary, attached to", []change{record(func(r *adaptertest.FakeRecord) { r.Shared = true })}, nil, nil, func(id core.SessionID) core.Command {
			return core.Command{Kind: core.CommandAttach, Session: id}
		}, []string{"Not attached.", "other sessions too"}},
		{"the process went on with another session", []change{cleared}, nil, nil, end, []string{"Not ended.", "drives another session by now"}},
		{"the process went on with another session, by force", []change{cleared}, nil, nil, force, []string{"drives another session by now"}},
		{"the process went on with another session, typed into", []change{cleared}, nil, nil, send, []string{"Not delivered.", "drives another session by now"}},
		{"the process went on with another session, jumped to", []change{cleared}, nil, nil, jump, []string{"drives another session by now"}},
		{"suspended agent", []change{process(func(p *adaptertest.RecordedProc) { p.State = 'T' })}, nil, nil, end, []string{"suspended", "fg"}},
		{"suspended agent, typed into", []change{process(func(p *adaptertest.RecordedProc) { p.State = 'T' })}, nil, nil, send, []string{"suspended"}},
		{"a shell in front", []change{process(func(p *adaptertest.RecordedProc) { p.TPGID = shellPID })}, nil, nil, send, []string{"Not delivered."}},
		{"another session's pane", nil, func(p *tmux.Pane) { p.PID = 1234 }, nil, send, []string{"Not delivered."}},
		{"another terminal than the pane's", nil, func(p *tmux.Pane) { p.TTY = "/dev/zero" }, nil, send, []string{"Not delivered."}},
		{"copy-mode", nil, func(p *tmux.Pane) { p.InMode = true }, nil, send, []string{"Not delivered.", "copy mode"}},
		{"dead pane", nil, func(p *tmux.Pane) { p.Dead = true }, nil, send, []string{"Not delivered."}},
		{"keys of all panes tied together", nil, func(p *tmux.Pane) { p.Synchronized = true }, nil, send, []string{"Not delivered."}},
		{"waiting on a permission", []change{record(func(r *adaptertest.FakeRecord) {
			r.Threads[0].State, r.Threads[0].Wait = "waiting", core.WaitPermission
		})}, nil, nil, send, []string{"waits on a permission", "would answer it"}},
		{"waiting on a question", []change{record(func(r *adaptertest.FakeRecord) {
			r.Threads[0].State, r.Threads[0].Wait = "waiting", core.WaitQuestion
		})}, nil, func(w *actWorld) { w.pass(6 * time.Second) }, send, []string{"waits on a question"}},
		{"a dialog on its screen", nil, nil, func(w *actWorld) { w.agent.dialog = "Do you trust this folder?" }, send, []string{"A dialog is open", "trust this folder"}},
		{"no input box on its screen", nil, nil, func(w *actWorld) { w.agent.noBox = true }, send, []string{"no input box"}},
		{"a command while it works", []change{record(func(r *adaptertest.FakeRecord) { r.Threads[0].State = "working" })}, nil, nil, func(id core.SessionID) core.Command {
			return core.Command{Kind: core.CommandType, Session: id, Text: "/clear"}
		}, []string{"would run as a command"}},
		{"NUL in the text", nil, nil, nil, func(id core.SessionID) core.Command {
			return core.Command{Kind: core.CommandType, Session: id, Text: "a\x00b"}
		}, []string{"NUL"}},
		{"nothing to type", nil, nil, nil, func(id core.SessionID) core.Command {
			return core.Command{Kind: core.CommandType, Session: id, Text: " \x1b "}
		}, []string{"empty"}},
		{"no window", []change{process(func(p *adaptertest.RecordedProc) { p.Env = nil })}, nil, nil, jump, []string{"No window to jump to."}},
		{"no window to type into", []change{process(func(p *adaptertest.RecordedProc) { p.Env = nil })}, nil, nil, send, []string{"takes no text from outside"}},
		{"no terminal at all", []change{process(func(p *adaptertest.RecordedProc) { p.TTY = 0 })}, nil, nil, jump, []string{"without a terminal"}},
		{"tmux without a client", nil, nil, nil, jump, []string{"no window is attached", "Attach to it, or end it."}},
		{"tmux that hangs", nil, nil, func(w *actWorld) { w.mux.fail = tmux.ErrHung }, send, []string{"Not delivered.", "tmux does not answer"}},
		{"tmux that hangs, jumped to", nil, nil, func(w *actWorld) { w.mux.fail = tmux.ErrHung }, jump, []string{"No window to jump to.", "tmux does not answer"}},
		{"tmux that hangs, attached to", nil, nil, func(w *actWorld) { w.mux.fail = tmux.ErrHung }, func(id core.SessionID) core.Command {
			return core.Command{Kind: core.CommandAttach, Session: id}
		}, []string{"Not attached.", "tmux does not answer"}},
		{"tmux that is gone", nil, nil, func(w *actWorld) { w.mux.fail = tmux.ErrNoServer }, send, []string{"takes no text from outside"}},
		{"attach without a display", nil, nil, func(w *actWorld) {
			w.desk.refuse = &core.Refusal{What: "Not started.", Why: "There is no display.", Hint: "Start the tower in one."}
		}, func(id core.SessionID) core.Command {
			return core.Command{Kind: core.CommandAttach, Session: id}
		}, []string{"Not attached.", "There is no display.", "Run in a terminal: tower attach s"}},
		{"resume of a live one", nil, nil, nil, resume, []string{"Not resumed.", "It is running.", "Jump to it."}},
		{"continue of a live one", nil, nil, nil, func(id core.SessionID) core.Command {
			return core.Command{Kind: core.CommandContinue, Session: id, Agent: adaptertest.FakeName}
		}, []string{"Not continued.", "two agents never work on one thread"}},
		{"unknown session", nil, nil, nil, func(core.SessionID) core.Command { return end("00000000-0000-4000-8000-000000000000") }, []string{"Not found."}},
		{"closeout without a skill", nil, nil, func(w *actWorld) { w.agent.skill = false }, func(id core.SessionID) core.Command {
			return core.Command{Kind: core.CommandCloseout, Session: id}
		}, []string{"Not closed out.", "not installed"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			acting(t, func(t *testing.T, w *actWorld) {
				id := w.lives("s", "idle", c.change...)
				if c.pane != nil {
					c.pane(&w.mux.pane)
				}
				if c.world != nil {
					c.world(w)
				}
				before := w.row("s").Status
				_, err := w.do(c.ask(id))
				w.refused(err, c.says...)
				if n := len(w.sent()); n > 0 {
					t.Errorf("%d signals were sent", n)
				}
				if keys := w.mux.pressed(); len(keys) > 0 {
					t.Errorf("keys were pressed: %q", keys)
				}
				if n := len(w.desk.opened); n > 0 {
					t.Errorf("%d windows were opened", n)
				}
				if after := w.row("s").Status; after != before {
					t.Errorf("status %s became %s", before, after)
				}
				intents, err := w.e.db.Intents(context.Background(), 10)
				if err != nil || len(intents) > 0 {
					t.Errorf("intents %v, %v; a refused command leaves its log line only", intents, err)
				}
				if n := w.e.claims.Len(); n > 0 {
					t.Errorf("%d claims are left", n)
				}
			})
		})
	}
}

// TestOtherBoot: what was recorded before the machine was started anew is never signalled.
func TestOtherBoot(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle")
		su, err := w.e.subject(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.fake.Unregister("a"); err != nil {
			t.Fatal(err)
		}
		su.runs[0].Proc.Boot = "boot-0"
		_, err = w.e.prove(context.Background(), notEnded, &su)
		w.refused(err, "before the machine was started anew")
	})
}

// TestSpareThatBecameASession: its arguments say machinery, and the agent's own record says whose it is.
func TestSpareThatBecameASession(t *testing.T) {
	acting(t, func(t *testing.T, w *actWorld) {
		id := w.lives("s", "idle", func(p *adaptertest.RecordedProc, r *adaptertest.FakeRecord) {
			p.Args = []string{"fake-agent", "serve", "--spare"}
			r.Threads = nil
		})
		su, err := w.e.subject(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.e.prove(context.Background(), noWindow, &su)
		w.refused(err, "machinery")
		spare := core.Process{Boot: boot, PID: agentPID, Start: 5000}
		w.agent.mu.Lock()
		w.agent.seen = []core.Sighting{{Agent: adaptertest.FakeName, Native: "s", Proc: spare, MustGo: []core.Process{spare}, Grade: core.GradeRecord}}
		w.agent.mu.Unlock()
		if _, err = w.e.prove(context.Background(), noWindow, &su); err != nil {
			t.Errorf("not proven although its record names it: %v", err)
		}
		_, err = w.do(core.Command{Kind: core.CommandEnd, Session: id}) // no process of it takes a signal
		w.refused(err, "Not ended.", "No process is its own.")
	})
}

// over is a session that ended, with its folder there.
func (w *actWorld) over(native string) core.SessionID {
	id := w.lives(native, "idle")
	if err := w.fake.Unregister("a"); err != nil {
		w.t.Fatal(err)
	}
	w.table.Drop(agentPID, shellPID)
	w.pass(6 * time.Second)
	w.want(native, core.StatusLost, "process gone")
	return id
}

// TestResumeRefusals: a resume that cannot be proven starts nothing and changes nothing that is stored.
func TestResumeRefusals(t *testing.T) {
	for _, c := range []struct {
		name  string
		world func(*actWorld)
		cmd   core.Command
		says  []string
	}{
		{"missing cwd", func(w *actWorld) { os.RemoveAll(w.dir) }, core.Command{}, []string{"Not resumed.", "is gone", "only from its own folder"}},
		{"missing cwd inside a repository", func(w *actWorld) {
			os.MkdirAll(filepath.Join(filepath.Dir(w.dir), ".git"), 0o755)
			os.RemoveAll(w.dir)
		}, core.Command{}, []string{"is gone", "continue the work in"}},
		{"cwd became a file", func(w *actWorld) {
			os.RemoveAll(w.dir)
			os.WriteFile(w.dir, nil, 0o600)
		}, core.Command{}, []string{"is a file, not a folder"}},
		{"transcript without that id", func(w *actWorld) {
			w.agent.holds = &core.Refusal{What: "Not resumed.", Why: "Its transcript is another session's."}
		}, core.Command{}, []string{"another session's"}},
		{"live elsewhere", func(w *actWorld) {
			p := w.proc(777)
			w.fake.Register("elsewhere", adaptertest.FakeRecord{PID: 777, Start: p.Start, Threads: []adaptertest.FakeThread{{Session: "s", State: "idle"}}})
		}, core.Command{}, []string{"running in process 777", "Jump to it."}},
		{"a model that is an option", nil, core.Command{Model: "--yolo"}, []string{"begin with a dash"}},
		{"another folder although its own is there", nil, core.Command{CWD: "/"}, []string{"still there"}},
		{"no display, no terminal", func(w *actWorld) {
			w.e.o.Tmux = nil
			w.desk.refuse = &core.Refusal{What: "Not started.", Why: "There is no display.", Hint: "Install tmux."}
		}, core.Command{}, []string{"Not resumed.", "There is no display.", "Install tmux."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			acting(t, func(t *testing.T, w *actWorld) {
				id := w.over("s")
				if c.world != nil {
					c.world(w)
				}
				before := *w.row("s").Session
				cmd := c.cmd
				cmd.Kind, cmd.Session = core.CommandResume, id
				_, err := w.do(cmd)
				w.refused(err, c.says...)
				if c.name != "live elsewhere" && before.Status != w.row("s").Status {
					t.Error("the session changed")
				}
				if len(w.desk.opened)+len(w.mux.started) > 0 {
					t.Error("something was opened")
				}
				if n := files(t, w.home.Launches()); n > 0 {
					t.Errorf("%d launch files are left", n)
				}
				if n := w.e.claims.Len(); n > 0 {
					t.Errorf("%d claims are left", n)
				}
			})
		})
	}
}

// TestLaunchRefusals: what cannot be launched says what to do.
func TestLaunchRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		cmd  func(w *actWorld) core.Command
		says []string
	}{
		{"agent not known", func(w *actWorld) core.Command { return core.Command{Agent: "nobody", CWD: w.dir} }, []string{`no agent "nobody"`, "Known: fake."}},
		{"no folder", func(w *actWorld) core.Command { return core.Command{Agent: "fake"} }, []string{"No folder"}},
		{"relative folder", func(w *actWorld) core.Command { return core.Command{Agent: "fake", CWD: "code"} }, []string{"absolute"}},
		{"folder missing", func(w *actWorld) core.Command { return core.Command{Agent: "fake", CWD: w.dir + "/none"} }, []string{"does not exist"}},
		{"folder is a file", func(w *actWorld) core.Command {
			f := filepath.Join(w.dir, "file")
			os.WriteFile(f, nil, 0o600)
			return core.Command{Agent: "fake", CWD: f}
		}, []string{"is a file"}},
		{"NUL in the prompt", func(w *actWorld) core.Command { return core.Command{Agent: "fake", CWD: w.dir, Text: "a\x00"} }, []string{"NUL"}},
		{"no UTF-8", func(w *actWorld) core.Command { return core.Command{Agent: "fake", CWD: w.dir, Text: "\xff"} }, []string{"UTF-8"}},
		{"too long", func(w *actWorld) core.Command {
			return core.Command{Agent: "fake", CWD: w.dir, Text: string(make([]byte, core.MaxPrompt+1))}
		}, []string{"more than"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			acting(t, func(t *testing.T, w *actWorld) {
				cmd := c.cmd(w)
				cmd.Kind = core.CommandLaunch
				_, err := w.do(cmd)
				w.refused(err, append(c.says, "Not launched.")...)
				if len(w.desk.opened) > 0 || files(t, w.home.Launches()) > 0 {
					t.Error("something was begun")
				}
			})
		})
	}
}
