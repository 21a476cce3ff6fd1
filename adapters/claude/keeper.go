package claude

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

// proofSize is how much of a transcript's head, and of its end, is read to prove whose it is.
const proofSize = 256 << 10

// Holds proves that the session can be taken up again: its transcript exists, bears its id as name and
// holds a line that says the same, see [core.Keeper]. A copy that was made by an older version begins
// with lines of the session it copied, so the end is looked at as well.
func (a *Adapter) Holds(ctx context.Context, s core.Session) error {
	no := func(why, hint string) error {
		return &core.Refusal{What: "Not resumed.", Why: why, Hint: hint}
	}
	const another = "Continue with another agent, or start a new session."
	if !core.IsUUID(s.Native) {
		return no("Its id is not one that Claude Code gives.", another)
	}
	path := a.transcript(s)
	switch {
	case path != "":
	case s.Transcript != "":
		return no("Its transcript "+a.short(s.Transcript)+" is gone.", another)
	default:
		return no("No transcript of it is recorded, and Claude Code keeps none for its folder.", another)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if filepath.Base(path) != s.Native+suffix {
		return no("Its transcript "+a.short(path)+" bears the id of another session.", another)
	}
	holds, err := holdsID(path, s.Native)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return no("Its transcript "+a.short(path)+" is gone.", another)
	case err != nil:
		return no("Its transcript "+a.short(path)+" cannot be read: "+cause(err)+".", another)
	case !holds:
		return no("Its transcript "+a.short(path)+" holds no line of this session.", another)
	}
	return nil
}

// holdsID looks for a line of the session in the head of a file and then in its end.
func holdsID(path, id string) (bool, error) {
	f, err := jsonl.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, proofSize))
	if err != nil {
		return false, err
	}
	if lineOf(head, id) || len(head) < proofSize {
		return lineOf(head, id), nil
	}
	end, _, err := last(f, proofSize)
	return lineOf(end, id), err
}

// lineOf tells whether a line says that it is the session's. Of a line that was cut, what stands
// before the cut counts.
func lineOf(b []byte, id string) (found bool) {
	for line := range bytes.Lines(b) {
		jsonl.Object(line, func(key, val []byte) bool {
			found = found || string(key) == "sessionId" && jsonl.Is(val, id)
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// short writes a path as a person would.
func (a *Adapter) short(path string) string {
	if a.home == "" {
		return path
	}
	if below, ok := strings.CutPrefix(path, a.home+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + below
	}
	return path
}

// cause is an error without the path, which the sentence around it names.
func cause(err error) string {
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}
