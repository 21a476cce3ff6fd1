package live

import (
	"slices"
	"testing"

	"tower/core"
)

func id(native string) core.SessionID { return core.NewSessionID(agent, native) }

func TestOneSessionTwoRuns(t *testing.T) {
	w := in(t, core.StatusEnded)
	o := w.do(core.EventStart, func(ev *core.Event) { ev.Proc, ev.Alive, ev.Source = second, true, "resume" })
	if len(o.Runs) != 1 || o.Runs[0].Proc != second || w.p.Len() != 1 || w.status() != core.StatusLive {
		t.Fatalf("resume wrote %+v, %d sessions, status %s", o.Runs, w.p.Len(), w.status())
	}
	if s := w.p.Session(id(me)); s.EndedAt != 0 || s.EndReason != "" {
		t.Errorf("a live session kept its end: %v %q", s.EndedAt, s.EndReason)
	}
}

// END can come between an agent's start and the hook that tells of it. What is told late of the process
// that is dying makes nothing live, and the reason stays that of END.
func TestLateStartOfAKilledOne(t *testing.T) {
	for _, alive := range []bool{true, false} {
		w := in(t, core.StatusStarting)
		w.do(core.EventLaunched, func(ev *core.Event) { ev.Proc, ev.Alive = first, true })
		w.do(core.EventKill, func(ev *core.Event) { ev.Proc = first })
		if !alive {
			w.do(core.EventGone, func(ev *core.Event) { ev.Proc = first })
		}
		w.ev.At++
		w.do(core.EventStart, func(ev *core.Event) { ev.Proc, ev.Alive, ev.Source = first, alive, "resume" })
		w.do(core.EventEnd, func(ev *core.Event) { ev.Proc, ev.Reason = first, "other" })
		if w.status() != core.StatusKilled {
			t.Errorf("alive %v: status %s, want killed", alive, w.status())
		}
		w.do(core.EventStart, func(ev *core.Event) { ev.Proc, ev.Alive, ev.Source = second, true, "resume" })
		if w.status() != core.StatusLive {
			t.Errorf("alive %v: status %s after a resume, want live", alive, w.status())
		}
	}
}

func TestClearMakesASecondRowAndLinksIt(t *testing.T) {
	for name, told := range map[string]bool{"end told": true, "end never told": false} {
		t.Run(name, func(t *testing.T) {
			w := in(t, core.StatusLive)
			if told {
				w.do(core.EventEnd, func(ev *core.Event) { ev.Proc, ev.Alive, ev.Reason = first, true, "clear" })
			}
			w.do(core.EventStart, func(ev *core.Event) { ev.Native, ev.Proc, ev.Alive, ev.Source = other, first, true, "clear" })
			a, b := w.p.Session(id(me)), w.p.Session(id(other))
			if a.Status != core.StatusEnded || a.EndReason != "clear" || b.Status != core.StatusLive || b.Follows != a.ID {
				t.Errorf("first %s(%s), second %s following %q", a.Status, a.EndReason, b.Status, b.Follows)
			}
		})
	}
}

// Between the end that /clear tells and the start of the next session, evidence may already show it.
func TestClearSeenBeforeItsStart(t *testing.T) {
	w := in(t, core.StatusLive)
	w.do(core.EventEnd, func(ev *core.Event) { ev.Proc, ev.Alive, ev.Reason = first, true, "clear" })
	w.do(core.EventSeen, func(ev *core.Event) { ev.Native, ev.Sighting.Native = other, other })
	w.do(core.EventStart, func(ev *core.Event) { ev.Native, ev.Proc, ev.Alive, ev.Source = other, first, true, "clear" })
	if a, b := w.p.Session(id(me)), w.p.Session(id(other)); b.Follows != a.ID || a.EndReason != "clear" {
		t.Errorf("first ended(%s), second follows %q", a.EndReason, b.Follows)
	}
}

// A late event of a session that was cleared must not take the process back.
func TestLateStopOfTheReplacedSession(t *testing.T) {
	w := in(t, core.StatusLive)
	w.do(core.EventStart, func(ev *core.Event) { ev.Native, ev.Proc, ev.Alive, ev.Source = other, first, true, "clear" })
	w.do(core.EventStop, func(ev *core.Event) { ev.Proc, ev.Alive = first, true })
	if a, b := w.p.Session(id(me)), w.p.Session(id(other)); a.Status != core.StatusEnded || b.Status != core.StatusLive {
		t.Errorf("after a late stop: first %s, second %s", a.Status, b.Status)
	}
}

func TestSwitchedWithoutTelling(t *testing.T) {
	w := in(t, core.StatusLive)
	w.do(core.EventSeen, func(ev *core.Event) { ev.Native, ev.Sighting.Native = other, other })
	a, b := w.p.Session(id(me)), w.p.Session(id(other))
	if a.Status != core.StatusEnded || a.EndReason != reasonReplaced || b.Status != core.StatusLive || b.Follows != a.ID {
		t.Errorf("first %s(%s), second %s following %q", a.Status, a.EndReason, b.Status, b.Follows)
	}
	if len(w.p.OpenRunsOf(a.ID)) != 0 {
		t.Error("the run of the replaced session is still open")
	}
}

// A shared process serves many sessions; none of them ends because another is seen.
func TestSharedProcess(t *testing.T) {
	w := &world{p: New(nil)}
	for _, n := range []string{me, other} {
		w.do(core.EventSeen, func(ev *core.Event) {
			ev.Native, ev.Sighting.Native, ev.Shared, ev.Sighting.Shared = n, n, true, true
		})
	}
	if a, b := w.p.Session(id(me)), w.p.Session(id(other)); a.Status != core.StatusLive || b.Status != core.StatusLive {
		t.Fatalf("two threads of one daemon: %s, %s", a.Status, b.Status)
	}
	w.do(core.EventUnseen, func(ev *core.Event) { ev.Proc, ev.Shared = first, true })
	if a, b := w.p.Session(id(me)), w.p.Session(id(other)); a.Status != core.StatusEnded || a.EndReason != reasonUnloaded || b.Status != core.StatusLive {
		t.Errorf("after one was unloaded: %s(%s), %s", a.Status, a.EndReason, b.Status)
	}
}

func TestLostEndsAtItsLastActivity(t *testing.T) {
	w := in(t, core.StatusLive)
	w.do(core.EventPrompt, func(ev *core.Event) { ev.Proc, ev.Alive = first, true })
	active := w.ev.At
	w.ev.At += 100_000
	w.do(core.EventGone, func(ev *core.Event) { ev.Proc = first })
	s := w.p.Session(id(me))
	if s.Status != core.StatusLost || s.EndedAt != active || s.EndReason != reasonGone {
		t.Fatalf("lost at %v (%s), want %v", s.EndedAt, s.EndReason, active)
	}
}

// A goodbye that comes late fills in the agent's own reason where the tower's stood in, and nothing else.
func TestLateEnd(t *testing.T) {
	for status, want := range map[core.Status]string{core.StatusEnded: "other", core.StatusLost: "logout", core.StatusKilled: "logout"} {
		t.Run(string(status), func(t *testing.T) {
			w := in(t, status)
			before := *w.p.Session(id(me))
			for _, reason := range []string{"", "logout", "clear"} {
				w.do(core.EventEnd, func(ev *core.Event) { ev.Proc, ev.Reason = first, reason })
			}
			got := *w.p.Session(id(me))
			if got.Status != status || got.EndReason != want || got.EndedAt != before.EndedAt || got.LastSeen != before.LastSeen {
				t.Errorf("%s(%s) at %v, last %v became %s(%s) at %v, last %v, want reason %q", before.Status, before.EndReason, before.EndedAt, before.LastSeen, got.Status, got.EndReason, got.EndedAt, got.LastSeen, want)
			}
		})
	}
}

// Who drove a process last is remembered for a /clear, and forgotten when the process is dead.
func TestForget(t *testing.T) {
	w := in(t, core.StatusEnded)
	w.p.Forget(func(core.Process) bool { return false })
	if len(w.p.drove) != 1 {
		t.Fatal("a living process was forgotten")
	}
	w.p.Forget(func(core.Process) bool { return true })
	if len(w.p.drove) != 0 {
		t.Errorf("dead processes are remembered: %v", w.p.drove)
	}
	w = in(t, core.StatusLive)
	w.p.Forget(func(core.Process) bool { return true })
	if w.p.drove[first] != id(me) {
		t.Error("a process whose run is open was forgotten")
	}
}

// Outcome.Counted tells exactly when who counts has changed: a replaced session too, in which nothing
// happened.
func TestCountedMoves(t *testing.T) {
	w := in(t, core.StatusLive)
	if o := w.do(core.EventPrompt, func(ev *core.Event) { ev.Proc, ev.Alive = first, true }); o.Counted {
		t.Error("a prompt moved who counts")
	}
	o := w.do(core.EventStart, func(ev *core.Event) { ev.Native, ev.Proc, ev.Alive, ev.Source = other, first, true, "clear" })
	if !o.Counted || w.p.Session(id(me)).HiddenWhy() != core.HiddenNothing {
		t.Errorf("counted moved: %v; the replaced one is hidden because %q", o.Counted, w.p.Session(id(me)).HiddenWhy())
	}
	yes, no := true, false
	for _, hide := range []*bool{&yes, &no} {
		if o := w.do(core.EventEdit, func(ev *core.Event) { ev.Native, ev.Edit.Hidden = other, hide }); !o.Counted {
			t.Errorf("hidden by hand = %v moved nothing", *hide)
		}
	}
}

func TestChain(t *testing.T) {
	w := in(t, core.StatusLive)
	w.do(core.EventStart, func(ev *core.Event) { ev.Native, ev.Proc, ev.Alive, ev.Source = other, first, true, "clear" })
	w.do(core.EventFacts, func(ev *core.Event) {
		ev.Native, ev.Facts.Native, ev.Facts.Parent, ev.Facts.AgentTitle = "child", "child", other, "the child"
	})
	rows, _, _ := w.p.Rows()
	for of, want := range map[string][]core.Link{
		me:       {{How: "followed by", ID: id(other)}},
		other:    {{How: "follows", ID: id(me)}, {How: "opened", ID: id("child"), Title: "the child"}},
		"child":  {{How: "opened by", ID: id(other)}},
		"nobody": {},
	} {
		if got := Chain(rows, id(of)); !slices.Equal(got, want) {
			t.Errorf("chain of %s = %+v, want %+v", of, got, want)
		}
	}
}

func TestStopBeforeStartIsOneRow(t *testing.T) {
	w := &world{p: New(nil)}
	w.do(core.EventStop, func(ev *core.Event) { ev.Proc, ev.Alive = first, true })
	w.do(core.EventStart, func(ev *core.Event) { ev.Proc, ev.Alive = first, true })
	if w.p.Len() != 1 || w.status() != core.StatusLive || len(w.p.OpenRuns()) != 1 {
		t.Errorf("%d sessions, %s, %d runs", w.p.Len(), w.status(), len(w.p.OpenRuns()))
	}
}

func TestRecycledPidNeverRevives(t *testing.T) {
	w := in(t, core.StatusLost)
	w.do(core.EventStop, func(ev *core.Event) { ev.Proc, ev.Alive = first, false })
	if w.status() != core.StatusLost {
		t.Errorf("a stop of a dead process revived: %s", w.status())
	}
}

func TestNestedIsHidden(t *testing.T) {
	w := &world{p: New(nil)}
	yes := true
	w.do(core.EventStart, func(ev *core.Event) { ev.Proc, ev.Alive, ev.Nested = first, true, &yes })
	if why := w.p.Session(id(me)).HiddenWhy(); why != core.HiddenNested {
		t.Errorf("hidden because %q", why)
	}
	rows, counts, _ := w.p.Rows()
	if counts.Live != 0 || counts.Hidden != 1 || rows[0].Hidden == "" {
		t.Errorf("counts %+v", counts)
	}
}

func TestNames(t *testing.T) {
	w := in(t, core.StatusLive)
	facts := func(name, title string) {
		w.do(core.EventFacts, func(ev *core.Event) { ev.Facts.Name, ev.Facts.AgentTitle = name, title })
	}
	mine := "mine"
	facts("", "their title")
	if s := w.p.Session(id(me)); s.Name != "" || s.Title() != "their title" {
		t.Errorf("an agent's own title became a name: %+v", s)
	}
	facts("inside", "their title")
	w.do(core.EventEdit, func(ev *core.Event) { ev.Edit.Name = &mine })
	facts("inside", "their title")
	if s := w.p.Session(id(me)); s.Name != "mine" {
		t.Errorf("an old name of the agent's came back: %q", s.Name)
	}
	facts("later", "")
	if s := w.p.Session(id(me)); s.Name != "later" {
		t.Errorf("a rename inside the agent was lost: %q", s.Name)
	}
}

func TestPills(t *testing.T) {
	alive := func(ev *core.Event) { ev.Proc, ev.Alive = first, true }
	seen := func(p core.Pill, final bool, mark int64) func(*core.Event) {
		return func(ev *core.Event) { ev.Sighting.Pill, ev.Sighting.Final, ev.Sighting.Mark = p, final, mark }
	}
	ask := func(ev *core.Event) { alive(ev); ev.Wait, ev.Ask = core.WaitQuestion, "Red or blue?" }
	type act struct {
		kind core.EventKind
		how  func(*core.Event)
		want core.Pill
	}
	for name, acts := range map[string][]act{
		"hooks alone": {
			{core.EventStart, alive, core.PillIdle}, {core.EventPrompt, alive, core.PillWorking}, {core.EventWait, ask, core.PillWaiting},
			{core.EventResolve, alive, core.PillWorking}, {core.EventStop, alive, core.PillIdle},
		},
		"the record wins over a hook that never came": {
			{core.EventWait, ask, core.PillWaiting}, {core.EventNote, alive, core.PillWaiting}, {core.EventNote, alive, core.PillWaiting},
			{core.EventSeen, seen(core.PillIdle, true, 0), core.PillIdle},
		},
		"without a record, waiting ends when the agent writes on": {
			{core.EventWait, ask, core.PillWaiting},
			{core.EventSeen, seen(core.PillWorking, false, 700), core.PillWaiting},
			{core.EventSeen, seen(core.PillWorking, false, 700), core.PillWaiting},
			{core.EventSeen, seen(core.PillWorking, false, 900), core.PillWorking},
		},
		"without a record, waiting ends with the turn": {
			{core.EventWait, ask, core.PillWaiting}, {core.EventSeen, seen(core.PillIdle, false, 700), core.PillIdle},
		},
		"evidence alone": {
			{core.EventSeen, seen(core.PillShell, true, 0), core.PillShell}, {core.EventSeen, seen(core.PillStarting, true, 0), core.PillStarting},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{p: New(nil), ev: core.Event{At: 1_700_000_000_000}}
			for i, a := range acts {
				w.do(a.kind, a.how)
				if got := w.p.Live(id(me)).Pill; got != a.want {
					t.Fatalf("step %d (%s): pill %s, want %s", i, a.kind, got, a.want)
				}
			}
		})
	}
}

// The record of a question lags behind its hook by some milliseconds; it must not wipe it out, and
// what the hook told more (a question rather than a permission) is kept.
func TestQuestionBeforeItsRecord(t *testing.T) {
	w := in(t, core.StatusLive)
	w.do(core.EventWait, func(ev *core.Event) {
		ev.Proc, ev.Alive, ev.Wait, ev.Ask = first, true, core.WaitQuestion, "Red or blue?"
	})
	at := w.ev.At
	w.do(core.EventSeen, func(ev *core.Event) {
		ev.At = at + 20
		ev.Sighting.Pill, ev.Sighting.Final, ev.Sighting.At = core.PillWorking, true, at-5000
	})
	if l := w.p.Live(id(me)); l.Pill != core.PillWaiting {
		t.Fatalf("an older record wiped out the question: %+v", l)
	}
	w.do(core.EventSeen, func(ev *core.Event) {
		ev.Sighting.Pill, ev.Sighting.Final, ev.Sighting.Wait, ev.Sighting.Reason = core.PillWaiting, true, core.WaitPermission, "permission prompt"
	})
	if l := w.p.Live(id(me)); l.Wait != core.WaitQuestion || l.Ask != "Red or blue?" || l.Since != at {
		t.Errorf("the question became %+v", l)
	}
}

// Looking again and seeing the same moves nothing a face shows.
func TestIdlePollShowsNothingNew(t *testing.T) {
	w := in(t, core.StatusLive)
	w.do(core.EventSeen, nil)
	for range 3 {
		if o := w.do(core.EventSeen, nil); o.Shown || !o.Empty() {
			t.Fatalf("an idle poll showed %v and wrote %+v", o.Shown, o.Writes)
		}
	}
}

// TestEndedInOneOfTwoProcesses: a session that somebody took up in two windows goes on in the other one, and
// what is being ended stays ended whatever evidence says of it meanwhile.
func TestEndedInOneOfTwoProcesses(t *testing.T) {
	w := in(t, core.StatusLive)
	w.do(core.EventStart, func(ev *core.Event) { ev.Proc, ev.Alive, ev.Source = second, true, "resume" })
	seen := func(p core.Process) func(*core.Event) {
		return func(ev *core.Event) { ev.Proc, ev.Sighting.Proc = p, p }
	}
	w.do(core.EventKill, func(ev *core.Event) { ev.Proc = first })
	if w.do(core.EventSeen, seen(first)); w.status() != core.StatusKilled {
		t.Fatalf("%s while its process is on its way out", w.status())
	}
	w.do(core.EventGone, func(ev *core.Event) { ev.Proc = first })
	if w.do(core.EventSeen, seen(first)); w.status() != core.StatusKilled {
		t.Fatalf("%s by the record of the process that is gone", w.status())
	}
	o := w.do(core.EventSeen, seen(second))
	if w.status() != core.StatusLive || len(o.Runs) != 0 || len(w.p.OpenRunsOf(id(me))) != 1 {
		t.Errorf("%s, runs %+v: the other process drives it still, by the run it had", w.status(), o.Runs)
	}
}
