package codex

import (
	"context"
	"path/filepath"
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

// ScanVersion counts the versions of Scan.
func (a *Adapter) ScanVersion() int { return scanVersion }

// Scan reads a rollout, or the session index.
//
// A rollout gives one Delta. Its Native is the id its first session_meta names; a rollout whose
// beginning is torn goes by the id in its file name, and a file that has neither has the empty Native,
// which only `tower scan` of a stray file meets.
//
// The session index gives a Delta for each session whose name has been set since the cursor, and none
// on the first reading. Such Facts have Lines 0 and nothing but Agent, Native, Name, AgentTitle and
// Archived: they are to be merged into a session that exists, each where it is not empty, and are no
// reason to make one.
func (a *Adapter) Scan(ctx context.Context, s core.Source, from core.Cursor) (core.Scan, error) {
	switch {
	case filepath.Base(s.Path) == indexFile:
		return a.scanNames(ctx, s, from)
	case strings.HasSuffix(s.Path, packed):
		return a.scanPacked(ctx, s)
	}
	j, res, err := a.follow(ctx, s, from)
	if err != nil {
		return core.Scan{}, err
	}
	read := res.Read
	if j.turned() && !res.Reset {
		// Earlier scans took the messages sent for the prompts; now the client has reported one.
		if j, res, err = a.follow(ctx, s, core.Cursor{}); err != nil {
			return core.Scan{}, err
		}
		read += res.Read
	}
	return core.Scan{
		Reset:  res.Reset,
		Deltas: []core.Delta{a.delta(ctx, j, s.Path, res.Size)},
		Cursor: res.Cursor,
		Read:   read,
	}, nil
}

func (a *Adapter) follow(ctx context.Context, s core.Source, from core.Cursor) (*judge, jsonl.Result, error) {
	nameID := idOf(s.Path)
	j, res, err := jsonl.Follow(ctx, s, from, scanVersion, func(state []byte) (jsonl.Judge, error) {
		return newJudge(state, nameID)
	})
	if err != nil {
		return nil, res, err
	}
	return j.(*judge), res, nil
}

// delta completes what the rollout tells with what stands elsewhere.
func (a *Adapter) delta(ctx context.Context, j *judge, path string, size int64) core.Delta {
	f := j.facts(a.info.Closeout)
	f.Agent, f.Bytes, f.Archived = a.info.Agent, size, archived(path)
	if f.Native == "" {
		f.Native = j.nameID
	}
	if n, ok := a.named(ctx, f.Native, false); ok {
		f.Name, f.AgentTitle = n.split(&j.thread)
		f.Archived = f.Archived || n.archived
		if f.Thread == "" {
			f.Thread = n.thread
		}
	}
	return core.Delta{Facts: f, Turns: j.turns()}
}

const archiveDir = "archived_sessions"

func archived(path string) bool {
	return filepath.Base(filepath.Dir(path)) == archiveDir
}

// idOf returns the thread id in a rollout's file name, or "".
func idOf(path string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".zst"), ".jsonl")
	if len(name) < 36 || !strings.HasPrefix(name, "rollout-") {
		return ""
	}
	if id := name[len(name)-36:]; core.IsUUID(id) {
		return id
	}
	return ""
}
