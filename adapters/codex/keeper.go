package codex

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"tower/adapters/jsonl"
	"tower/core"
)

const notResumed = "Not resumed."

// Holds proves that a thread can be taken up: its rollout is there, archived or packed perhaps, and the
// header in it names this very thread. The file's name alone proves nothing.
func (a *Adapter) Holds(ctx context.Context, s core.Session) error {
	no := func(why string) error { return &core.Refusal{What: notResumed, Why: why, Hint: "Nothing was started."} }
	if !core.IsUUID(s.Native) {
		return no("The session has no Codex id.")
	}
	path := a.keeps(ctx, s)
	if path == "" {
		if s.Transcript != "" {
			return no(fmt.Sprintf("Its rollout %s is gone, and Codex keeps no other of this thread.", s.Transcript))
		}
		return no("Codex keeps no rollout of this thread: it writes none before the first turn.")
	}
	id, err := headerID(path)
	switch {
	case err != nil:
		return no(fmt.Sprintf("Its rollout cannot be read: %v.", err))
	case id == "":
		return no(fmt.Sprintf("The rollout %s does not say which thread it is of.", path))
	case id != s.Native:
		return no(fmt.Sprintf("The rollout %s is of another thread, %s.", path, id))
	}
	return nil
}

// keeps returns the rollout of a session, or "": the file it is known by, else the one its id leads to.
func (a *Adapter) keeps(ctx context.Context, s core.Session) string {
	if path := a.written(s); path != "" {
		return path
	}
	found := ""
	// A folder that cannot be read hides nothing that lies in another.
	_ = a.Transcripts(ctx, func(src core.Source) bool {
		if idOf(src.Path) == s.Native {
			found = src.Path
		}
		return !strings.HasSuffix(found, plain)
	})
	return found
}

// written is [Adapter.keeps] for a thread that runs or ran lately: it looks at no more than four folders.
func (a *Adapter) written(s core.Session) string {
	if s.Transcript != "" {
		if info, err := os.Stat(s.Transcript); err == nil && info.Mode().IsRegular() {
			return s.Transcript
		}
	}
	if !core.IsUUID(s.Native) {
		return ""
	}
	return a.rollout(s.Native)
}

// headSize is as much of a rollout as is read for its header. The instructions of the model stand in it,
// some twenty kilobytes.
const headSize = 1 << 20

// headerID returns the id of the thread a rollout is of, "" when its beginning tells none.
func headerID(path string) (string, error) {
	j, err := header(path)
	if err != nil {
		return "", err
	}
	return j.ID, nil
}

// header reads the beginning of a rollout up to the record that says which thread it is of.
func header(path string) (*judge, error) {
	file, err := jsonl.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := io.Reader(file)
	if strings.HasSuffix(path, packed) {
		z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		in = z
	}
	b, err := io.ReadAll(io.LimitReader(in, headSize))
	if err != nil {
		return nil, err
	}
	j, err := newJudge(nil, "")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		if judgeLine(j, []byte(line)); j.ID != "" {
			break
		}
	}
	return j, nil
}
