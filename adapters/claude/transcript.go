package claude

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"tower/adapters/jsonl"
	"tower/core"
)

// scanner is the version of what judge makes of a transcript. Raising it re-reads every source once.
const scanner = 2

const (
	suffix    = ".jsonl"
	agentFile = "agent-"    // how the name of a sub-agent's file begins
	subagents = "subagents" // the folder of them, beside the session's file
	subHint   = "subagent/" // Source.Hint of one, followed by the parent's id where the path tells it
)

// ScanVersion counts the versions of Scan.
func (a *Adapter) ScanVersion() int { return scanner }

// Transcripts calls found for every transcript below the root: projects/<folder>/*.jsonl, where
// sub-agents of older versions lie too, and projects/<folder>/<session>/subagents/*.jsonl. The names
// of the folders are never decoded: they are lossy.
func (a *Adapter) Transcripts(ctx context.Context, found func(core.Source) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dirs, errs := a.projects()

	// Two walkers hide the latency of a cold disk; found is called on the caller's goroutine alone.
	type batch struct {
		sources []core.Source
		err     error
	}
	todo, done := make(chan string), make(chan batch, 2)
	var walkers sync.WaitGroup
	for range 2 {
		walkers.Go(func() {
			for dir := range todo {
				sources, err := a.folder(dir)
				select {
				case done <- batch{sources, err}:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	walkers.Go(func() {
		defer close(todo)
		for _, dir := range dirs {
			select {
			case todo <- dir:
			case <-ctx.Done():
				return
			}
		}
	})
	go func() { walkers.Wait(); close(done) }()

	more := true
	for b := range done {
		if b.err != nil {
			errs = append(errs, b.err)
		}
		for i := 0; more && i < len(b.sources); i++ {
			if more = found(b.sources[i]); !more {
				cancel()
			}
		}
	}
	if more && ctx.Err() != nil {
		errs = append(errs, ctx.Err())
	}
	return errors.Join(errs...)
}

// projects lists the project folders. An agent that never ran has none, which is no error.
func (a *Adapter) projects() (dirs []string, errs []error) {
	tops := a.info.Transcripts
	if len(tops) == 0 {
		tops = []string{"projects"}
	}
	for _, top := range tops {
		top = filepath.Join(a.info.Root, top)
		entries, err := list(top)
		if err != nil {
			errs = append(errs, err)
		}
		for _, e := range entries {
			if e.IsDir() || e.Type()&os.ModeSymlink != 0 {
				dirs = append(dirs, filepath.Join(top, e.Name()))
			}
		}
	}
	return dirs, errs
}

// folder lists the transcripts of one project folder.
func (a *Adapter) folder(dir string) (found []core.Source, err error) {
	entries, err := list(dir)
	errs := []error{err}
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() {
			if s, ok := a.source(dir, name, ""); ok {
				found = append(found, s)
			}
			continue
		}
		if !core.IsUUID(name) {
			continue
		}
		sub := filepath.Join(dir, name, subagents)
		below, err := list(sub)
		errs = append(errs, err)
		for _, e := range below {
			if s, ok := a.source(sub, e.Name(), name); ok && !e.IsDir() {
				found = append(found, s)
			}
		}
	}
	return found, errors.Join(errs...)
}

func (a *Adapter) source(dir, name, parent string) (core.Source, bool) {
	if !strings.HasSuffix(name, suffix) {
		return core.Source{}, false
	}
	s := core.Source{Agent: a.info.Agent, Path: dir + string(filepath.Separator) + name}
	if parent != "" || strings.HasPrefix(name, agentFile) {
		s.Hint = subHint + parent
	}
	var ok bool
	s.Fingerprint, ok = jsonl.Fingerprint(s.Path)
	return s, ok
}

// list reads a folder in the order the disk gives it; a missing one is empty.
func list(dir string) ([]os.DirEntry, error) {
	f, err := os.Open(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil && errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	return entries, err
}

// Scan reads one transcript. It holds exactly one session, which is the file's name; a sub-agent's is
// a session of its own below its parent's. See judge for what counts as what.
//
// A slash command is judged by the lines behind it. When a scan ended between the two, called it a
// turn, and the rest then tells that it never left the terminal, the source is read again from its
// start: a Reset is how a turn is taken back.
func (a *Adapter) Scan(ctx context.Context, src core.Source, from core.Cursor) (core.Scan, error) {
	j, res, err := a.read(ctx, src, from)
	if err != nil {
		return core.Scan{}, err
	}
	if j.takeBack {
		read := res.Read
		if j, res, err = a.read(ctx, src, core.Cursor{}); err != nil {
			return core.Scan{}, err
		}
		res.Read += read
	}
	delta := core.Delta{Facts: j.facts(res.Size), Turns: j.turns}
	if delta.Facts.Class != core.ClassMain {
		delta.Turns = nil // whatever stands in it, nobody typed it
	}
	return core.Scan{
		Reset:  res.Reset,
		Deltas: []core.Delta{delta},
		Cursor: res.Cursor,
		Read:   res.Read,
	}, nil
}

func (a *Adapter) read(ctx context.Context, src core.Source, from core.Cursor) (*judge, jsonl.Result, error) {
	got, res, err := jsonl.Follow(ctx, src, from, scanner, func(state []byte) (jsonl.Judge, error) {
		return newJudge(a.info, src, state)
	})
	if err != nil {
		return nil, res, err
	}
	return got.(*judge), res, nil
}

// source is what the path of a transcript tells.
type source struct {
	native string // id as the file's name gives it
	named  bool   // the name says so in the way of a sub-agent's
	sub    bool   // a sub-agent's file
	parent string // of a sub-agent
}

func identity(src core.Source) (s source) {
	path := filepath.ToSlash(src.Path)
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	s.native, s.named = strings.CutPrefix(strings.TrimSuffix(name, suffix), agentFile)
	s.parent, s.sub = strings.CutPrefix(src.Hint, subHint)
	if !s.sub {
		s.parent = ""
	}
	if above, ok := strings.CutSuffix(dir, "/"+subagents); ok {
		s.sub = true
		if id := above[strings.LastIndexByte(above, '/')+1:]; s.parent == "" && core.IsUUID(id) {
			s.parent = id
		}
	}
	s.sub = s.sub || s.named
	return s
}
