package claude

import (
	"bytes"
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

// judge turns the records of one transcript into the facts of one session.
//
// A turn is one thing a person gave the agent: a prompt typed at the rest (judge_prompt.go), a slash
// command that reached the model (judge_slash.go), or text typed while the agent was busy
// (judge_queue.go). About one line in eight that says it is a user's is one; the rest are tool
// results, command output, the harness talking to the model, interrupts. Every turn counts once, by
// the hash of its uuid, however often its line was written.
//
//	record ─ type ─┬ user ──────── prompt | mid-turn | slash ┐
//	               ├ attachment ── mid-turn                  ├─ turn ── seen before? copied?
//	               ├ queue-operation ─ mid-turn              ┘
//	               ├ assistant ─── model, context, folders, skills
//	               ├ system ────── compaction, local command
//	               └ titles, summary; anything else is a type to count by name
//
// All it must know of earlier lines is in memory (judge_state.go), so that a scan which goes on from
// a cursor comes to the same facts as one pass over the whole.
type judge struct {
	memory
	agent    core.Agent
	closeout string // name of the closeout skill
	source          // what the path tells

	turns    []core.Turn // found by this scan
	uses     []use       // of one answer, kept for its memory
	takeBack bool        // a turn that an earlier scan found is none
}

func newJudge(info core.AgentInfo, src core.Source, state []byte) (*judge, error) {
	j := &judge{agent: info.Agent, closeout: info.Closeout}
	if j.closeout == "" {
		j.closeout = "closeout"
	}
	j.source = identity(src)
	if state != nil {
		if err := j.memory.load(state); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// entry is the top level of one record: slices of the line, valid during one call.
type entry struct {
	kind, subtype, uuid, parent, prompt []byte
	session, cwd, version, entrypoint   []byte
	agent                               []byte

	at core.Instant

	message, attachment, result, origin, source []byte
	operation, content, forked, tool, snapshot  []byte

	side, meta, summary, failed bool
}

// Record judges one record. Members are collected first and judged after the last one: nothing says
// in which order they come. Of duplicates the last counts, as everywhere.
func (j *judge) Record(r jsonl.Record) {
	if !r.Object() {
		return
	}
	var e entry
	var at, kind []byte
	for _, m := range r.Members {
		switch string(m.Key) {
		case "type":
			kind = m.Val
		case "subtype":
			e.subtype = m.Val
		case "uuid":
			e.uuid = m.Val
		case "parentUuid":
			e.parent = m.Val
		case "promptId":
			e.prompt = m.Val
		case "sessionId":
			e.session = m.Val
		case "agentId":
			e.agent = m.Val
		case "cwd":
			e.cwd = m.Val
		case "version":
			e.version = m.Val
		case "entrypoint":
			e.entrypoint = m.Val
		case "timestamp":
			at = m.Val
		case "message":
			e.message = m.Val
		case "attachment":
			e.attachment = m.Val
		case "toolUseResult":
			e.result = m.Val
		case "origin":
			e.origin = m.Val
		case "promptSource":
			e.source = m.Val
		case "operation":
			e.operation = m.Val
		case "content", "summary", "aiTitle", "customTitle", "agentName":
			e.content = m.Val
		case "forkedFrom":
			e.forked = m.Val
		case "snapshot":
			e.snapshot = m.Val
		case "sourceToolUseID":
			e.tool = m.Val
		case "isSidechain":
			e.side = jsonl.Bool(m.Val)
		case "isMeta":
			e.meta = jsonl.Bool(m.Val)
		case "isCompactSummary", "isVisibleInTranscriptOnly":
			e.summary = e.summary || jsonl.Bool(m.Val)
		case "isApiErrorMessage":
			e.failed = jsonl.Bool(m.Val)
		case "messages":
			j.Document = j.Document || jsonl.KindOf(m.Val) == jsonl.KindArray && j.Lines == 0
		}
	}
	e.at = instant(at)
	e.kind = inner(kind)
	j.common(&e)
	j.dispatch(&e)
}

// common takes what any kind of line may carry.
func (j *judge) common(e *entry) {
	if e.at != 0 {
		if j.FirstAt == 0 || e.at < j.FirstAt {
			j.FirstAt = e.at
		}
		j.LastAt = max(j.LastAt, e.at)
	}
	if j.CWD == "" {
		j.CWD = jsonl.Text(e.cwd)
	}
	if filled(e.version) && !jsonl.Is(e.version, j.Version) {
		j.Version = jsonl.Text(e.version)
	}
	if filled(e.entrypoint) {
		if j.Entrypoint == "" {
			j.Entrypoint = jsonl.Text(e.entrypoint)
		}
		j.SDK = bytes.HasPrefix(jsonl.Inner(e.entrypoint), []byte("sdk"))
	}
	if filled(e.session) {
		if j.FirstSession == "" {
			j.FirstSession = jsonl.Text(e.session)
		}
		// A resumed copy begins with lines of the session it copied, so the last id is its own.
		if filled(e.uuid) && !jsonl.Is(e.session, j.LastSession) {
			j.LastSession = jsonl.Text(e.session)
		}
	}
	if j.AgentID == "" && filled(e.agent) {
		j.AgentID = jsonl.Text(e.agent)
	}
	if j.ForkedFrom == "" && !jsonl.Null(e.forked) {
		if j.ForkedFrom = jsonl.Text(e.forked); j.ForkedFrom == "" {
			j.ForkedFrom = jsonl.Text(jsonl.Get(e.forked, "sessionId"))
		}
	}
}

// filled tells whether a value is a string that holds something.
func filled(val []byte) bool { return len(val) > 2 && val[0] == '"' }

func (j *judge) dispatch(e *entry) {
	switch string(e.kind) {
	case "user":
		j.Known = true
		j.chained(e)
		j.user(e)
	case "assistant":
		j.Known = true
		j.chained(e)
		j.assistant(e)
	case "attachment":
		j.Known = true
		if !e.side && !j.sub {
			j.attached(e)
		}
	case "system":
		j.Known = true
		j.system(e)
	case "queue-operation":
		j.Known = true
		j.before(e.at)
		if !j.sub {
			j.queued(e)
		}
	case "summary":
		j.Known = true
		j.Summary = cut(jsonl.Text(e.content), textLimit)
	case "ai-title":
		j.AITitle = cut(jsonl.Text(e.content), titleLimit)
	case "custom-title":
		j.CustomTitle = cut(jsonl.Text(e.content), titleLimit)
	case "agent-name":
		j.AgentName = cut(jsonl.Text(e.content), titleLimit)
	case "file-history-snapshot":
		if j.MainLines+j.SideLines == 0 {
			j.before(instant(jsonl.Get(e.snapshot, "timestamp")))
		}
	case "":
		// A record without a type is no type to report.
	default:
		if _, ok := skipped[string(e.kind)]; !ok && !bytes.HasPrefix(e.kind, []byte("marble-origami-")) {
			j.Unknown.add(cut(strings.ToValidUTF8(string(e.kind), "\uFFFD"), nameLimit), 1)
		}
	}
}

// skipped are the types that are known and tell nothing the tower wants.
var skipped = map[string]struct{}{
	"mode": {}, "permission-mode": {}, "last-prompt": {}, "tag": {},
	"relocated": {}, "agent-color": {}, "agent-setting": {}, "pr-link": {}, "frame-link": {},
	"bridge-session": {}, "attribution-snapshot": {}, "speculation-accept": {}, "isolation-latch": {},
	"worktree-state": {}, "ended-by-model": {}, "content-replacement": {}, "fork-context-ref": {},
	"progress": {},
}

// before takes the instant of a line that stands before the conversation. Such lines are written when
// the file is, also where a fork's conversation begins with lines copied from long before.
func (j *judge) before(at core.Instant) {
	if j.MainLines+j.SideLines == 0 {
		j.Before = max(j.Before, at)
	}
}

// opened is when the file was begun, as far as it tells:
//
//	original             fork                 resumed copy of older versions
//	09:00:01 snapshot    10:00:01 snapshot
//	09:00:00 prompt      09:00:00 prompt      09:00:00 prompt, of the session it copied
//
// Nothing in a resumed copy tells its own time, so it comes just behind what it copied.
func (j *judge) opened() core.Instant {
	at := max(j.FirstAt, j.Before)
	if at != 0 && j.FirstSession != "" && j.FirstSession != j.native && core.IsUUID(j.native) {
		at++
	}
	return at
}

// chained notes on which chain the conversation runs. A file all of whose lines run on a side chain
// is a sub-agent's, whatever its name.
func (j *judge) chained(e *entry) {
	if e.side {
		j.SideLines++
	} else {
		j.MainLines++
	}
}

// system takes compactions, and the output of a local command.
func (j *judge) system(e *entry) {
	switch string(jsonl.Inner(e.subtype)) {
	case "compact_boundary":
		j.chain(e.side).Stale = true
	case "local_command":
		if !e.side {
			j.local()
		}
	}
}

// Line counts a physical line.
func (j *judge) Line() { j.Lines++ }

// Bad counts a line of which a record cannot be walked. A first line that opens a bracket and ends is
// the beginning of a pretty-printed document, which is no transcript at all.
func (j *judge) Bad(line []byte) {
	if s := string(bytes.TrimSpace(line)); j.Lines == 0 && (s == "{" || s == "[") {
		j.Document = true
	}
	j.BadLines++
}

// State ends what the bytes up to the last newline tell. A slash command still waiting for the lines
// that judge it counts as what it most likely is, and the memory knows that this was told.
func (j *judge) State() ([]byte, error) {
	if p := j.Pending; p != nil && p.Told == 0 {
		if kind := p.kind(); kind != 0 && !p.Copied {
			p.Told = kind
			j.turns = append(j.turns, core.Turn{UID: p.UID, At: p.At, Kind: kind})
		}
	}
	return j.memory.save()
}

// turn counts one turn and reports it unless it is a copy.
func (j *judge) turn(kind core.TurnKind, uid int64, at core.Instant, copied bool) {
	j.count(kind, copied)
	if !copied {
		j.turns = append(j.turns, core.Turn{UID: uid, At: at, Kind: kind})
	}
}
