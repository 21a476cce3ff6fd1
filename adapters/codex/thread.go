package codex

import (
	"maps"
	"unicode/utf8"

	"tower/core"
)

// thread is what a rollout has told so far: the carry of a scan, kept as JSON in the cursor. It holds
// everything the judgement of a later line can depend on, so that a scan in pieces tells what a scan
// of the whole tells.
type thread struct {
	ID      string `json:"id,omitempty"`
	Flat    bool   `json:"flat,omitempty"` // the header has no type: items follow bare and without time
	Class   core.Class
	Parent  string `json:",omitempty"`
	Fork    string `json:",omitempty"`
	Source  string `json:",omitempty"` // thread_source
	CWD     string `json:",omitempty"`
	Version string `json:",omitempty"`
	Origin  string `json:",omitempty"`

	Replay replay

	// Told are the prompts the client itself reports (user_message events, UserMessage items), Sent
	// the user-role messages that went to the model. The second count only where there is none of the
	// first: older rollouts, and those of other clients.
	Told, Sent prompts
	Recent     []recent `json:",omitempty"`
	PendSkill  uint64   `json:",omitempty"` // hash of an injected skill text no prompt has claimed yet
	PendName   string   `json:",omitempty"`

	Model  string           `json:",omitempty"`
	Models map[string]int64 `json:",omitempty"`
	Tokens *int64           `json:",omitempty"` // of the context, as last read
	Total  int64            `json:",omitempty"` // of the session at that reading: both equal is a repeat
	Window *int64           `json:",omitempty"`
	Stale  bool             `json:",omitempty"`

	SkillItems map[string]int64 `json:",omitempty"` // chosen at the prompt
	SkillTexts map[string]int64 `json:",omitempty"` // put into the context
	Changed    map[string]int64 `json:",omitempty"` // folders of files changed
	Asked      map[string]int64 `json:",omitempty"` // folders named in tool calls

	// Steps counts what cannot be written while a person is asked: outcomes of tools, ends and beginnings
	// of turns, prompts. The call that is asked about, and the counters behind it, are no steps: they may
	// reach the file after the question has been told.
	Steps  int64        `json:",omitempty"`
	Busy   bool         `json:",omitempty"` // a turn has begun and not ended
	Turned core.Instant `json:",omitempty"` // when it last began or ended

	First, Last, Opened core.Instant     `json:",omitempty"`
	Lines, Bad          int64            `json:",omitempty"`
	Unknown             map[string]int64 `json:",omitempty"`
}

// prompts is one way of counting them.
type prompts struct {
	N      int64        `json:",omitempty"`
	Copied int64        `json:",omitempty"`
	First  string       `json:",omitempty"` // the first one that is no copy and has words
	At     core.Instant `json:",omitempty"` // of the first one that is no copy
	Last   int64        `json:",omitempty"` // uid of the latest, to know a line written twice
	Kept   bool         `json:",omitempty"` // Last is set
}

// recent is a prompt that may still be reported a second time, in the other generation's words.
type recent struct {
	Hash uint64
	At   core.Instant
	Item bool
}

// replay says whether lines are the repetition of another thread's history at the head of a fork.
//
// A fork of the older kind begins with its own session_meta and then repeats the parent's lines, its
// session_meta first, all stamped anew within the moment of forking:
//
//	own meta     12:00:00.1 \
//	parent meta  12:00:00.1  | the second of the fork, or one burst of
//	…            12:00:00.9  | lines that runs over into the next second,
//	…            12:00:01.0 /  or older stamps where they were kept
//	own prompt   12:05:07.3    the first line that is neither ends it
//
// The newer kind points into the parent's file (history_base) and repeats nothing.
type replay struct {
	On   bool         `json:",omitempty"`
	From core.Instant `json:",omitempty"` // of the first line
	Prev core.Instant `json:",omitempty"`
	Over bool         `json:",omitempty"` // the moment of forking has passed
}

// burst is the largest gap between two lines of one burst, in milliseconds.
const burst = 50

// step moves the replay on to a line written at an instant.
func (r *replay) step(at core.Instant) {
	if at == 0 || r.Over {
		return
	}
	if r.From == 0 {
		r.From = at
	}
	if at/1000 > r.From/1000 && (r.Prev == 0 || at-r.Prev > burst) {
		r.Over, r.On = true, false
	}
	r.Prev = max(r.Prev, at)
}

// mine tells whether the line in hand belongs to this thread.
func (t *thread) mine() bool { return !t.Replay.On }

// counted is the way of counting that holds for the rollout as far as it is known.
func (t *thread) counted() *prompts {
	if t.Told.N > 0 {
		return &t.Told
	}
	return &t.Sent
}

// facts states what is known. Names are not in a rollout and come from elsewhere.
func (t *thread) facts(closeout string) core.Facts {
	p := t.counted()
	f := core.Facts{
		Native: t.ID, Class: t.Class, Parent: t.Parent, ForkedFrom: t.Fork, Thread: t.Source,
		CWD: t.CWD, First: p.First, Version: t.Version, Entrypoint: t.Origin,
		Typed: p.N, Copied: p.Copied,
		Model: t.Model, Models: maps.Clone(t.Models),
		ContextTokens: t.Tokens, ContextWindow: t.Window, ContextStale: t.Stale,
		Skills: most(t.SkillItems, t.SkillTexts), Folders: most(t.Changed, t.Asked),
		FirstAt: t.First, LastAt: t.Last, Opened: t.Opened,
		Lines: t.Lines, Bad: t.Bad, Unknown: maps.Clone(t.Unknown),
	}
	if t.Class == "" {
		f.Class = core.ClassMain
		if p.N == 0 {
			f.Class = core.ClassNone
		}
	}
	if f.Class == core.ClassMain {
		f.Turns = p.N - p.Copied
	}
	if closeout != "" && f.Class != core.ClassNone {
		f.Closeout = core.CloseoutOpen
		if f.Skills[closeout] > 0 {
			f.Closeout = core.CloseoutClosed
		}
	}
	return f
}

// most takes the larger of two counts of the same thing: one run leaves a trace in both.
func most(a, b map[string]int64) map[string]int64 {
	all := maps.Clone(a)
	for name, n := range b {
		if all == nil {
			all = map[string]int64{}
		}
		all[name] = max(all[name], n)
	}
	return all
}

// add counts name in a map that may not exist yet. Names come from foreign bytes and go through JSON
// into the cursor, so they are made valid here: afterwards they would be others.
func add(m *map[string]int64, name string) {
	if name == "" {
		return
	}
	if !utf8.ValidString(name) {
		name = string([]rune(name))
	}
	if *m == nil {
		*m = map[string]int64{}
	}
	(*m)[name]++
}

// unknown counts a kind of line that no rule knows. A file that is none of ours can hold any number of
// them, of any length; what is kept of it must stay small.
func (t *thread) unknown(name string) {
	const long, many = 80, 100
	if len(name) > long {
		name = name[:long]
	}
	if _, ok := t.Unknown[name]; !ok && len(t.Unknown) >= many {
		name = "others"
	}
	add(&t.Unknown, name)
}
