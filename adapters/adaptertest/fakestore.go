package adaptertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"tower/adapters/jsonl"
	"tower/core"
)

// FakeLine is one line of the fake agent's store. Types are open, prompt, slash, midturn, reply,
// name and skill; any other is unknown.
type FakeLine struct {
	Session string       `json:"session"`
	Type    string       `json:"type"`
	At      core.Instant `json:"at"`
	UID     string       `json:"uid,omitempty"`    // of a prompt; the same in a copy
	Text    string       `json:"text,omitempty"`   // prompt, slash, midturn, reply
	Name    string       `json:"name,omitempty"`   // name, skill
	CWD     string       `json:"cwd,omitempty"`    // open
	Model   string       `json:"model,omitempty"`  // open, reply
	Tokens  int64        `json:"tokens,omitempty"` // reply: context in use
	Parent  string       `json:"parent,omitempty"` // open
	Fork    string       `json:"fork,omitempty"`   // open
	Class   core.Class   `json:"class,omitempty"`  // open; main when empty
}

// Write appends lines to the store.
func (f *Fake) Write(lines ...FakeLine) error {
	if err := os.MkdirAll(f.info.Root, 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(f.Store(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(file)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			file.Close()
			return err
		}
	}
	return file.Close()
}

// Store returns the path of the one source.
func (f *Fake) Store() string { return filepath.Join(f.info.Root, "store.jsonl") }

// Transcripts finds the one source, if it exists.
func (f *Fake) Transcripts(ctx context.Context, found func(core.Source) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	st, err := os.Stat(f.Store())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find transcripts: %w", err)
	}
	found(core.Source{Agent: FakeName, Path: f.Store(), Fingerprint: core.Fingerprint{Size: st.Size(), MTime: st.ModTime().UnixNano()}})
	return nil
}

const fakeVersion = 1

// Scan reads the store from the cursor on and tells every session in it.
func (f *Fake) Scan(ctx context.Context, s core.Source, from core.Cursor) (core.Scan, error) {
	j, res, err := jsonl.Follow(ctx, s, from, fakeVersion, newFakeJudge)
	if err != nil {
		return core.Scan{}, err
	}
	judge := j.(*fakeJudge)
	out := core.Scan{Reset: res.Reset, Cursor: res.Cursor, Read: res.Read}
	for _, native := range slices.Sorted(maps.Keys(judge.Sessions)) {
		facts := *judge.Sessions[native]
		facts.Bytes = res.Size
		out.Deltas = append(out.Deltas, core.Delta{Facts: facts, Turns: judge.turns[native]})
	}
	return out, nil
}

// fakeJudge carries the facts of all sessions from scan to scan.
type fakeJudge struct {
	Sessions map[string]*core.Facts
	UIDs     map[int64]bool
	Broken   int64
	turns    map[string][]core.Turn
}

func newFakeJudge(state []byte) (jsonl.Judge, error) {
	j := &fakeJudge{Sessions: map[string]*core.Facts{}, UIDs: map[int64]bool{}, turns: map[string][]core.Turn{}}
	if state == nil {
		return j, nil
	}
	return j, json.Unmarshal(state, j)
}

// Line does nothing: lines are counted a session each, with their records.
func (j *fakeJudge) Line() {}

// Bad counts.
func (j *fakeJudge) Bad([]byte) {
	j.Broken++
	for _, f := range j.Sessions {
		f.Bad = j.Broken
	}
}

// State returns everything but the turns.
func (j *fakeJudge) State() ([]byte, error) { return json.Marshal(j) }

// Record takes a line in.
func (j *fakeJudge) Record(rec jsonl.Record) {
	var l FakeLine
	if json.Unmarshal(rec.Raw, &l) != nil || l.Session == "" {
		return
	}
	f := j.Sessions[l.Session]
	if f == nil {
		f = &core.Facts{Agent: FakeName, Native: l.Session, Class: core.ClassMain, Opened: l.At, Bad: j.Broken}
		j.Sessions[l.Session] = f
	}
	f.Lines++
	if l.At != 0 {
		if f.FirstAt == 0 || l.At < f.FirstAt {
			f.FirstAt = l.At
		}
		f.LastAt = max(f.LastAt, l.At)
	}
	if l.Model != "" {
		f.Model = l.Model
		add(&f.Models, l.Model)
	}
	switch l.Type {
	case "open":
		f.CWD, f.Parent, f.ForkedFrom = l.CWD, l.Parent, l.Fork
		if l.Class != "" {
			f.Class = l.Class
		}
	case "prompt":
		f.Typed++
		j.turn(f, l, core.TurnTyped)
	case "slash":
		f.Slash++
		j.turn(f, l, core.TurnSlash)
	case "midturn":
		f.MidTurn++
		j.turn(f, l, core.TurnMidTurn)
	case "reply":
		if l.Tokens != 0 {
			f.ContextTokens = &l.Tokens
		}
	case "name":
		f.Name = l.Name
	case "skill":
		add(&f.Skills, l.Name)
	default:
		add(&f.Unknown, l.Type)
	}
}

func (j *fakeJudge) turn(f *core.Facts, l FakeLine, kind core.TurnKind) {
	h := fnv.New64a()
	h.Write([]byte(string(FakeName) + ":" + l.UID))
	uid := int64(h.Sum64())
	if f.First == "" {
		f.First = l.Text
	}
	if j.UIDs[uid] {
		f.Copied++
		return
	}
	j.UIDs[uid] = true
	if f.Class == core.ClassMain {
		f.Turns++
		j.turns[f.Native] = append(j.turns[f.Native], core.Turn{UID: uid, At: l.At, Kind: kind})
	}
}

func add(m *map[string]int64, key string) {
	if *m == nil {
		*m = map[string]int64{}
	}
	(*m)[key]++
}
