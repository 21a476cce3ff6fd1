package engine

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
	"tower/core/sweep"
)

// library is the fake agent with its transcripts as real files whose content is told by values.
type library struct {
	*adaptertest.Fake
	t   *testing.T
	dir string

	mu    sync.Mutex
	facts map[string]core.Facts // by file name
	scans map[string]int
	fails map[string]error
	slow  time.Duration
}

func newLibrary(w *world) *library {
	l := &library{Fake: w.fake, t: w.t, dir: filepath.Join(w.t.TempDir(), "transcripts"), facts: map[string]core.Facts{}, scans: map[string]int{}, fails: map[string]error{}}
	if err := os.Mkdir(l.dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.adapters = []core.Adapter{l}
	return l
}

// put writes a transcript of so many bytes that tells f.
func (l *library) put(name string, bytes int64, f core.Facts) string {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	path := filepath.Join(l.dir, name)
	if err := os.WriteFile(path, make([]byte, bytes), 0o600); err != nil {
		l.t.Fatal(err)
	}
	f.Agent = adaptertest.FakeName
	l.facts[name] = f
	return path
}

func (l *library) scanned(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.scans[name]
}

func (l *library) Transcripts(_ context.Context, found func(core.Source) bool) error {
	list, err := os.ReadDir(l.dir)
	for _, f := range list {
		path := filepath.Join(l.dir, f.Name())
		if fp, err := sweep.Stat(path); err == nil && !found(core.Source{Agent: adaptertest.FakeName, Path: path, Fingerprint: fp}) {
			break
		}
	}
	return err
}

func (l *library) Scan(ctx context.Context, s core.Source, from core.Cursor) (core.Scan, error) {
	if l.slow > 0 {
		select {
		case <-time.After(l.slow):
		case <-ctx.Done():
			return core.Scan{}, ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	name := filepath.Base(s.Path)
	l.scans[name]++
	if err := l.fails[name]; err != nil {
		return core.Scan{}, err
	}
	f, ok := l.facts[name]
	if !ok {
		return core.Scan{}, os.ErrNotExist
	}
	d := core.Delta{Facts: f}
	for i := range f.Turns {
		d.Turns = append(d.Turns, core.Turn{UID: uid(f.Native, i), At: f.FirstAt + core.Instant(i), Kind: core.TurnTyped})
	}
	return core.Scan{Reset: true, Deltas: []core.Delta{d}, Cursor: core.Cursor{Version: 1, Offset: s.Size}, Read: s.Size - from.Offset}, nil
}

func uid(native string, turn int64) int64 {
	h := fnv.New64a()
	fmt.Fprint(h, native, turn)
	return int64(h.Sum64())
}

func told(native string, turns int64) core.Facts {
	at := core.ParseInstant("1999-12-24T12:00:00Z")
	return core.Facts{Native: native, Class: core.ClassMain, Lines: 5, Bytes: 100, Turns: turns, Typed: turns, FirstAt: at, LastAt: at + 60_000, Opened: at}
}

// More transcripts than fit into one transaction arrive whole, once, with their turns and their days.
func TestImportInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		l := newLibrary(w)
		const n = 2*batchSources + 7
		for i := range n {
			l.put(fmt.Sprintf("%03d", i), 10, told(fmt.Sprintf("%c%d", 'a'+i%26, i), 3))
		}
		w.start()
		defer func() { w.stop() }()
		w.pass(3 * time.Second)
		s := w.e.Snapshot()
		if s.Counts.All != n || s.Counts.Visible != n || s.Import.Running || s.Import.First {
			t.Errorf("counts %+v, import %+v", s.Counts, s.Import)
		}
		if h := w.e.Heat(); len(h) != 1 || h[0].Day != "1999-12-24" || h[0].Turns == 0 {
			t.Errorf("heat = %+v", h)
		}
		before := s.Revision
		w.pass(16 * time.Minute)
		if l.scanned("000") != 1 || w.e.Snapshot().Revision != before {
			t.Errorf("an unchanged sweep read %d times and moved the revision from %d to %d", l.scanned("000"), before, w.e.Snapshot().Revision)
		}
		r, err := w.e.Do(context.Background(), core.Command{Kind: core.CommandImport, Text: "full"})
		if err != nil || r.Import.Opened != n || r.Import.Sources != n || r.Import.Failed != 0 {
			t.Errorf("full import = %+v, %v", r.Import, err)
		}
		if got := w.row("a0"); *got.Turns != 3 {
			t.Errorf("turns after a second reading: %d", *got.Turns)
		}
	})
}

// A session that came and went with the tower down is known from its hooks before its transcript is
// read, whichever loop is the first to run: its process and its end would be lost otherwise.
func TestHooksComeBeforeTranscripts(t *testing.T) {
	for name, by := range map[string]func(*world) (core.ImportResult, error){
		"at start": func(w *world) (core.ImportResult, error) {
			w.start()
			w.pass(6 * time.Second)
			return core.ImportResult{}, nil
		},
		"by one import": func(w *world) (core.ImportResult, error) {
			r, err := ImportOnce(context.Background(), w.options(), false)
			w.start()
			w.pass(6 * time.Second)
			return r, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 { // the order of two loops is the scheduler's
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					p := w.proc(100)
					w.hook("start", p, say(a))
					w.hook("prompt", p, adaptertest.FakeHook{Session: a, Text: "do it"})
					w.table.Drop(100) // and it crashed
					l := newLibrary(w)
					l.put("t", 10, told(a, 2))
					if _, err := by(w); err != nil {
						t.Fatal(err)
					}
					defer func() { w.stop() }()
					w.want(a, core.StatusLost, "process gone")
					if runs := w.runs(a); len(runs) != 1 || runs[0].Proc != p || runs[0].EndedAt == 0 {
						t.Errorf("runs = %+v", runs)
					}
				})
			}
		})
	}
}

// An index of names tells of sessions that exist and makes none.
func TestNamesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		l := newLibrary(w)
		path := l.put("t", 10, told(a, 2))
		w.start()
		defer func() { w.stop() }()
		w.pass(3 * time.Second)
		l.put("index", 10, core.Facts{Native: a, Name: "given"})
		l.put("index2", 10, core.Facts{Native: b, Name: "of nobody"})
		w.pass(16 * time.Minute)
		if r := w.row(a); r.Name != "given" || r.Transcript != path || *r.Turns != 2 {
			t.Errorf("row = %+v", r.Session)
		}
		if n := w.e.Snapshot().Counts.All; n != 1 {
			t.Errorf("%d sessions, want 1", n)
		}
	})
}

// A transcript that moved (an archive does that) is followed; a smaller copy elsewhere is not; and a
// transcript that vanished takes nothing with it.
func TestTranscriptsMoveAndVanish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		l := newLibrary(w)
		first := l.put("first", 10, told(a, 2))
		w.start()
		defer func() { w.stop() }()
		w.pass(3 * time.Second)
		small := told(a, 1)
		small.Bytes = 50
		l.put("copy", 5, small)
		w.pass(16 * time.Minute)
		if r := w.row(a); r.Transcript != first || *r.Turns != 2 {
			t.Errorf("a smaller copy took over: %+v", r.Session)
		}
		if err := os.Remove(first); err != nil {
			t.Fatal(err)
		}
		archived := told(a, 2)
		archived.Archived = true
		second := l.put("second", 10, archived)
		w.pass(16 * time.Minute)
		if r := w.row(a); r.Transcript != second || !r.Archived {
			t.Errorf("a moved transcript was not followed: %+v", r.Session)
		}
		os.Remove(second)
		w.pass(16 * time.Minute)
		if r := w.row(a); *r.Turns != 2 || r.Status != core.StatusEnded {
			t.Errorf("a vanished transcript took with it: %+v", r.Session)
		}
	})
}

// What is torn or unknown in a transcript is counted, whether it names a session or not; one that
// cannot be read is a problem until it can.
func TestTroubleInTranscriptsIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		l := newLibrary(w)
		f := told(a, 2)
		f.Bad, f.Unknown = 2, map[string]int64{"riddle": 3}
		l.put("torn", 10, f)
		l.put("nameless", 10, core.Facts{Class: core.ClassNone, Lines: 1, Bad: 1, Unknown: map[string]int64{"riddle": 1}})
		l.put("locked", 10, told(b, 2))
		l.fails["locked"] = os.ErrPermission
		w.start()
		defer func() { w.stop() }()
		w.pass(3 * time.Second)
		h := w.e.Snapshot().Health
		if h.BadLines != 3 || h.UnknownTypes["riddle"] != 4 {
			t.Errorf("bad %d, unknown %v", h.BadLines, h.UnknownTypes)
		}
		if len(h.Problems) != 1 || h.Problems[0].ID != "import" || !strings.Contains(h.Problems[0].Text, "1 transcripts could not be read") {
			t.Errorf("problems = %+v", h.Problems)
		}
		l.mu.Lock()
		delete(l.fails, "locked")
		l.mu.Unlock()
		w.pass(16 * time.Minute)
		if h := w.e.Snapshot().Health; len(h.Problems) != 0 {
			t.Errorf("problems after the cure = %+v", h.Problems)
		}
		w.row(b)
	})
}

// A living session's transcript is read when it grew, half a minute later at most, soon after a turn,
// and once more after the end; not when nothing changed.
func TestRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		l := newLibrary(w)
		l.put("t", 10, told(a, 1))
		p := w.proc(100)
		w.register("p", p, "idle", a)
		w.hook("start", p, say(a))
		w.start()
		defer func() { w.stop() }()
		w.pass(2 * time.Minute)
		if n := l.scanned("t"); n != 1 {
			t.Fatalf("an unchanged transcript was read %d times", n)
		}
		grown := told(a, 2)
		grown.ContextTokens = new(int64)
		*grown.ContextTokens = 777
		l.put("t", 20, grown)
		w.pass(36 * time.Second)
		if r := w.row(a); r.ContextTokens == nil || *r.ContextTokens != 777 || *r.Turns != 2 {
			t.Errorf("a grown transcript was not read: %+v", r.Session)
		}
		l.put("t", 30, told(a, 3))
		w.hook("stop", p, say(a))
		w.pass(3 * time.Second)
		if r := w.row(a); *r.Turns != 3 {
			t.Errorf("after a turn: %d turns", *r.Turns)
		}
		w.hook("end", p, say(a))
		w.table.Drop(100)
		w.pass(2100 * time.Millisecond) // drained, and its last words are still to come
		l.put("t", 40, told(a, 4))
		w.pass(5 * time.Second)
		if r := w.row(a); *r.Turns != 4 || r.Status != core.StatusEnded {
			t.Errorf("after the end: %d turns, %s", *r.Turns, r.Status)
		}
		last := l.scanned("t")
		l.put("t", 50, told(a, 5))
		w.pass(5 * time.Minute)
		if n := l.scanned("t"); n != last {
			t.Errorf("a transcript of an ended session was refreshed %d times", n-last)
		}
	})
}

// One transcript that cannot be read makes the refresh sick once, not at every other turn, however
// many others can.
func TestRefreshDoesNotFlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		l := newLibrary(w)
		p, q := w.proc(100), w.proc(200)
		l.put("a", 10, told(a, 1))
		l.put("b", 10, told(b, 1))
		w.register("p", p, "idle", a)
		w.register("q", q, "idle", b)
		w.start()
		defer func() { w.stop() }()
		w.pass(10 * time.Second)
		l.mu.Lock()
		l.fails["a"] = os.ErrPermission
		l.mu.Unlock()
		for i := range 10 {
			l.put("a", 20+int64(i), told(a, 1))
			l.put("b", 20+int64(i), told(b, 1))
			w.hook("stop", q, say(b))
			w.pass(40 * time.Second)
		}
		if n := strings.Count(w.log.String(), "loop=refresh"); n != 1 {
			t.Errorf("%d lines about the refresh, want 1:\n%s", n, w.log)
		}
		l.mu.Lock()
		delete(l.fails, "a")
		l.mu.Unlock()
		w.pass(time.Minute)
		if n := strings.Count(w.log.String(), "loop=refresh"); n != 2 {
			t.Errorf("%d lines about the refresh after the cure, want 2", n)
		}
	})
}
