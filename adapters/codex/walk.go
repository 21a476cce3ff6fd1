package codex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

const (
	plain  = ".jsonl"
	packed = ".jsonl.zst"
)

// Transcripts finds the rollouts, the archived ones included, and the session index. Rollouts lie at
// sessions/YYYY/MM/DD and, archived, in one flat folder.
func (a *Adapter) Transcripts(ctx context.Context, found func(core.Source) bool) error {
	w := walk{ctx: ctx, agent: a.info.Agent, found: found}
	w.file(filepath.Join(a.info.Root, indexFile))
	folders := a.info.Transcripts
	if len(folders) == 0 {
		folders = []string{"sessions", archiveDir}
	}
	for _, folder := range folders {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(a.info.Root, folder)
		}
		w.folder(folder, 0)
	}
	return errors.Join(append(w.errs, ctx.Err())...)
}

// depth is how far below a folder of transcripts rollouts are looked for: the three of the date.
const depth = 3

type walk struct {
	ctx   context.Context
	agent core.Agent
	found func(core.Source) bool
	errs  []error
	over  bool
}

// folder looks at names first and asks for a file's state only where the name is a rollout's: that
// and the absence of sorting are what the walk of ten thousand files costs.
func (w *walk) folder(path string, level int) {
	if w.over || w.ctx.Err() != nil {
		return
	}
	dir, err := os.Open(path)
	if err != nil {
		w.fail(err)
		return
	}
	entries, err := dir.ReadDir(-1)
	dir.Close()
	w.fail(err)
	for _, e := range entries {
		name := e.Name()
		switch {
		case e.IsDir():
			if level < depth {
				w.folder(path+string(os.PathSeparator)+name, level+1)
			}
		case e.Type().IsRegular() && strings.HasPrefix(name, "rollout-") && (strings.HasSuffix(name, plain) || strings.HasSuffix(name, packed)):
			w.file(path + string(os.PathSeparator) + name)
		}
		if w.over {
			return
		}
	}
}

// file reports a file. One that vanished since it was listed was archived or deleted.
func (w *walk) file(path string) {
	if print, ok := jsonl.Fingerprint(path); ok && !w.over {
		w.over = !w.found(core.Source{Agent: w.agent, Path: path, Fingerprint: print})
	}
}

// fail keeps what went wrong and lets the walk go on.
func (w *walk) fail(err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.errs = append(w.errs, fmt.Errorf("list rollouts: %w", err))
	}
}
