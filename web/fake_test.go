package web

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"tower/core"
)

// fakeEngine is an engine in memory: tests publish pictures and read the commands that arrived.
type fakeEngine struct {
	mu     sync.Mutex
	snap   *core.Snapshot
	moved  chan struct{} // closed at the next publication
	did    []core.Command
	answer func(core.Command) (core.Result, error)
	detail func(core.SessionID) (core.Detail, error)
	heat   []core.Heat
	resume *core.Launch
	token  string // of the launch that waits for an environment
	env    func() ([]string, error)
	asked  []int // pids that asked for one
}

func newFake(snap *core.Snapshot) *fakeEngine {
	return &fakeEngine{snap: snap, moved: make(chan struct{})}
}

func (f *fakeEngine) Snapshot() *core.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snap
}

func (f *fakeEngine) Wait(ctx context.Context, since int64) *core.Snapshot {
	for {
		f.mu.Lock()
		snap, moved := f.snap, f.moved
		f.mu.Unlock()
		if snap.Revision > since {
			return snap
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return snap
		}
	}
}

// publish derives the next picture: change gets a copy of the current one with its own rows.
func (f *fakeEngine) publish(change func(*core.Snapshot)) *core.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := *f.snap
	next.Revision++
	next.Rows = slices.Clone(next.Rows)
	change(&next)
	next.Counts = count(next.Rows)
	f.snap = &next
	close(f.moved)
	f.moved = make(chan struct{})
	return f.snap
}

func (f *fakeEngine) Do(_ context.Context, c core.Command) (core.Result, error) {
	f.mu.Lock()
	f.did = append(f.did, c)
	answer := f.answer
	f.mu.Unlock()
	if answer != nil {
		return answer(c)
	}
	return core.Result{Said: "Done."}, nil
}

func (f *fakeEngine) commands() []core.Command {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.did)
}

func (f *fakeEngine) Detail(_ context.Context, id core.SessionID) (core.Detail, error) {
	if f.detail != nil {
		return f.detail(id)
	}
	for _, r := range f.Snapshot().Rows {
		if r.ID == id {
			return core.Detail{Row: r, Runs: []core.Run{{ID: 1, Session: id, StartedAt: r.StartedAt}}, Skills: map[string]int64{"review": 2}}, nil
		}
	}
	return core.Detail{}, fmt.Errorf("session %s: %w", id, fs.ErrNotExist)
}

func (f *fakeEngine) Heat() []core.Heat { return f.heat }

// LoginEnvironment gives the environment to the one launch that waits for it.
func (f *fakeEngine) LoginEnvironment(_ context.Context, token string, pid int) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, pid)
	if f.env == nil || token != f.token {
		return nil, fmt.Errorf("launch %s: %w", token, fs.ErrNotExist)
	}
	return f.env()
}

func (f *fakeEngine) ResumeCommand(context.Context, core.SessionID) (core.Launch, error) {
	if f.resume == nil {
		return core.Launch{}, fs.ErrNotExist
	}
	return *f.resume, nil
}

func count(rows []core.Row) core.Counts {
	c := core.Counts{All: len(rows)}
	for i := range rows {
		r := &rows[i]
		if r.Hidden != "" {
			c.Hidden++
			continue
		}
		c.Visible++
		if r.Live == nil {
			continue
		}
		c.Live++
		switch r.Live.Pill {
		case core.PillWaiting:
			c.Waiting++
		case core.PillWorking:
			c.Working++
		case core.PillIdle:
			c.Idle++
		case core.PillShell:
			c.Shell++
		case core.PillStarting:
			c.Starting++
		default:
			c.Other++
		}
	}
	return c
}

// memory is a Secrets that can be told to fail.
type memory struct {
	mu   sync.Mutex
	kept map[string]string
	fail error
}

func newMemory() *memory { return &memory{kept: map[string]string{}} }

func (m *memory) Get(k string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.kept[k]
	return v, ok
}

func (m *memory) Set(k, v string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.kept[k] = v
	return nil
}

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func ref[T any](v T) *T { return &v }

var titles = []string{"Rotate signing keys without downtime", "Split the invoice parser", "Flaky checkout test, root cause", "Port the importer to streaming reads", "Search index rebuild", "Docs: retry policy", "Map tiles cache", "Nightly audit", "Currency rounding in totals", "Login throttle", "Dark palette for charts", "Upgrade to Go 1.26", "Why is the cold start slow", "Address form, second try", "Retry budget for webhooks", "Rename package money"}

var firsts = []string{"Move key rotation into the scheduler and keep both keys valid", "The parser does three things; separate them", "TestCheckoutRetry fails one run in forty", "Reads whole files today; a 300 MB file takes minutes", "Rebuild the index with the new analyzer", "Write down what the client really does", "", "Go through every package and list what nobody calls"}

// picture makes n sessions of every kind, live ones first, and as many hidden ones behind them.
func picture(now time.Time, n, hidden int) *core.Snapshot {
	at := func(back time.Duration) core.Instant { return core.InstantOf(now.Add(-back)) }
	s := &core.Snapshot{Revision: 7, At: at(0), Mode: core.ModeLive, Name: "Tower", Build: "test", Zone: "Europe/Berlin"}
	s.Agents = []core.AgentState{
		{Agent: "claude", Display: "Claude Code", Code: "CC", Installed: true, Install: "npm install -g @anthropic-ai/claude-code", Hooks: core.HookStatus{State: core.HooksInstalled, Events: make([]string, 10)}, Folders: []string{"/home/dev/code/vault", "/home/dev/code/shopfront", "/home/dev/code/it's \"quoted\" <b>"}},
		{Agent: "codex", Display: "Codex", Code: "CX", Installed: true, Install: "npm install -g @openai/codex", Hooks: core.HookStatus{State: core.HooksNeedTrust, Reason: "Open Codex, /hooks, approve."}, Folders: []string{"/home/dev/code/ledgerbird"}},
	}
	live := []core.Live{
		{Pill: core.PillWaiting, Wait: core.WaitPermission, Ask: "Bash: systemctl restart vault-signer"},
		{Pill: core.PillWaiting, Wait: core.WaitQuestion, Ask: "Keep the old entry point as a thin wrapper, or break callers now?"},
		{Pill: core.PillWorking}, {Pill: core.PillWorking}, {Pill: core.PillShell}, {Pill: core.PillIdle}, {Pill: core.PillStarting}, {Pill: core.PillOther, Raw: "compacting"},
	}
	projects := []string{"vault", "ledgerbird", "shopfront", "atlas", "infra"}
	past := 30 * time.Minute
	for i := range n + hidden {
		native := fmt.Sprintf("session-%05d", i)
		agent := core.Agent([]string{"claude", "codex", "claude"}[i%3])
		r := core.Row{Session: &core.Session{
			ID: core.NewSessionID(agent, native), Agent: agent, Native: native, AgentTitle: titles[i%len(titles)], CWD: "/home/dev/code/" + projects[i%5],
			Project: projects[i%5], Model: []string{"claude-opus-4-8", "gpt-5.5", "claude-sonnet-5"}[i%3], FirstMessage: firsts[i%len(firsts)],
			Class: core.ClassMain, Turns: ref(int64(2 + i*7%31)), Tags: []string{},
			ContextTokens: ref(int64(12000 + i*9973%180000)), ContextWindow: ref(int64(200000)),
			Closeout: []core.Closeout{core.CloseoutClosed, core.CloseoutOpen, ""}[i%3],
		}, Group: core.GroupPast}
		if i%7 == 4 {
			r.ContextTokens, r.ContextWindow = nil, nil
		}
		if i%11 == 5 {
			r.ContextTokens, r.ContextStale = ref(int64(183000)), true
		}
		if i < len(live) && n >= len(live) {
			l := live[i]
			l.Since, l.Proc, l.Proven, l.Grade = at(time.Duration(i)*time.Minute), core.Process{Boot: "b", PID: 40213 + i, Start: uint64(9000 + i)}, true, core.GradeRecord
			r.Live, r.Status, r.Group = &l, core.StatusLive, core.GroupLive
			switch i {
			case 1:
				l.Said = &core.Said{Class: core.OutputQuestion, Line: "Keep the old entry point as a thin wrapper, or break callers now?", At: l.Since}
			case 3:
				l.NoEnd, l.Shared = "Codex serves this thread from a shared daemon (pid 4121). Ending it would end 3 other threads.", true
			case 5:
				l.Said = &core.Said{Class: core.OutputDone, At: l.Since}
			}
			if l.Pill == core.PillWaiting {
				r.Group = core.GroupNeedsYou
			}
			if l.Pill == core.PillStarting {
				r.Turns, r.ContextTokens = nil, nil
			}
			r.StartedAt, r.LastSeen = at(time.Duration(i+1)*20*time.Minute), at(time.Duration(i*i)*7*time.Second)
		} else {
			past += time.Duration(20+i%9*11) * time.Minute
			r.Status = []core.Status{core.StatusEnded, core.StatusLost, core.StatusKilled}[i%3]
			if i%17 == 9 {
				r.Status, r.EndReason = core.StatusEnded, "launch_failed"
			}
			r.LastSeen, r.EndedAt, r.StartedAt = at(past), at(past), at(past+time.Hour)
		}
		if i >= n {
			r.Hidden, r.Nested = core.HiddenNested, ref(true)
		}
		switch i {
		case 10: // the longest name there can be, without a place to break
			r.Name = strings.Repeat("Überlänge", 22) + "fi"
		case 11:
			r.AgentTitle = ""
		case 12:
			r.AgentTitle, r.FirstMessage = "", ""
		case 13:
			r.AgentTitle, r.FirstMessage, r.Tags = "x", "שלום, fix the right-to-left names", []string{"infra", "night"}
		}
		r.TitleText = r.Session.Title()
		s.Rows = append(s.Rows, r)
	}
	s.Counts = count(s.Rows)
	for i := range s.Agents {
		own := slices.DeleteFunc(slices.Clone(s.Rows), func(r core.Row) bool { return r.Agent != s.Agents[i].Agent })
		s.Agents[i].Counts = count(own)
	}
	s.Health = core.Health{
		Loops: []core.Loop{{Name: "Inbox drain", LastOK: at(time.Second)}, {Name: "Liveness poll", LastOK: at(4 * time.Second)}, {Name: "Import sweep", LastOK: at(9 * time.Minute)}},
		Ports: []string{"127.0.0.1:7433", "[::1]:7433"}, UnknownTypes: map[string]int64{"atis-latch": 3, "mode": 41}, BadLines: 7,
	}
	return s
}
