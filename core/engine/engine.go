package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"tower/core"
	"tower/core/claim"
	"tower/core/classify"
	"tower/core/home"
	"tower/core/inbox"
	"tower/core/ledger"
	"tower/core/live"
	"tower/core/proc"
	"tower/core/sweep"
)

// Options is what the composition root decides.
type Options struct {
	Home     home.Home
	Config   core.Config
	Adapters []core.Adapter
	Build    string
	Log      *slog.Logger
	// Table reads the process table.
	Table func() (core.Table, error)
	// Alive tells whether a process lives now; nil asks the system.
	Alive func(core.Process) bool
	// Path is the PATH agents are looked for on.
	Path string
	// Unwatched leaves out file watches and process descriptors: timers alone drive the loops. For
	// tests under a fake clock.
	Unwatched bool
	// Progress is told how far an import is; it may be nil.
	Progress func(core.Progress)
	// Exe is the program that launches run as their launcher; Environ what it was started with.
	// Umask is what the person's files are made with, nil when the tower has changed nothing of it.
	Exe     string
	Environ []string
	Umask   *int
	// Desktop opens and finds windows; Tmux is the tower's own server, nil where there is no tmux, and
	// Foreign one of a person's, by its socket.
	Desktop Desktop
	Tmux    Panes
	Panes   <-chan struct{} // wakes the look at the tower's own panes; nil leaves it to the timer
	Foreign func(socket string) Panes
	// Signal and Gone signal exactly one process and wait for its end; nil asks the system.
	Signal func(core.Process, syscall.Signal) error
	Gone   func(context.Context, core.Process) error
	// Stop and Restart end the program in an orderly way; each returns at once.
	Stop, Restart func()
}

// Engine is the running heart. Build one with New, then call Run.
type Engine struct {
	o        Options
	log      *slog.Logger
	db       *ledger.DB
	agents   []core.AgentInfo
	adapters map[core.Agent]core.Adapter
	zone     *time.Location
	index    *sweep.Index

	mail chan func(context.Context)
	gone chan struct{} // closed when the owner has done its last work

	// Owned by the owner goroutine.
	picture *live.Picture
	pending core.Writes     // decided, not yet kept
	applied map[string]bool // ids of events in pending
	dirty   bool
	// heatMoved says that a session's days changed since the heat map was summed, or who counts.
	heatMoved bool
	lastPub   time.Time
	revision  int64

	snap   atomic.Pointer[core.Snapshot]
	heat   atomic.Pointer[[]core.Heat]
	moved  chan struct{} // closed when the Snapshot is replaced
	movedM sync.Mutex

	health   *health
	settings settings
	box      *inbox.Box
	addr     atomic.Pointer[address]
	wakes    wakes
	drainM   sync.Mutex
	procs    procWatch
	refresh  *refresher
	reading  turn // of transcripts
	environ  environ
	claims   *claim.Set
	actions  actions
	launched sync.Map // core.Process -> token of the launch that began as this process
	// The owner's, too: launches until their session is known, and who waits for a prompt.
	launches  map[string]*underway
	listeners map[*listener]bool
	began     time.Time
	unkilled  bool // the kills of a former tower were looked at
	once      bool // one import and then the end of the process
}

type address struct {
	url   string
	ports []string
}

// New opens the ledger and loads the picture. It starts nothing.
func New(ctx context.Context, o Options) (*Engine, error) {
	if o.Alive == nil {
		o.Alive = alive
	}
	if o.Signal == nil {
		o.Signal = proc.Signal
	}
	if o.Gone == nil {
		o.Gone = proc.Wait
	}
	db, err := ledger.Open(ctx, o.Home.Ledger(), o.Home.Backup())
	if err != nil {
		return nil, err
	}
	e, err := build(o, db)
	if err == nil {
		err = e.load(ctx)
	}
	if err == nil {
		err = e.interrupted(ctx)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	if !o.Unwatched {
		e.procs.start(e)
	}
	e.publish()
	return e, nil
}

// interrupted closes the records of actions that were under way when the last tower ended.
func (e *Engine) interrupted(ctx context.Context) error {
	n, err := e.db.Interrupt(ctx, core.InstantOf(time.Now()))
	if n > 0 {
		e.log.Warn("actions were under way when the last tower ended", "number", n)
	}
	return err
}

// build puts an Engine together around an open ledger.
func build(o Options, db *ledger.DB) (*Engine, error) {
	zone := time.Local
	if o.Config.Timezone != "" {
		z, err := time.LoadLocation(o.Config.Timezone)
		if err != nil {
			return nil, fmt.Errorf("load zone %q: %w", o.Config.Timezone, err)
		}
		zone = z
	}
	e := &Engine{
		o: o, log: o.Log, db: db, zone: zone,
		adapters: map[core.Agent]core.Adapter{},
		mail:     make(chan func(context.Context)),
		gone:     make(chan struct{}),
		applied:  map[string]bool{},
		moved:    make(chan struct{}),
		health:   newHealth(),
		box:      inbox.New(o.Home.Inbox(), o.Home.Processed(), o.Home.Bad(), time.Now),
		wakes:    newWakes(),
		reading:  make(turn, 1),
		began:    time.Now(),
		claims:   claim.New(),
		actions:  actions{closed: make(chan struct{})},
		launches: map[string]*underway{}, listeners: map[*listener]bool{},
	}
	e.claims.Watch(func() { wake(e.wakes.faces) })
	for _, a := range o.Adapters {
		e.agents = append(e.agents, a.Agent())
		e.adapters[a.Agent().Agent] = a
	}
	e.refresh = newRefresher(e)
	return e, nil
}

func (e *Engine) load(ctx context.Context) error {
	kept, err := e.db.Load(ctx)
	if err != nil {
		return err
	}
	e.index = sweep.NewIndex(kept.Fingerprints)
	e.picture = live.New(e.o.Config.InHarness)
	e.pending = e.picture.Load(kept.Sessions, kept.Open, kept.Closed, kept.Launches, func(path string) int64 {
		return kept.Fingerprints[path].Size
	})
	e.restoreLaunches(kept.Launches)
	e.settings.values = kept.Settings
	if e.settings.values == nil {
		e.settings.values = map[string]string{}
	}
	e.health.first = len(kept.Fingerprints) == 0
	return nil
}

// Listening notes where the page answers, and why it does not when it does not. It is called before
// Run.
func (e *Engine) Listening(url string, ports []string, failed error) {
	e.addr.Store(&address{url, ports})
	text := ""
	if failed != nil {
		text = "The page does not answer: " + failed.Error()
	}
	e.health.problem("page", text, "Choose another port in config.toml, then: tower restart")
}

// Close ends an Engine that was never run.
func (e *Engine) Close() error {
	e.procs.close()
	return e.db.Close()
}

// lastTurn is how long a loop may still be at its turn when the engine is to end. One that waits for a
// dead file system would keep the program from ever ending.
const lastTurn = 5 * time.Second

// Run works until ctx ends, then keeps what is left and closes the ledger. A loop that does not come
// back is left behind and named in the error.
func (e *Engine) Run(ctx context.Context) error {
	defer e.db.Close()
	done := make(chan error, 1)
	go func() { done <- e.work(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(lastTurn)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return fmt.Errorf("end: %s did not come back", e.health.busy())
	}
}

// work runs the owner and the loops.
func (e *Engine) work(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	// The owner outlives the loops until the actions under way have told it how they ended.
	owned, last := context.WithCancel(context.WithoutCancel(ctx))
	g.Go(func() error { <-ctx.Done(); e.actions.close(lastAction); last(); return nil })
	g.Go(func() error { e.own(owned); return nil })
	g.Go(func() error { return e.countDays(ctx) })
	g.Go(func() error { return e.loop(ctx, "drain", drainEvery, e.wakes.drain, e.drain) })
	g.Go(func() error { return e.loop(ctx, "poll", pollEvery, e.wakes.poll, e.poll) })
	g.Go(func() error { return e.loop(ctx, "import", e.sweepEvery, e.wakes.sweep, e.sweepAll) })
	g.Go(func() error { return e.loop(ctx, "agents", agentsEvery, e.wakes.agents, e.lookAtAgents) })
	g.Go(func() error { return e.loop(ctx, "retention", retentionEvery, nil, e.retain) })
	g.Go(func() error { return e.refresh.run(ctx) })
	if e.o.Tmux != nil {
		g.Go(func() error { return e.loop(ctx, "tmux", panesEvery, e.o.Panes, e.tendPanes) })
	}
	if !e.o.Unwatched {
		g.Go(func() error { return e.watch(ctx) })
		g.Go(func() error { return e.procs.run(ctx) })
	}
	return g.Wait()
}

// own is the owner: it alone touches the picture and writes the ledger. What it has begun it finishes,
// so its work does not see ctx end.
func (e *Engine) own(ctx context.Context) {
	defer close(e.gone)
	whole := context.WithoutCancel(ctx)
	soon := time.NewTimer(0)
	defer soon.Stop()
	e.commit(whole)
	for {
		select {
		case f := <-e.mail:
			f(whole)
		case <-e.wakes.faces:
			e.dirty = true
		case <-soon.C:
		case <-ctx.Done():
			e.commit(whole)
			return
		}
		if !e.dirty {
			continue
		}
		if wait := e.gap() - time.Since(e.lastPub); wait > 0 {
			soon.Reset(wait)
			continue
		}
		e.publish()
	}
}

// gap is the least time between two Snapshots: short, so that a face follows at once, and longer
// while an import moves a thousand facts a second.
func (e *Engine) gap() time.Duration {
	if e.health.importing() {
		return 200 * time.Millisecond
	}
	return 40 * time.Millisecond
}

var errStopped = errors.New("the tower has stopped")

// post has the owner run f and waits until it has. The error is that of f, a panic included; or it
// says why f never ran: ctx ended first, or the owner is gone.
func (e *Engine) post(ctx context.Context, f func(context.Context) error) error {
	var err error
	done := make(chan struct{})
	select {
	case e.mail <- func(ctx context.Context) { defer close(done); err = guarded(ctx, f) }:
	case <-e.gone:
		return errStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	<-done
	return err
}

// loop runs tick now, then at every turn and wake. A tick that fails or panics makes the loop sick and
// the next turn tries again.
func (e *Engine) loop(ctx context.Context, name string, every func() time.Duration, woken <-chan struct{}, tick func(context.Context) error) error {
	for {
		e.health.begin(name, time.Now())
		err := guarded(ctx, tick)
		if ctx.Err() != nil {
			return nil
		}
		if e.health.tick(name, err, e.log) {
			wake(e.wakes.faces)
		}
		t := time.NewTimer(every())
		select {
		case <-t.C:
		case <-woken:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
		t.Stop()
	}
}

func guarded(ctx context.Context, tick func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return tick(ctx)
}

func every(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// commit keeps what the reducer decided. What the ledger refuses stays pending.
func (e *Engine) commit(ctx context.Context) error {
	if e.pending.Empty() {
		return nil
	}
	done, err := e.db.Apply(ctx, e.pending)
	if e.health.tick("ledger", err, e.log) {
		e.dirty = true
	}
	if never(err) {
		return e.isolate(ctx)
	}
	if err != nil {
		e.pending.Compact()
		e.health.behind("ledger", fmt.Sprintf("%d rows wait to be written", len(e.pending.Sessions)+len(e.pending.Events)+len(e.pending.Runs)))
		return err
	}
	e.health.behind("ledger", "")
	for _, s := range e.pending.Sources {
		e.index.Put(s)
	}
	e.pending = core.Writes{}
	clear(e.applied)
	e.kept(done)
	return nil
}

// kept takes over what the ledger made of a write.
func (e *Engine) kept(done ledger.Applied) {
	e.health.wrote(done.Rows)
	for _, c := range done.Counted {
		moved := e.picture.SetTurns(c.Session, int64(len(c.At)))
		if e.picture.SetDays(c.Session, live.Days(c.At, e.zone)) {
			e.heatMoved, moved = true, true
		}
		e.dirty = e.dirty || moved
	}
}

// take applies an event to the picture and adds what is to be kept to what is pending. An event that
// cannot be taken, and be it that the reducer panics, keeps no other from being taken.
func (e *Engine) take(ev core.Event) error {
	if err := tidyEvent(&ev, core.InstantOf(time.Now())); err != nil {
		return fmt.Errorf("take event of %s: %w", ev.Agent, err)
	}
	return guarded(context.Background(), func(context.Context) error { e.apply(ev); return nil })
}

func (e *Engine) apply(ev core.Event) {
	before := core.StatusNone
	if s := e.picture.Session(ev.Session()); s != nil {
		before = s.Status
	}
	if ev.Kind == core.EventPrompt {
		e.heardPrompt(&ev)
	}
	if ev.Kind == core.EventStop && ev.Message != "" {
		if said := classify.Last(ev.Message); said.Class != "" {
			said.At = ev.At
			ev.Said = &said
		}
	}
	out := e.picture.Apply(ev)
	e.pending.Add(out.Writes)
	e.dirty = e.dirty || out.Shown
	e.heatMoved = e.heatMoved || out.Counted
	if ev.ID != "" {
		e.applied[ev.ID] = true
	}
	for _, l := range out.Launches {
		e.launchMatched(l)
	}
	for _, r := range out.Runs {
		if r.EndedAt == 0 {
			e.procs.add(e, r.Proc)
		}
	}
	if s := e.picture.Session(ev.Session()); s != nil {
		if s.Status != before && ev.Kind != core.EventFacts {
			e.log.Info("session", "agent", s.Agent, "session", s.Native, "from", before, "to", s.Status, "by", ev.Kind, "reason", s.EndReason)
		}
		switch {
		case s.Status.Over() && !before.Over() && before != core.StatusNone,
			ev.Kind == core.EventPrompt, ev.Kind == core.EventStop, ev.Kind == core.EventEnd:
			e.refresh.want(s)
		}
	}
}
