package codex

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"

	"tower/adapters/jsonl"
	"tower/adapters/rosqlite"
	"tower/core"
)

// Begun returns the threads a person began in a folder since then: those of the state database or, where
// there is none that can be read, those whose rollouts lie in the folders of the days in question. Either
// knows a thread from its first turn on.
func (a *Adapter) Begun(ctx context.Context, dir string, since core.Instant) ([]core.Begun, error) {
	dir = resolved(dir)
	if path := newestState(a.info.Root); path != "" {
		if all, err := begunIn(ctx, path, dir, since); err == nil {
			return all, nil
		}
	}
	return a.begunOnDisk(ctx, dir, since)
}

// resolved follows links. A folder that is not there is its own name.
func resolved(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}

func begunIn(ctx context.Context, path, dir string, since core.Instant) (all []core.Begun, err error) {
	err = rosqlite.Read(ctx, path, func(ctx context.Context, db *sql.DB) error {
		all = nil
		has, err := columns(ctx, db)
		if err != nil {
			return err
		}
		at := "created_at * 1000"
		if has["created_at_ms"] {
			at = "coalesce(created_at_ms, created_at * 1000)"
		}
		user := "1"
		if has["thread_source"] {
			user = "thread_source = 'user'"
		}
		rows, err := db.QueryContext(ctx, "SELECT id, cwd, "+at+" FROM threads WHERE "+at+" >= ? AND "+user+" AND source NOT IN ('exec', 'mcp') ORDER BY 3, 1", int64(since))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var b core.Begun
			if err := rows.Scan(&b.Native, &b.CWD, &b.At); err != nil {
				return err
			}
			if resolved(b.CWD) == dir {
				all = append(all, b)
			}
		}
		return rows.Err()
	})
	return all, err
}

// begunOnDisk reads the beginnings of the rollouts that were written since then. A rollout lies in the
// folder of the local day it was begun.
func (a *Adapter) begunOnDisk(ctx context.Context, dir string, since core.Instant) ([]core.Begun, error) {
	var all []core.Begun
	day := since.Time().Local()
	for _, off := range []int{0, 1} {
		folder := filepath.Join(a.info.Root, "sessions", day.AddDate(0, 0, off).Format("2006/01/02"))
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // no thread was begun that day
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			path := filepath.Join(folder, e.Name())
			print, ok := jsonl.Fingerprint(path)
			if !ok || idOf(path) == "" || !strings.HasSuffix(path, plain) || print.MTime < since.Time().UnixNano() {
				continue
			}
			j, err := header(path)
			if err != nil || j.ID == "" || j.Class != core.ClassMain || j.Source != "" && j.Source != "user" {
				continue
			}
			if j.begun() >= since && resolved(j.CWD) == dir {
				all = append(all, core.Begun{Native: j.ID, CWD: j.CWD, At: j.begun()})
			}
		}
	}
	return all, nil
}

// begun returns when the thread was opened: by its id, which was made then, else by its first line, which
// was written with the first turn.
func (t *thread) begun() core.Instant {
	if at, ok := dayOf(t.ID); ok {
		return core.InstantOf(at)
	}
	return t.Opened
}
