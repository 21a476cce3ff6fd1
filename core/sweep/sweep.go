// Package sweep looks at every transcript on disk and has those read that changed. It knows no
// format and no agent: an adapter lists its sources with their fingerprints and reads one from a
// cursor. What is unchanged is not opened, so that a sweep over ten thousand files costs a walk.
//
// It keeps no state but the [Index] it is given, writes nothing, and hands each [Result] to its
// caller, who decides what becomes of it. A source that cannot be read is counted and named; it never
// stops the others.
package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tower/core"
)

// young is how fresh a change has to be for the file's times to be unable to show the next one:
// kernels stamp in ticks, so a source read while hot is looked at again.
const young = 2 * time.Second

// Known is what an Index holds of a source.
type Known struct {
	core.Fingerprint
	Hot     bool
	Version int
}

// Index remembers the fingerprint of every source read. It is safe for concurrent use.
type Index struct {
	mu    sync.RWMutex
	known map[string]Known
}

// NewIndex returns an Index of the sources a ledger knows.
func NewIndex(sources map[string]core.SourceState) *Index {
	x := &Index{known: make(map[string]Known, len(sources))}
	for path, s := range sources {
		x.known[path] = Known{s.Fingerprint, s.Hot, s.Cursor.Version}
	}
	return x
}

// Get returns what is known of a source.
func (x *Index) Get(path string) (Known, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	k, ok := x.known[path]
	return k, ok
}

// Put notes a source as read.
func (x *Index) Put(s core.SourceState) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.known[s.Path] = Known{s.Fingerprint, s.Hot, s.Cursor.Version}
}

// Options says what to sweep and whom to tell.
type Options struct {
	Adapters []core.Adapter
	Index    *Index
	// Cursor returns where the last scan of a source stopped, the zero Cursor for one never read.
	Cursor func(ctx context.Context, path string) (core.Cursor, error)
	// Emit takes a result; calls do not overlap. Its error stops the sweep.
	Emit func(Result) error
	// Progress is told how many of the sources to read have been read; it may be nil.
	Progress func(done, total int64)
	Workers  int  // 0 = 2
	Full     bool // read everything from its start
}

// Result is one source read.
type Result struct {
	Source core.Source
	Scan   core.Scan
	Hot    bool
}

// Stats are the figures of a sweep.
type Stats struct {
	Sources int64 // listed
	Opened  int64
	Bytes   int64 // read
	Failed  int64
	Err     error // of sources and folders that could not be read, the first twenty joined
}

type job struct {
	adapter core.Adapter
	source  core.Source
}

// Run sweeps once. The error is that of Emit or of the context; what could not be read is in Stats.
func Run(ctx context.Context, o Options) (Stats, error) {
	var st Stats
	jobs, failed := o.list(ctx, &st)
	// The largest first, so that no worker is left alone with one at the end.
	slices.SortFunc(jobs, func(a, b job) int { return cmp.Compare(b.source.Size, a.source.Size) })
	total := int64(len(jobs))
	if o.Progress != nil && total > 0 {
		o.Progress(0, total)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var (
		next, done atomic.Int64
		mu         sync.Mutex // Emit and st
		wg         sync.WaitGroup
	)
	workers := o.Workers
	if workers == 0 {
		workers = 2
	}
	for range workers {
		wg.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= total || ctx.Err() != nil {
					return
				}
				r, err := o.read(ctx, jobs[i])
				mu.Lock()
				if ctx.Err() == nil {
					if err != nil {
						failed = append(failed, err)
						st.Failed++
					} else {
						st.Opened++
						st.Bytes += r.Scan.Read
						if err := o.Emit(r); err != nil {
							stop(err)
						}
					}
					if o.Progress != nil {
						o.Progress(done.Add(1), total)
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	st.Err = errors.Join(failed[:min(len(failed), 20)]...)
	return st, context.Cause(ctx)
}

// list walks all adapters at the same time and returns what has to be read.
func (o Options) list(ctx context.Context, st *Stats) ([]job, []error) {
	var (
		mu     sync.Mutex
		jobs   []job
		failed []error
		wg     sync.WaitGroup
	)
	for _, a := range o.Adapters {
		wg.Go(func() {
			version := Version(a)
			n, mine := int64(0), []job(nil)
			err := safely("walk", func() error {
				return a.Transcripts(ctx, func(s core.Source) bool {
					n++
					if o.Full || o.changed(s, version) {
						mine = append(mine, job{a, s})
					}
					return ctx.Err() == nil
				})
			})
			mu.Lock()
			defer mu.Unlock()
			st.Sources += n
			jobs = append(jobs, mine...)
			if err != nil {
				failed = append(failed, fmt.Errorf("list transcripts of %s: %w", a.Agent().Agent, err))
			}
		})
	}
	wg.Wait()
	return jobs, failed
}

func (o Options) changed(s core.Source, version int) bool {
	k, ok := o.Index.Get(s.Path)
	return !ok || k.Hot || k.Fingerprint != s.Fingerprint || version != 0 && k.Version != version
}

// Version returns the version of an adapter's scanner, 0 when it does not count them.
func Version(a core.Adapter) int {
	if v, ok := a.(core.Versioned); ok {
		return v.ScanVersion()
	}
	return 0
}

func (o Options) read(ctx context.Context, j job) (Result, error) {
	var from core.Cursor
	var err error
	k, known := o.Index.Get(j.source.Path)
	// Changed times without a byte more is a rewrite in place: nothing of the cursor can be trusted.
	rewritten := k.Size == j.source.Size && k.Fingerprint != j.source.Fingerprint
	if known && !rewritten && !o.Full {
		if from, err = o.Cursor(ctx, j.source.Path); err != nil {
			return Result{}, fmt.Errorf("look up cursor of %q: %w", j.source.Path, err)
		}
	}
	at := time.Now()
	var scan core.Scan
	err = safely(j.source.Path, func() (err error) {
		scan, err = j.adapter.Scan(ctx, j.source, from)
		return err
	})
	if err != nil {
		return Result{}, err
	}
	age := at.Sub(time.Unix(0, j.source.MTime)) // negative for a time in the future, which the next write will not have
	return Result{Source: j.source, Scan: scan, Hot: age >= 0 && age < young}, nil
}

// safely keeps a reader that stumbles over one file from taking the others down with it.
func safely(what string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: panic: %v", what, r)
		}
	}()
	return f()
}

// One reads a single source, from its cursor on when that can be trusted.
func One(ctx context.Context, o Options, a core.Adapter, s core.Source) (Result, error) {
	return o.read(ctx, job{a, s})
}

// Stat returns the fingerprint of a file.
func Stat(path string) (core.Fingerprint, error) {
	info, err := os.Stat(path)
	if err != nil {
		return core.Fingerprint{}, err
	}
	return fingerprint(info), nil
}
