package sweep

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tower/core"
)

// shelf is an adapter whose sources are values. What it does not implement is not asked for.
type shelf struct {
	core.Adapter
	name    core.Agent
	sources []core.Source
	version int
	scan    func(core.Source, core.Cursor) (core.Scan, error) // nil reads the rest of the source
	walk    error

	mu    sync.Mutex
	asked map[string]core.Cursor // by path, of the last Scan
}

func (s *shelf) Agent() core.AgentInfo { return core.AgentInfo{Agent: s.name} }
func (s *shelf) ScanVersion() int      { return s.version }

func (s *shelf) Transcripts(_ context.Context, found func(core.Source) bool) error {
	for _, x := range s.sources {
		if !found(x) {
			break
		}
	}
	return s.walk
}

func (s *shelf) Scan(_ context.Context, x core.Source, from core.Cursor) (core.Scan, error) {
	s.mu.Lock()
	if s.asked == nil {
		s.asked = map[string]core.Cursor{}
	}
	s.asked[x.Path] = from
	s.mu.Unlock()
	if s.scan != nil {
		return s.scan(x, from)
	}
	return core.Scan{Reset: from.Offset == 0, Read: x.Size - from.Offset, Cursor: core.Cursor{Version: s.version, Offset: x.Size}}, nil
}

func source(path string, size, mtime int64) core.Source {
	return core.Source{Path: path, Fingerprint: core.Fingerprint{Size: size, MTime: mtime}}
}

// kept is a ledger of sources, as far as a sweep sees one.
type kept struct {
	t       *testing.T
	index   *Index
	cursors map[string]core.Cursor
	emitted []Result
}

func newKept(t *testing.T) *kept {
	return &kept{t: t, index: NewIndex(nil), cursors: map[string]core.Cursor{}}
}

func (k *kept) options(list ...core.Adapter) Options {
	return Options{
		Adapters: list, Index: k.index,
		Cursor: func(_ context.Context, path string) (core.Cursor, error) { return k.cursors[path], nil },
		Emit: func(r Result) error {
			k.emitted = append(k.emitted, r)
			k.cursors[r.Source.Path] = r.Scan.Cursor
			k.index.Put(core.SourceState{Path: r.Source.Path, Fingerprint: r.Source.Fingerprint, Cursor: r.Scan.Cursor, Hot: r.Hot})
			return nil
		},
	}
}

func (k *kept) run(o Options) Stats {
	k.t.Helper()
	k.emitted = nil
	st, err := Run(k.t.Context(), o)
	if err != nil {
		k.t.Fatalf("Run: %v", err)
	}
	return st
}

var old = time.Now().Add(-time.Hour).UnixNano()

// TestWhatIsRead takes one source through everything that can happen between two sweeps.
func TestWhatIsRead(t *testing.T) {
	first := source("a", 100, old)
	for name, c := range map[string]struct {
		next    core.Source
		version int
		full    bool
		opened  int64
		from    int64 // offset read from
	}{
		"unchanged":               {next: first, version: 1},
		"grown":                   {next: source("a", 140, old+1), version: 1, opened: 1, from: 100},
		"shrunk":                  {next: source("a", 40, old+1), version: 1, opened: 1, from: 100}, // the reader sees that it is shorter
		"rewritten in place":      {next: source("a", 100, old+1), version: 1, opened: 1},
		"replaced by another":     {next: core.Source{Path: "a", Fingerprint: core.Fingerprint{Inode: 7, Size: 100, MTime: old}}, version: 1, opened: 1},
		"another scanner":         {next: first, version: 2, opened: 1, from: 100}, // the reader sees that its cursor is another's
		"everything":              {next: first, version: 1, full: true, opened: 1},
		"everything, grown":       {next: source("a", 140, old+1), version: 1, full: true, opened: 1},
		"a reader without number": {next: first, opened: 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shelf{sources: []core.Source{first}, version: min(c.version, 1)}
			k := newKept(t)
			if st := k.run(k.options(s)); st.Sources != 1 || st.Opened != 1 || st.Bytes != 100 {
				t.Fatalf("first sweep: %+v", st)
			}
			s.sources, s.version, s.asked = []core.Source{c.next}, c.version, nil
			o := k.options(s)
			o.Full = c.full
			st := k.run(o)
			if st.Sources != 1 || st.Opened != c.opened || int64(len(k.emitted)) != c.opened || st.Failed != 0 {
				t.Errorf("second sweep: %+v, %d emitted, want %d opened", st, len(k.emitted), c.opened)
			}
			if c.opened > 0 && s.asked["a"].Offset != c.from {
				t.Errorf("read from %d, want %d", s.asked["a"].Offset, c.from)
			}
		})
	}
}

// A source read within the grain of its times is looked at once more, though nothing shows a change.
func TestHotIsReadOnceMore(t *testing.T) {
	s := &shelf{sources: []core.Source{source("now", 10, time.Now().UnixNano()), source("future", 10, time.Now().Add(time.Hour).UnixNano())}}
	k := newKept(t)
	k.run(k.options(s))
	for _, r := range k.emitted {
		if r.Hot != (r.Source.Path == "now") {
			t.Errorf("%s is hot: %v", r.Source.Path, r.Hot)
		}
	}
	st := k.run(k.options(s))
	if st.Opened != 1 || k.emitted[0].Source.Path != "now" || s.asked["now"].Offset != 10 {
		t.Errorf("second sweep: %+v, from %+v", st, s.asked["now"])
	}
}

func TestTheLargestFirst(t *testing.T) {
	s := &shelf{sources: []core.Source{source("small", 1, old), source("large", 300, old), source("middle", 20, old)}}
	k := newKept(t)
	o := k.options(s)
	o.Workers = 1
	k.run(o)
	if !slices.IsSortedFunc(k.emitted, func(a, b Result) int { return cmp.Compare(b.Source.Size, a.Source.Size) }) {
		t.Errorf("read in the order %+v", k.emitted)
	}
}

// What fails is counted and named, tried again at the next sweep, and stops nothing else: not a file
// that cannot be read, not a reader that panics, not a folder that cannot be walked.
func TestFailuresStopNothing(t *testing.T) {
	good := &shelf{name: "good", sources: []core.Source{source("fine", 5, old)}}
	bad := &shelf{name: "bad", walk: errors.New("folder locked"), sources: []core.Source{source("locked", 5, old), source("odd", 5, old), source("whole", 5, old)}}
	bad.scan = func(x core.Source, _ core.Cursor) (core.Scan, error) {
		switch x.Path {
		case "locked":
			return core.Scan{}, &fs.PathError{Op: "open", Path: x.Path, Err: fs.ErrPermission}
		case "odd":
			panic("no luck")
		}
		return core.Scan{}, nil
	}
	k := newKept(t)
	for range 2 {
		st := k.run(k.options(good, bad, falling{}))
		if st.Sources != 4 || st.Failed != 2 || !errors.Is(st.Err, fs.ErrPermission) {
			t.Errorf("stats = %+v", st)
		}
		for _, want := range []string{"list transcripts of bad: folder locked", "odd: panic: no luck", "list transcripts of falling: walk: panic: fell"} {
			if st.Err == nil || !strings.Contains(st.Err.Error(), want) {
				t.Errorf("error %v does not say %q", st.Err, want)
			}
		}
	}
	if _, ok := k.index.Get("odd"); ok {
		t.Error("a source that failed counts as read")
	}
	if _, ok := k.index.Get("whole"); !ok {
		t.Error("a source beside the failing ones was not read")
	}
}

type falling struct{ core.Adapter }

func (falling) Agent() core.AgentInfo                                     { return core.AgentInfo{Agent: "falling"} }
func (falling) Transcripts(context.Context, func(core.Source) bool) error { panic("fell") }

func TestEmitStopsTheSweep(t *testing.T) {
	s := &shelf{}
	for _, p := range strings.Split("abcdefghij", "") {
		s.sources = append(s.sources, source(p, 1, old))
	}
	k := newKept(t)
	full := errors.New("no room")
	o := k.options(s)
	o.Emit = func(Result) error { return full }
	st, err := Run(t.Context(), o)
	if !errors.Is(err, full) || st.Opened == int64(len(s.sources)) {
		t.Errorf("Run = %+v, %v; want %v and an early end", st, err, full)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &shelf{sources: []core.Source{source("a", 2, old), source("b", 1, old)}}
	s.scan = func(core.Source, core.Cursor) (core.Scan, error) { cancel(); return core.Scan{}, ctx.Err() }
	k := newKept(t)
	st, err := Run(ctx, k.options(s))
	if !errors.Is(err, context.Canceled) || st.Failed != 0 || len(k.emitted) != 0 {
		t.Errorf("Run = %+v, %v, emitted %d", st, err, len(k.emitted))
	}
}

func TestProgress(t *testing.T) {
	s := &shelf{sources: []core.Source{source("a", 2, old), source("b", 1, old), source("c", 1, old)}}
	k := newKept(t)
	var told []int64
	o := k.options(s)
	o.Progress = func(done, total int64) {
		if total != 3 {
			t.Errorf("%d of %d", done, total)
		}
		told = append(told, done)
	}
	k.run(o)
	if !slices.Equal(told, []int64{0, 1, 2, 3}) {
		t.Errorf("told %v", told)
	}
	told = nil
	k.run(o)
	if told != nil {
		t.Errorf("a sweep with nothing to read told %v", told)
	}
}

func TestStat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	one, err := Stat(path)
	if err != nil || one.Size != 3 || one.MTime == 0 {
		t.Fatalf("Stat = %+v, %v", one, err)
	}
	if two, _ := Stat(path); one != two {
		t.Errorf("nothing happened, and %+v became %+v", one, two)
	}
	if _, err := Stat(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat of nothing = %v", err)
	}
}
