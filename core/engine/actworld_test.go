package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
	"tower/core/inbox"
	"tower/core/launch"
	"tower/core/proc"
	"tower/core/term"
	"tower/core/tmux"
)

// skilled is the fake agent with every ability that acting asks for.
type skilled struct {
	*adaptertest.Fake
	mu       sync.Mutex
	holds    error
	last     string
	dialogs  []string
	begun    []core.Begun
	preset   string
	skill    bool
	dialog   string // on its screen
	noBox    bool
	stop     *core.Launch
	typed    func(text string) bool
	seen     []core.Sighting // its evidence, when not by the registry
	launched []core.LaunchSpec
	resumed  []string // models
}

func (a *skilled) Launch(s core.LaunchSpec) (core.Launch, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.launched = append(a.launched, s)
	argv := []string{"/opt/fake/fake-agent"}
	if s.Prompt != "" {
		argv = append(argv, s.Prompt)
	}
	return core.Launch{Argv: argv, Dir: s.CWD, Preset: a.preset}, nil
}

func (a *skilled) Resume(s core.Session, model string) (core.Launch, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.resumed = append(a.resumed, model)
	return core.Launch{Argv: []string{"/opt/fake/fake-agent", "--resume", s.Native}, Dir: s.CWD}, nil
}

func (a *skilled) WithPrompt(l core.Launch, prompt string) core.Launch {
	l.Argv = append(l.Argv, prompt)
	return l
}
func (a *skilled) Evidence(ctx context.Context, t core.Table) ([]core.Sighting, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.seen != nil {
		return a.seen, nil
	}
	return a.Fake.Evidence(ctx, t)
}

func (a *skilled) Find(string) (string, string)                              { return "/opt/fake/fake-agent", "" }
func (a *skilled) Holds(context.Context, core.Session) error                 { return a.holds }
func (a *skilled) LastMessage(context.Context, core.Session) (string, error) { return a.last, nil }
func (a *skilled) Dialogs(string) []string                                   { return a.dialogs }
func (a *skilled) Begun(context.Context, string, core.Instant) ([]core.Begun, error) {
	return a.begun, nil
}
func (a *skilled) Skill(name, _ string) (string, bool) { return "/" + name, a.skill }
func (a *skilled) Stop(core.Session, core.Sighting) (core.Launch, bool) {
	if a.stop == nil {
		return core.Launch{}, false
	}
	return *a.stop, true
}
func (a *skilled) Typed(_ context.Context, _ core.Session, text string, _ core.Instant) (bool, error) {
	return a.typed != nil && a.typed(text), nil
}

// windows is a desktop whose windows are values.
type windows struct {
	mu      sync.Mutex
	refuse  error // of Choose
	opened  []term.Spec
	failing error         // of the opening command
	slow    time.Duration // until the launcher's report
	silent  bool          // no window ever comes
	stays   bool          // the opening command is the window and lives as long
	found   *term.Window
	focused []string
	gone    bool
	report  func(s term.Spec) // plays the launcher
}

type opening struct {
	done chan struct{}
	err  error
}

func (o opening) Done() <-chan struct{} { return o.done }
func (o opening) Err() error            { return o.err }

func (d *windows) Choose(want string) (string, error) {
	if d.refuse != nil {
		return "", d.refuse
	}
	if want == "" {
		want = "xterm"
	}
	return want, nil
}

func (d *windows) Open(_ context.Context, _ string, s term.Spec) (Opening, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened = append(d.opened, s)
	o := opening{make(chan struct{}), d.failing}
	if d.failing != nil || d.silent {
		close(o.done)
		return o, nil
	}
	go func() {
		time.Sleep(d.slow)
		d.report(s)
		if !d.stays {
			close(o.done)
		}
	}()
	return o, nil
}

func (d *windows) Find(context.Context, core.Table, core.Process) (term.Window, error) {
	if d.found == nil {
		return term.Window{}, &core.Refusal{What: noWindow, Why: "Its terminal shows no window that is provably its own.", Hint: "Look for it by hand."}
	}
	return *d.found, nil
}

func (d *windows) Focus(_ context.Context, w term.Window) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.focused = append(d.focused, w.ID)
	return nil
}
func (d *windows) Exists(context.Context, term.Window) (bool, error)   { return !d.gone, nil }
func (d *windows) SendText(context.Context, term.Window, string) error { return errors.New("no text") }
func (d *windows) SendEnter(context.Context, term.Window) error        { return errors.New("no key") }
func (d *windows) Text(context.Context, term.Window) (string, error)   { return "", nil }

// panes is a tmux server of one pane.
type panes struct {
	mu      sync.Mutex
	pane    tmux.Pane
	there   bool
	clients []tmux.Client
	keys    []string // what was pasted, "<enter>" for the key, "kill"
	hear    func(key string)
	fail    error
	started []tmux.Start
	report  func(s tmux.Start)
}

func (p *panes) Start(_ context.Context, s tmux.Start) (tmux.Pane, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = append(p.started, s)
	go p.report(s)
	return tmux.Pane{ID: "%7", Session: "$7"}, nil
}
func (p *panes) Panes(context.Context) ([]tmux.Pane, error) { return []tmux.Pane{p.pane}, p.fail }
func (p *panes) Pane(_ context.Context, id string) (tmux.Pane, bool, error) {
	return p.pane, p.there && id == p.pane.ID, p.fail
}
func (p *panes) Capture(context.Context, string, int) (string, error) {
	return "error: unknown model\n\nbye\n", nil
}
func (p *panes) key(k string) error {
	p.mu.Lock()
	p.keys = append(p.keys, k)
	hear := p.hear
	p.mu.Unlock()
	if hear != nil {
		hear(k)
	}
	return nil
}
func (p *panes) Paste(_ context.Context, _, text string) error  { return p.key(text) }
func (p *panes) Enter(context.Context, string) error            { return p.key("<enter>") }
func (p *panes) Kill(context.Context, string) error             { return p.key("<kill>") }
func (p *panes) Clients(context.Context) ([]tmux.Client, error) { return p.clients, p.fail }
func (p *panes) Show(_ context.Context, client, _ string) error {
	return p.key("<show " + client + ">")
}
func (p *panes) AttachArgv(p2 tmux.Pane) []string { return []string{"tmux", "attach", "-t", p2.ID} }

func (p *panes) pressed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.keys)
}

// actWorld is a world in which actions can be taken: signals, windows and panes are values as well.
type actWorld struct {
	*world
	agent    *skilled
	desk     *windows
	mux      *panes
	mu       sync.Mutex
	signals  []syscall.Signal
	deaf     bool // processes do not die of signals
	dir      string
	nextPID  int
	launched map[string]core.Process
}

const (
	agentPID = 500
	shellPID = 400
)

// device is a real device file whose number stands for the agent's terminal.
const device = "/dev/null"

// acting runs a test with the engine up, and a session "s" of the fake agent live in a pane.
func acting(t *testing.T, f func(t *testing.T, w *actWorld)) {
	t.Helper()
	if _, err := tmux.Rdev(device); err != nil {
		t.Skipf("no device number of %s here: %v", device, err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newActWorld(t)
		w.start()
		defer func() { w.stop() }()
		w.pass(time.Second)
		f(t, w)
	})
}

func newActWorld(t *testing.T) *actWorld {
	w := &actWorld{world: newWorld(t), nextPID: 600, launched: map[string]core.Process{}}
	w.agent = &skilled{Fake: w.fake, skill: true}
	w.adapters = []core.Adapter{w.agent}
	w.desk = &windows{report: func(s term.Spec) { w.becomes(s.Argv) }}
	w.mux = &panes{report: func(s tmux.Start) { w.becomes(s.Argv) }}
	w.dir = filepath.Join(t.TempDir(), "work")
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.change = func(o *Options) {
		o.Exe, o.Environ = "/opt/tower", []string{"PATH=/usr/bin"}
		o.Desktop, o.Tmux = w.desk, w.mux
		o.Foreign = func(string) Panes { return w.mux }
		o.Signal = w.signal
		o.Gone = func(ctx context.Context, p core.Process) error {
			for core.Alive(w.table, p) {
				select {
				case <-time.After(10 * time.Millisecond):
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		}
		o.Config.WorkLog = []string{"WORKLOG.md"}
	}
	return w
}

// signal is what the system does on a signal: it reaches the very process or none.
func (w *actWorld) signal(p core.Process, s syscall.Signal) error {
	row, ok := w.table.Proc(p.PID)
	switch {
	case !ok:
		return proc.ErrGone
	case row.Start != p.Start:
		return proc.ErrOther
	}
	w.mu.Lock()
	w.signals = append(w.signals, s)
	deaf := w.deaf && s != syscall.SIGKILL
	w.mu.Unlock()
	if !deaf {
		w.table.Drop(p.PID)
		if p.PID == agentPID {
			w.mux.mu.Lock()
			w.mux.there = false
			w.mux.mu.Unlock()
		}
	}
	return nil
}

func (w *actWorld) sent() []syscall.Signal {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.signals)
}

// lives puts a session into a pane: shell, agent, registry.
func (w *actWorld) lives(native, state string, change ...func(*adaptertest.RecordedProc, *adaptertest.FakeRecord)) core.SessionID {
	w.t.Helper()
	dev, _ := tmux.Rdev(device)
	shell := adaptertest.RecordedProc{
		Proc: core.Proc{PID: shellPID, PPID: 1, Start: 4000, State: 'S', Comm: "bash", TTY: dev, Group: shellPID, SID: shellPID, TPGID: agentPID},
		Exe:  "/bin/bash", Args: []string{"bash"},
	}
	a := adaptertest.RecordedProc{
		Proc: core.Proc{PID: agentPID, PPID: shellPID, Start: 5000, State: 'S', Comm: "fake-agent", TTY: dev, Group: agentPID, SID: shellPID, TPGID: agentPID},
		Exe:  "/opt/fake/fake-agent", Args: []string{"fake-agent"}, Env: map[string]string{"TMUX": "/tmp/mux,1,0", "TMUX_PANE": "%1"},
	}
	w.table.Put(shell, a)
	w.mux.pane = tmux.Pane{ID: "%1", Session: "$1", PID: shellPID, TTY: device}
	w.mux.there = true
	r := adaptertest.FakeRecord{PID: agentPID, Start: 5000, Final: true, Threads: []adaptertest.FakeThread{{Session: native, State: state, CWD: w.dir}}}
	if err := w.fake.Register("a", r); err != nil {
		w.t.Fatal(err)
	}
	w.pass(6 * time.Second)
	w.want(native, core.StatusLive, "")
	for _, f := range change {
		f(&a, &r)
	}
	if len(change) > 0 {
		w.table.Put(a)
		if err := w.fake.Register("a", r); err != nil {
			w.t.Fatal(err)
		}
	}
	return core.NewSessionID(adaptertest.FakeName, native)
}

// becomes plays the launcher: the order is read, its process reported, the agent registers.
func (w *actWorld) becomes(argv []string) core.Process {
	o, err := launch.Read(argv[2])
	if err != nil {
		w.t.Errorf("read order: %v", err)
		return core.Process{}
	}
	w.mu.Lock()
	w.nextPID++
	pid := w.nextPID
	p := core.Process{Boot: boot, PID: pid, Start: uint64(pid) * 10}
	w.launched[o.Token] = p
	w.mu.Unlock()
	w.table.Put(adaptertest.RecordedProc{Proc: core.Proc{PID: pid, PPID: 1, Start: p.Start, State: 'S'}, Exe: "/opt/fake/fake-agent", Args: o.Argv,
		Env: map[string]string{core.EnvLaunch: o.Token}})
	w.reports(launch.Report{Token: o.Token, Proc: p}, "")
	return p
}

// reports writes the launcher's report into the inbox.
func (w *actWorld) reports(r launch.Report, failed string) {
	event := launch.EventExec
	if failed != "" {
		event, r.Error = launch.EventFailed, failed
	}
	payload, err := json.Marshal(r)
	if err != nil {
		w.t.Error(err)
		return
	}
	env := core.Envelope{V: core.EnvelopeVersion, EventID: core.UUID4(), Agent: adaptertest.FakeName, Event: event,
		TS: core.InstantOf(time.Now()), LaunchToken: &r.Token, Payload: payload}
	if _, err := inbox.Write(w.home.Inbox(), &env); err != nil {
		w.t.Error(err)
	}
	wake(w.e.wakes.drain) // as the watch of the folder does
}

func (w *actWorld) do(c core.Command) (core.Result, error) {
	w.t.Helper()
	c.By = "test"
	return w.e.Do(context.Background(), c)
}

// refused wants a refusal that says all of the words.
func (w *actWorld) refused(err error, words ...string) {
	w.t.Helper()
	var r *core.Refusal
	if !errors.As(err, &r) {
		w.t.Fatalf("not refused: %v", err)
	}
	for _, word := range words {
		if !strings.Contains(r.Error(), word) {
			w.t.Errorf("refusal %q does not say %q", r.Error(), word)
		}
	}
}

// Screen reads what the fake shows: a dialog, or the input box.
func (a *skilled) Screen(_, tail string) core.Screen {
	return core.Screen{Dialog: a.dialog, Input: !a.noBox}
}
