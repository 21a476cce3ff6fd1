package engine

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"tower/core"
	"tower/core/sweep"
)

// A transaction of the import takes at most this many sources or this long, whichever is first, so
// that a live event never waits for an import.
const (
	batchSources = 200
	batchTime    = 250 * time.Millisecond
)

func (e *Engine) sweepEvery() time.Duration {
	return time.Duration(max(1, e.o.Config.SweepMinutes)) * time.Minute
}

func (e *Engine) sweepOptions() sweep.Options {
	return sweep.Options{Adapters: e.o.Adapters, Index: e.index, Cursor: e.cursor}
}

func (e *Engine) cursor(ctx context.Context, path string) (core.Cursor, error) {
	s, _, err := e.db.Source(ctx, path)
	return s.Cursor, err
}

func (e *Engine) sweepAll(ctx context.Context) error {
	_, err := e.importNow(ctx, false)
	return err
}

// importNow sweeps over every transcript and keeps what changed. The inbox comes first: hooks know how
// a session ended and in which process it ran, and a transcript that arrived before them would make a
// finished session of it.
func (e *Engine) importNow(ctx context.Context, full bool) (core.ImportResult, error) {
	undrained := e.drain(ctx)
	if ctx.Err() != nil {
		return core.ImportResult{}, context.Cause(ctx) // told to end, which is no sickness
	}
	if e.health.tick("drain", undrained, e.log) {
		wake(e.wakes.faces)
	}
	if err := e.reading.take(ctx); err != nil {
		return core.ImportResult{}, err
	}
	defer e.reading.give()
	if e.health.sick("ledger") != "" {
		// What cannot be kept is not read: it would wait in memory, and be read again the next time.
		if err := e.post(ctx, e.commit); err != nil {
			return core.ImportResult{}, err
		}
	}
	defer e.health.setProgress(core.Progress{})
	began, rows := time.Now(), e.health.written()
	var batch []sweep.Result
	var since time.Time
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := e.post(ctx, func(ctx context.Context) error {
			for _, r := range batch {
				e.found(r)
			}
			e.dirty = true
			return e.commit(ctx)
		})
		batch = batch[:0]
		return err
	}
	o := e.sweepOptions()
	o.Full = full
	o.Progress = func(done, total int64) {
		p := core.Progress{Running: true, Done: done, Total: total}
		e.health.setProgress(p)
		if e.o.Progress != nil {
			e.o.Progress(p)
		}
	}
	o.Emit = func(r sweep.Result) error {
		if len(batch) == 0 {
			since = time.Now()
		}
		batch = append(batch, r)
		if len(batch) >= batchSources || time.Since(since) >= batchTime {
			return flush()
		}
		return nil
	}
	st, err := sweep.Run(ctx, o)
	if err == nil {
		err = flush()
	}
	e.health.setProgress(core.Progress{})
	if st.Opened > 0 && err == nil {
		e.health.importedOnce()
		wake(e.wakes.faces)
	}
	if st.Opened > 50 {
		if cerr := e.db.Checkpoint(ctx); cerr != nil && ctx.Err() == nil {
			e.log.Warn("checkpoint ledger", "error", cerr)
		}
		if !e.once {
			debug.FreeOSMemory() // an import leaves garbage that the idle tower would carry for minutes
		}
	}
	e.totals(ctx)
	r := core.ImportResult{
		Sources: st.Sources, Opened: st.Opened, BytesRead: st.Bytes, Failed: st.Failed,
		RowsWritten: e.health.written() - rows, Seconds: time.Since(began).Seconds(),
	}
	if st.Opened > 0 || st.Failed > 0 {
		e.log.Info("imported", "sources", r.Sources, "opened", r.Opened, "bytes", r.BytesRead, "rows", r.RowsWritten, "failed", r.Failed, "seconds", r.Seconds)
	}
	text, fix := "", ""
	if st.Err != nil {
		text = fmt.Sprintf("%d transcripts could not be read: %v", max(1, st.Failed), st.Err)
		fix = "Check their permissions; they are tried again at the next import."
	}
	if e.health.problem("import", text, fix) {
		wake(e.wakes.faces)
	}
	return r, err
}

// totals refreshes the diagnostics that are sums over all sources.
func (e *Engine) totals(ctx context.Context) {
	bad, unknown, err := e.db.Totals(ctx)
	if err != nil {
		if ctx.Err() == nil {
			e.log.Warn("sum up transcripts", "error", err)
		}
		return
	}
	e.health.totals(bad, unknown)
}

// found turns what a source told into events and rows. Owner only.
func (e *Engine) found(r sweep.Result) {
	state := core.SourceState{
		Path: r.Source.Path, Agent: r.Source.Agent, Fingerprint: r.Source.Fingerprint, Cursor: r.Scan.Cursor, Hot: r.Hot,
	}
	now := core.InstantOf(time.Now())
	for i := range r.Scan.Deltas {
		d := &r.Scan.Deltas[i]
		f := &d.Facts
		state.Bad += f.Bad
		for name, n := range f.Unknown {
			if state.Unknown == nil {
				state.Unknown = map[string]int64{}
			}
			state.Unknown[name] += n
		}
		if f.Native == "" {
			continue
		}
		if err := tidyDelta(d, r.Source.MTime, now); err != nil {
			e.log.Warn("session not kept", "source", r.Source.Path, "error", err)
			continue
		}
		ev := core.Event{Kind: core.EventFacts, Agent: f.Agent, Native: f.Native, Facts: f, Transcript: r.Source.Path}
		s := e.picture.Session(ev.Session())
		if f.NamesOnly() {
			if s != nil { // an index names sessions whose transcripts tell of them, or will
				if err := e.take(ev); err != nil {
					e.log.Error("names not taken", "source", r.Source.Path, "error", err)
				}
			}
			continue
		}
		if s != nil && s.Transcript != "" && s.Transcript != r.Source.Path {
			_, err := os.Lstat(s.Transcript)
			ev.Moved = os.IsNotExist(err)
		}
		if err := e.take(ev); err != nil {
			e.log.Error("session not kept", "source", r.Source.Path, "error", err)
			continue
		}
		if state.Session == "" {
			state.Session = ev.Session()
		}
		e.pending.Turns = append(e.pending.Turns, core.TurnBatch{
			Session: ev.Session(), Source: r.Source.Path, Opened: f.Opened, Replace: r.Scan.Reset,
			Turns: d.Turns, Folders: f.Folders, Skills: f.Skills,
		})
	}
	e.pending.Sources = append(e.pending.Sources, state)
}
