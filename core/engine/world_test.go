package engine

import (
	"context"
	"database/sql"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"tower/adapters/adaptertest"
	"tower/core"
	"tower/core/home"
	"tower/core/inbox"
)

const boot = "boot-1"

// world is an engine over a temporary home, a fake agent and a process table made of values, under a
// fake clock: what takes the product seconds takes the test none.
type world struct {
	t     *testing.T
	home  home.Home
	fake  *adaptertest.Fake
	table *adaptertest.RecordedTable
	e     *Engine
	stop  func()
	log   *lines

	adapters []core.Adapter // the fake, when not set otherwise
	change   func(*Options) // of the options, or nil
}

// lines is a log that many write and one reads.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// inBubble runs a test with the engine up.
func inBubble(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.start()
		defer func() { w.stop() }()
		f(w)
	})
}

func newWorld(t *testing.T) *world {
	dir := t.TempDir()
	w := &world{t: t, log: &lines{}, stop: func() {}}
	w.home = home.Home{Config: filepath.Join(dir, "config"), Data: filepath.Join(dir, "data"), Runtime: filepath.Join(dir, "run")}
	if err := w.home.Make(); err != nil {
		t.Fatal(err)
	}
	w.fake = adaptertest.NewFake(filepath.Join(dir, "agent"))
	w.adapters = []core.Adapter{w.fake}
	w.table = adaptertest.NewTable(boot)
	return w
}

func (w *world) options() Options {
	o := Options{
		Home: w.home, Config: core.Config{Mode: core.ModeLive, SweepMinutes: 15, RetentionDays: 14, Timezone: "UTC"},
		Adapters: w.adapters, Log: slog.New(slog.NewTextHandler(w.log, nil)), Unwatched: true,
		Table: func() (core.Table, error) { return w.table, nil },
		Alive: func(p core.Process) bool { return core.Alive(w.table, p) },
	}
	if w.change != nil {
		w.change(&o)
	}
	return o
}

func (w *world) start() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	e, err := New(ctx, w.options())
	if err != nil {
		cancel()
		w.t.Fatal(err)
	}
	w.e = e
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	w.stop = func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("Run: %v", err)
		}
		w.stop = func() {}
	}
}

// pass lets the loops work for a while.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// proc adds a process of the fake agent to the table.
func (w *world) proc(pid int) core.Process {
	start := uint64(pid) * 10
	w.table.Put(adaptertest.RecordedProc{
		Proc: core.Proc{PID: pid, PPID: 1, Start: start, State: 'S', Comm: "fake-agent"},
		Exe:  "/opt/fake/fake-agent", Args: []string{"fake-agent"},
	})
	return core.Process{Boot: boot, PID: pid, Start: start}
}

// hook records a hook call of a process of the agent.
func (w *world) hook(event string, p core.Process, h adaptertest.FakeHook, change ...func(*core.Envelope)) core.Envelope {
	w.t.Helper()
	env := w.fake.Envelope(event, core.InstantOf(time.Now()), h)
	b := p.Boot
	env.BootID = &b
	env.Ancestors = []core.Ancestor{
		{PID: p.PID + 1, PPID: p.PID, Created: p.Start + 1, Exe: "/bin/sh", Args: []string{"sh", "-c"}},
		{PID: p.PID, PPID: 1, Created: p.Start, Exe: "/opt/fake/fake-agent", Args: []string{"fake-agent"}},
	}
	for _, f := range change {
		f(&env)
	}
	w.write(env)
	return env
}

func (w *world) write(env core.Envelope) {
	w.t.Helper()
	if _, err := inbox.Write(w.home.Inbox(), &env); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) row(native string) core.Row {
	w.t.Helper()
	for _, r := range w.e.Snapshot().Rows {
		if r.Native == native {
			return r
		}
	}
	w.t.Fatalf("no row of %s among %d", native, len(w.e.Snapshot().Rows))
	return core.Row{}
}

func (w *world) want(native string, status core.Status, reason string) core.Row {
	w.t.Helper()
	r := w.row(native)
	if r.Status != status || r.EndReason != reason {
		w.t.Fatalf("%s is %s(%s), want %s(%s)\n%s", native, r.Status, r.EndReason, status, reason, w.log)
	}
	return r
}

func (w *world) runs(native string) []core.Run {
	w.t.Helper()
	d, err := w.e.Detail(context.Background(), core.NewSessionID(adaptertest.FakeName, native))
	if err != nil {
		w.t.Fatal(err)
	}
	return d.Runs
}

// sql changes the ledger behind the engine's back.
func (w *world) sql(query string) {
	w.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: w.home.Ledger()}).EscapedPath()+"?_busy_timeout=1000")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		w.t.Fatal(err)
	}
}

func touch(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// files counts the files below a folder of the home.
func files(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return n
}
