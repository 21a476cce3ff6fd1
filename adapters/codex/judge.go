package codex

import (
	"encoding/json"
	"errors"

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
		j.unknown(string(name))
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
	case "exec_command_end", "mcp_tool_call_end":
		j.Steps++
	case "patch_apply_end":
		j.Steps++
		j.changed(jsonl.Get(payload, "changes"))
	case "task_started", "turn_started":
		j.Busy, j.Turned = true, j.at
		j.Steps++
		j.window(jsonl.Get(payload, "model_context_window"))
	case "task_complete", "turn_complete", "turn_aborted":
		j.Busy, j.Turned = false, j.at
		j.Steps++
	case "context_compacted":
		j.Stale = j.Tokens != nil
	default:
		if !eventKinds[string(name)] && len(name) > 0 {
			j.unknown("event_msg/" + string(name))
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

// completed judges an item of the paginated generation.
func (j *judge) completed(item []byte) {
	switch name := first(item); string(name) {
	case "UserMessage":
		j.Steps++
		j.userItem(item)
	case "CommandExecution", "McpToolCall", "CollabAgentToolCall", "DynamicToolCall", "FunctionCallOutput":
		j.Steps++
	case "FileChange":
		j.Steps++
		j.changed(jsonl.Get(item, "changes"))
	default:
		if !completedKinds[string(name)] && len(name) > 0 {
			j.unknown("item_completed/" + string(name))
		}
	}
}
