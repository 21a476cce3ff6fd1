package claude

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"tower/adapters/jsonl"
	"tower/core"
)

// memory is all that judgement needs of earlier lines, and so all that a cursor carries.
//
// Seen holds one or two 64-bit hashes a turn and one a run of a skill, never one a line: it is what
// counts a line once that was written twice, at sixteen bytes a prompt. Lines that only name folders
// are known again within the last few (see recent); one written again further on counts its folders
// a second time, which moves no turn and no session.
type memory struct {
	CWD          string       `json:"cwd,omitempty"`
	Version      string       `json:"version,omitempty"`
	Entrypoint   string       `json:"entrypoint,omitempty"`
	SDK          bool         `json:"sdk,omitempty"` // the last line that says so was written without a terminal
	FirstSession string       `json:"first_session,omitempty"`
	LastSession  string       `json:"last_session,omitempty"`
	AgentID      string       `json:"agent_id,omitempty"` // of a sub-agent
	ForkedFrom   string       `json:"forked_from,omitempty"`
	FirstAt      core.Instant `json:"first_at"`
	LastAt       core.Instant `json:"last_at"`
	Before       core.Instant `json:"before,omitempty"` // latest of the lines before the conversation

	First         string `json:"first,omitempty"`
	FirstHeadless string `json:"first_headless,omitempty"`
	CustomTitle   string `json:"custom_title,omitempty"`
	AgentName     string `json:"agent_name,omitempty"`
	AITitle       string `json:"ai_title,omitempty"`
	Summary       string `json:"summary,omitempty"`

	Typed    int64 `json:"typed,omitempty"`
	Slash    int64 `json:"slash,omitempty"`
	MidTurn  int64 `json:"mid_turn,omitempty"`
	Copied   int64 `json:"copied,omitempty"`
	Headless int64 `json:"headless,omitempty"` // prompts of runs without a terminal

	Pending  *pending  `json:"pending,omitempty"`
	Queue    []waiting `json:"queue,omitempty"`
	Sent     *waiting  `json:"sent,omitempty"`     // dequeued, and its user line not met yet
	Absorbed hashes    `json:"absorbed,omitempty"` // texts the queue told of and no attachment yet
	Seen     seen      `json:"-"`

	Main          chain  `json:"main"`
	Side          chain  `json:"side"`
	MainLines     int64  `json:"main_lines,omitempty"`
	SideLines     int64  `json:"side_lines,omitempty"`
	Tools         hashes `json:"tools,omitempty"`
	ToolSkills    tally  `json:"tool_skills,omitempty"`
	SlashSkills   tally  `json:"slash_skills,omitempty"`
	Folders       tally  `json:"folders,omitempty"`
	CloseoutTools hashes `json:"closeout_tools,omitempty"` // runs not yet confirmed
	Closed        bool   `json:"closed,omitempty"`

	Lines    int64 `json:"lines,omitempty"`
	BadLines int64 `json:"bad_lines,omitempty"`
	Unknown  tally `json:"unknown,omitempty"`
	Known    bool  `json:"known,omitempty"`    // a record of a known kind was met
	Document bool  `json:"document,omitempty"` // it begins like another agent's export
}

// save writes the length of the JSON, the JSON, and behind it Seen in its own form: it is most of the
// carry of a long session, and as JSON its way in and out would cost more than the append it serves.
func (m *memory) save() ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	return m.Seen.append(append(b, text...)), nil
}

func (m *memory) load(state []byte) error {
	if len(state) < 4 {
		return errors.New("state cut short")
	}
	n := int(binary.LittleEndian.Uint32(state))
	if n > len(state)-4 {
		return errors.New("state cut short")
	}
	if err := json.Unmarshal(state[4:4+n], m); err != nil {
		return err
	}
	return m.Seen.read(state[4+n:])
}

func (m *memory) count(kind core.TurnKind, copied bool) {
	switch kind {
	case core.TurnTyped:
		m.Typed++
	case core.TurnSlash:
		m.Slash++
	case core.TurnMidTurn:
		m.MidTurn++
	}
	if copied {
		m.Copied++
	}
}

// facts is what the lines heard so far tell of the session.
func (j *judge) facts(size int64) core.Facts {
	m := j.memory // a copy: a pending command counts here and is judged later
	if p := m.Pending; p != nil {
		if kind := p.kind(); kind != 0 {
			m.count(kind, p.Copied)
		} else if p.Headless && !p.BuiltIn {
			m.Headless++
		}
	}
	sub := j.sub || m.SideLines > 0 && m.MainLines == 0
	f := core.Facts{
		Agent: j.agent, Native: j.native, ForkedFrom: m.ForkedFrom,
		CWD: m.CWD, Name: m.CustomTitle, AgentTitle: m.AITitle, First: m.First, Summary: m.Summary,
		Version: m.Version, Entrypoint: m.Entrypoint,
		FirstAt: m.FirstAt, LastAt: m.LastAt, Opened: j.opened(),
		Bytes: size, Lines: m.Lines, Bad: m.BadLines, Unknown: m.Unknown.copy(),
		Folders: m.Folders.copy(), Skills: j.skills(), Closeout: core.CloseoutOpen,
	}
	if f.Name == "" {
		f.Name = m.AgentName
	}
	if m.Closed {
		f.Closeout = core.CloseoutClosed
	}
	// A file that was renamed still says whose it is.
	switch {
	case j.named || core.IsUUID(j.native):
	case sub:
		f.Native = cmp.Or(m.AgentID, f.Native)
	default:
		f.Native = cmp.Or(m.LastSession, m.FirstSession, f.Native)
	}
	c := m.Main
	if sub && m.Side.Answers > 0 {
		c = m.Side
	}
	f.Model, f.Models, f.ContextTokens, f.ContextStale = c.Model, c.Models.copy(), c.Context, c.Stale && c.Context != nil
	if c.Context != nil {
		n := *c.Context
		f.ContextTokens = &n
	}

	human := m.Typed + m.Slash + m.MidTurn
	switch {
	case sub:
		f.Class, f.First = core.ClassSubagent, ""
		if f.Parent = j.parent; f.Parent == "" {
			f.Parent = m.FirstSession
		}
	case m.Document && !m.Known:
		f.Class, f.Bad = core.ClassExport, 0
	case human+m.Headless+m.Main.Answers == 0:
		f.Class = core.ClassNone
	case human == 0 && (m.Headless > 0 || isSDK(m.Entrypoint)):
		f.Class, f.First = core.ClassHeadless, m.FirstHeadless
	default:
		f.Class = core.ClassMain
		f.Typed, f.Slash, f.MidTurn, f.Copied = m.Typed, m.Slash, m.MidTurn, m.Copied
		f.Turns = human - m.Copied
	}
	return f
}

func isSDK(entrypoint string) bool { return len(entrypoint) >= 3 && entrypoint[:3] == "sdk" }

// skills counts for each skill the larger of the runs by the model and by a person: one run may leave
// both traces.
func (j *judge) skills() map[string]int64 {
	all := j.ToolSkills.copy()
	for name, n := range j.SlashSkills {
		if all == nil {
			all = map[string]int64{}
		}
		all[name] = max(all[name], n)
	}
	return all
}

// tally counts by name. What comes from a file nobody vouches for is bounded.
type tally map[string]int64

const tallyLimit = 4096

func (t *tally) add(name string, n int64) {
	if *t == nil {
		*t = tally{}
	}
	if _, ok := (*t)[name]; !ok && len(*t) >= tallyLimit {
		return
	}
	(*t)[name] += n
}

func (t tally) copy() map[string]int64 { return maps.Clone(map[string]int64(t)) }

// hashes are written as bytes, a third of what numbers would take.
type hashes []int64

func (h hashes) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 8*len(h))
	for _, v := range h {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return json.Marshal(b)
}

func (h *hashes) UnmarshalJSON(data []byte) error {
	var b []byte
	if err := json.Unmarshal(data, &b); err != nil {
		return err
	}
	if len(b)%8 != 0 {
		return errors.New("hashes cut short")
	}
	*h = nil
	for ; len(b) > 0; b = b[8:] {
		*h = append(*h, int64(binary.LittleEndian.Uint64(b)))
	}
	return nil
}

// hashOf is the 64-bit FNV-1a hash of the parts, each ended so that no two lists run together.
func hashOf(parts ...string) int64 {
	h := uint64(14695981039346656037)
	for _, p := range parts {
		for i := 0; i < len(p); i++ {
			h = (h ^ uint64(p[i])) * 1099511628211
		}
		h = (h ^ 0xff) * 1099511628211
	}
	return int64(h)
}

// instant reads a timestamp. The one form the agent writes, "2026-11-30T17:20:18.299Z", is read
// without the general parser, which would take a tenth of the whole scan; it still gets what is not
// of that form, and the last days of a month, because it knows the months.
func instant(val []byte) core.Instant {
	b := jsonl.Inner(val)
	if len(b) == 0 {
		return 0
	}
	const form = "0000-00-00T00:00:00.000Z"
	whole := len(b) == len(form)
	for i := 0; whole && i < len(form); i++ {
		whole = form[i] == '0' && b[i] >= '0' && b[i] <= '9' || form[i] == b[i] && form[i] != '0'
	}
	if whole {
		num := func(i, n int) (v int) {
			for ; n > 0; i, n = i+1, n-1 {
				v = v*10 + int(b[i]-'0')
			}
			return v
		}
		month, day, hour, minute, second := num(5, 2), num(8, 2), num(11, 2), num(14, 2), num(17, 2)
		if month >= 1 && month <= 12 && day >= 1 && day <= 28 && hour < 24 && minute < 60 && second < 60 {
			return core.Instant(time.Date(num(0, 4), time.Month(month), day, hour, minute, second, num(20, 3)*1e6, time.UTC).UnixMilli())
		}
	}
	return core.ParseInstant(jsonl.Text(val))
}
