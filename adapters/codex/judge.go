package codex

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

// scanVersion counts the versions of what a scan tells. Another one means that every rollout is read
// again.
const scanVersion = 1

// judge gives meaning to the records of one rollout, of any generation:
//
//	flat       {"id":…,"timestamp":…,"instructions":…} then bare items, no times
//	items      session_meta, response_item; prompts are user-role messages between machine text
//	events     the same with event_msg user_message beside each typed prompt
//	paginated  the same with event_msg item_completed and item.type UserMessage instead
type judge struct {
	thread
	nameID string       // the id in the file's name
	at     core.Instant // of the record in hand

	// untold says that scans before this one, if they found prompts at all, found them in what was sent.
	untold     bool
	told, sent []core.Turn
}

func newJudge(state []byte, nameID string) (*judge, error) {
	j := &judge{nameID: nameID}
	if state == nil {
		return j, nil
	}
	if err := json.Unmarshal(state, &j.thread); err != nil {
		return nil, err
	}
	if j.Lines == 0 {
		return nil, errors.New("state of a scan that has read nothing")
	}
	j.untold = j.Told.N == 0
	return j, nil
}

// State returns the carry.
func (j *judge) State() ([]byte, error) { return json.Marshal(&j.thread) }

// Line counts a physical line.
func (j *judge) Line() { j.Lines++ }

// Bad counts a line that cannot be walked.
func (j *judge) Bad([]byte) { j.thread.Bad++ }

// turned tells whether what an earlier scan published as turns has been overtaken by this one.
func (j *judge) turned() bool { return j.untold && j.Told.N > 0 }

// turns are those found in the bytes this scan read.
func (j *judge) turns() []core.Turn {
	if j.Told.N > 0 {
		return j.told
	}
	return j.sent
}

// Record judges one record.
func (j *judge) Record(r jsonl.Record) {
	var kind, payload, stamp []byte
	for _, m := range r.Members {
		switch string(m.Key) {
		case "type":
			kind = m.Val
		case "payload":
			payload = m.Val
		case "timestamp":
			stamp = m.Val
		}
	}
	if !r.Object() {
		return
	}
	j.at = instant(stamp)
	j.when(j.at)
	switch name := word(kind); string(name) {
	case "session_meta":
		j.meta(payload)
	case "turn_context":
		j.context(payload)
	case "event_msg":
		j.event(payload)
	case "response_item":
		j.item(payload)
	case "compacted":
		j.Stale = j.Tokens != nil
	case "world_state", "token_usage_record", "session_state", "ghost_snapshot":
	case "":
		j.bare(r)
	default:
		if payload == nil && itemKinds[string(name)] {
			j.item(r.Raw)
			return
		}
		add(&j.Unknown, string(name))
	}
}

// when takes up the instant of a line.
func (j *judge) when(at core.Instant) {
	if at == 0 {
		return
	}
	if j.Opened == 0 {
		j.Opened = at
	}
	j.Replay.step(at)
	if j.Replay.On && at < j.Replay.From {
		return // of the parent, whose stamps were kept
	}
	if j.First == 0 || at < j.First {
		j.First = at
	}
	j.Last = max(j.Last, at)
}

// bare judges a record without a type: the header of the oldest generation, or one of its marks.
func (j *judge) bare(r jsonl.Record) {
	id := jsonl.Text(r.Get("id"))
	if j.ID != "" || id == "" || r.Get("record_type") != nil {
		return
	}
	j.ID, j.Flat, j.Class = id, true, core.ClassMain
	j.CWD = jsonl.Text(r.Get("cwd"))
	j.Version = jsonl.Text(r.Get("cli_version"))
}

func (j *judge) meta(payload []byte) {
	var m pick
	m.from(payload, "id", "session_id", "cwd", "cli_version", "originator", "source", "thread_source",
		"parent_thread_id", "forked_from_id", "history_base")
	id := jsonl.Text(m[0])
	if id == "" {
		id = jsonl.Text(m[1])
	}
	cwd := jsonl.Text(m[2])
	if j.ID == "" && j.thread.Bad > 0 && j.nameID != "" && id != j.nameID {
		// Its own meta was torn: this one is the parent's.
		j.ID = j.nameID
	}
	if j.ID != "" {
		if id != "" && id != j.ID && !j.Replay.Over && j.Told.N+j.Sent.N == 0 {
			if j.Fork == "" {
				j.Fork = id
			}
			j.Replay.On = true
		}
		if j.CWD == "" {
			j.CWD = cwd
		}
		return
	}
	j.ID, j.CWD = id, cwd
	j.Version, j.Origin, j.Source = jsonl.Text(m[3]), jsonl.Text(m[4]), jsonl.Text(m[6])
	j.Parent, j.Fork = jsonl.Text(m[7]), jsonl.Text(m[8])
	j.Class = classOf(m[5], j.Source)
	if j.Class == core.ClassSubagent && j.Parent == "" {
		j.Parent = jsonl.Text(jsonl.Get(m[5], "subagent", "thread_spawn", "parent_thread_id"))
	}
	j.Replay.On = j.Fork != "" && jsonl.Null(m[9])
}

// classOf tells what kind of thread it is from how it was opened. A thread driven over MCP has no
// person at its prompt, like one of exec.
func classOf(source []byte, thread string) core.Class {
	switch {
	case thread == "subagent", jsonl.Get(source, "subagent") != nil:
		return core.ClassSubagent
	case jsonl.Is(source, "exec"), jsonl.Is(source, "mcp"):
		return core.ClassHeadless
	}
	return core.ClassMain
}

func (j *judge) context(payload []byte) {
	var m pick
	m.from(payload, "model", "cwd")
	if model := jsonl.Text(m[0]); model != "" {
		j.Model = model
		if j.mine() {
			add(&j.Models, model)
		}
	}
	if j.CWD == "" {
		j.CWD = jsonl.Text(m[1])
	}
}

func (j *judge) event(payload []byte) {
	switch name := first(payload); string(name) {
	case "token_count":
		j.tokens(payload)
	case "user_message":
		j.userMessage(payload)
	case "item_completed":
		j.completed(jsonl.Get(payload, "item"))
	case "patch_apply_begin":
	case "patch_apply_end":
		j.changed(jsonl.Get(payload, "changes"))
	case "task_started", "turn_started":
		j.Busy, j.Turned = true, j.at
		j.window(jsonl.Get(payload, "model_context_window"))
	case "task_complete", "turn_complete", "turn_aborted":
		j.Busy, j.Turned = false, j.at
	case "context_compacted":
		j.Stale = j.Tokens != nil
	default:
		if !eventKinds[string(name)] && len(name) > 0 {
			add(&j.Unknown, "event_msg/"+string(name))
		}
	}
}

// tokens reads a counter. It comes after every step of a turn and holds five objects, so it is walked
// once for all of them.
func (j *judge) tokens(payload []byte) {
	var last, total int64
	var known bool
	number := func(n *int64, ok *bool) func(key, from []byte) []byte {
		return func(key, from []byte) []byte {
			if string(key) != "total_tokens" {
				return nil
			}
			val, rest, _ := jsonl.Skip(from)
			*n, *ok = jsonl.Int64(val)
			return rest
		}
	}
	jsonl.Enter(payload, func(key, from []byte) []byte {
		if string(key) != "info" {
			return nil
		}
		return within(from, func(key, from []byte) []byte {
			switch string(key) {
			case "last_token_usage":
				return within(from, number(&last, &known))
			case "total_token_usage":
				var ok bool
				return within(from, number(&total, &ok))
			case "model_context_window":
				val, rest, _ := jsonl.Skip(from)
				j.window(val)
				return rest
			}
			return nil
		})
	})
	if !known {
		return
	}
	// The counter is written again and again; a repetition is not a reading after the compaction.
	if j.Tokens == nil || *j.Tokens != last || j.Total != total {
		j.Stale = false
	}
	j.Tokens, j.Total = &last, total
}

// within walks an object a member at a time for [jsonl.Enter]; what is no object is skipped.
func within(from []byte, f func(key, from []byte) []byte) []byte {
	rest, ok := jsonl.Enter(from, f)
	if !ok {
		return nil
	}
	return rest
}

func (j *judge) window(val []byte) {
	if n, ok := jsonl.Int64(val); ok && n > 0 {
		j.Window = &n
	}
}

// userMessage judges the report of a prompt in the middle generation, which reports some machine text
// the same way.
func (j *judge) userMessage(payload []byte) {
	var m pick
	m.from(payload, "message", "images", "local_images", "kind")
	text := jsonl.Text(m[0])
	hash := textHash(text)
	if j.PendSkill != 0 && j.PendSkill == hash {
		// A person typed it; the client did not.
		if j.SkillTexts[j.PendName]--; j.SkillTexts[j.PendName] <= 0 {
			delete(j.SkillTexts, j.PendName)
		}
	}
	j.PendSkill = 0
	words := strip(text)
	if words == "" && !filled(m[1]) && !filled(m[2]) || jsonl.Is(m[3], "environment_context") || jsonl.Is(m[3], "user_instructions") {
		return
	}
	if j.twin(hash, false) {
		return
	}
	j.prompt(&j.Told, &j.told, uidText(j.at, hash), words)
}

// completed judges an item of the paginated generation.
func (j *judge) completed(item []byte) {
	switch name := first(item); string(name) {
	case "UserMessage":
		j.userItem(item)
	case "FileChange":
		j.changed(jsonl.Get(item, "changes"))
	default:
		if !completedKinds[string(name)] && len(name) > 0 {
			add(&j.Unknown, "item_completed/"+string(name))
		}
	}
}

// userItem counts whatever it holds: only a prompt becomes a UserMessage.
func (j *judge) userItem(item []byte) {
	var m pick
	m.from(item, "id", "content")
	var text strings.Builder
	var skills []string
	jsonl.Array(m[1], func(val []byte) bool {
		switch string(first(val)) {
		case "text":
			if text.Len() > 0 {
				text.WriteByte('\n')
			}
			text.WriteString(jsonl.Text(jsonl.Get(val, "text")))
		case "skill":
			skills = append(skills, jsonl.Text(jsonl.Get(val, "name")))
		}
		return true
	})
	words := text.String()
	hash := textHash(words)
	if j.twin(hash, true) {
		return
	}
	uid := uidText(j.at, hash)
	if id := jsonl.Text(m[0]); id != "" {
		uid = uidItem(id)
	}
	if !j.prompt(&j.Told, &j.told, uid, request(strings.TrimSpace(words))) || !j.mine() {
		return
	}
	for _, name := range skills {
		add(&j.SkillItems, name)
	}
}

// twin tells whether a prompt has just been counted from the other generation's report of it, and
// remembers it otherwise.
func (j *judge) twin(hash uint64, item bool) bool {
	const near, many = 5000, 8
	for i, r := range j.Recent {
		if r.Hash == hash && r.Item != item && j.at-r.At <= near && r.At-j.at <= near {
			j.Recent = append(j.Recent[:i:i], j.Recent[i+1:]...)
			return true
		}
	}
	if len(j.Recent) == many {
		j.Recent = append(j.Recent[:0:0], j.Recent[1:]...)
	}
	j.Recent = append(j.Recent, recent{hash, j.at, item})
	return false
}

// prompt counts one prompt, unless it is the line before once more.
func (j *judge) prompt(p *prompts, turns *[]core.Turn, uid int64, words string) bool {
	if p.Kept && p.Last == uid {
		return false
	}
	p.N++
	p.Last, p.Kept = uid, true
	if !j.mine() {
		p.Copied++
		return true
	}
	if p.First == "" {
		p.First = head(words)
	}
	if p.At == 0 {
		p.At = j.at
	}
	if j.Class == "" || j.Class == core.ClassMain {
		at := j.at
		if at == 0 {
			at = j.Opened
		}
		*turns = append(*turns, core.Turn{UID: uid, At: at, Kind: core.TurnTyped})
	}
	return true
}

// first returns the type of a payload. It stands at the front wherever the agent itself wrote it, and
// looking there saves walking payloads nobody wants.
func first(payload []byte) []byte {
	if rest, ok := bytes.CutPrefix(payload, []byte(`{"type":"`)); ok {
		if n := bytes.IndexByte(rest, '"'); n >= 0 && bytes.IndexByte(rest[:n], '\\') < 0 {
			return rest[:n]
		}
	}
	return word(jsonl.Get(payload, "type"))
}

// word returns the text of a short string, a copy only where it has an escape.
func word(val []byte) []byte {
	in := jsonl.Inner(val)
	if bytes.IndexByte(in, '\\') >= 0 {
		return []byte(jsonl.Text(val))
	}
	return in
}

// pick holds the values of some members of an object, nil for one that is not there.
type pick [10][]byte

func (p *pick) from(object []byte, names ...string) {
	jsonl.Object(object, func(key, val []byte) bool {
		for i, name := range names {
			if string(key) == name {
				p[i] = val
			}
		}
		return true
	})
}

// filled tells whether an array has an element.
func filled(array []byte) bool {
	some := false
	jsonl.Array(array, func([]byte) bool { some = true; return false })
	return some
}
