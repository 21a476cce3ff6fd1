package claude

import (
	"bytes"
	"strings"

	"tower/adapters/jsonl"
)

// synthetic is the model of answers that the client made up.
const synthetic = "<synthetic>"

// recent bounds the ids of messages and of tool runs that are remembered to count each once. The lines
// of one message follow each other closely, and lines written twice were seen only close together.
const recent = 32

// chain is what the answers of one chain tell: the conversation itself, or the side chain of a
// sub-agent.
type chain struct {
	Model    string `json:"model,omitempty"`
	Models   tally  `json:"models,omitempty"`
	Context  *int64 `json:"context,omitempty"`
	Stale    bool   `json:"stale,omitempty"` // compacted since
	Answers  int64  `json:"answers,omitempty"`
	Messages hashes `json:"messages,omitempty"`

	usage []byte // as last read, and what it came to
	size  int64
}

func (j *judge) chain(side bool) *chain {
	if side {
		return &j.Side
	}
	return &j.Main
}

// assistant takes the model, the size of the context, and what the tools were run on. One message is
// written as several lines, a block each, with the same usage.
func (j *judge) assistant(e *entry) {
	if !e.side {
		j.settle()
	}
	var model, id, usage []byte
	used := j.uses[:0]
	jsonl.Enter(e.message, func(key, from []byte) []byte {
		switch string(key) {
		case "model", "id", "usage":
		case "content":
			used = used[:0]
			rest, ok := jsonl.EnterArray(from, func(from []byte) []byte {
				u, rest := readUse(from)
				if u.tool {
					used = append(used, u)
				}
				return rest
			})
			if !ok {
				return nil
			}
			return rest
		default:
			return nil
		}
		val, rest, ok := jsonl.Skip(from)
		if !ok {
			return nil
		}
		switch string(key) {
		case "model":
			model = val
		case "id":
			id = val
		default:
			usage = val
		}
		return rest
	})
	j.uses = used
	name := inner(model)
	if e.failed || string(name) == synthetic {
		return
	}
	c := j.chain(e.side)
	c.Answers++
	if len(name) > 0 {
		if string(name) != c.Model {
			c.Model = cut(jsonl.Text(model), nameLimit)
		}
		if fresh(&c.Messages, inner(id)) {
			c.Models.add(c.Model, 1)
		}
	}
	if n := c.contextSize(usage); n > 0 {
		if c.Context == nil {
			c.Context = new(int64)
		}
		*c.Context, c.Stale = n, false
	}
	for _, u := range used {
		j.use(e, u)
	}
}

// contextSize is what the request behind an answer held. One answer is several lines that all repeat
// its usage, so that of the line before is known.
func (c *chain) contextSize(usage []byte) int64 {
	if !bytes.Equal(usage, c.usage) {
		c.usage = append(c.usage[:0], usage...)
		c.size = contextSize(usage)
	}
	return c.size
}

// contextSize sums what went into the request; what came out of it is not part of it.
func contextSize(usage []byte) (sum int64) {
	jsonl.Object(usage, func(key, val []byte) bool {
		switch string(key) {
		case "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens":
			n, _ := jsonl.Int64(val)
			sum += n
		}
		return true
	})
	return sum
}

// use is one run of a tool: slices of the line.
type use struct {
	tool                 bool
	id, name             []byte
	file, notebook, path []byte // of its input
	skill, slash         []byte
}

// readUse reads one block of an answer; tool is false for one that runs none.
func readUse(from []byte) (u use, rest []byte) {
	field := func(into *[]byte, from []byte) []byte {
		val, rest, ok := jsonl.Skip(from)
		if !ok {
			return nil
		}
		*into = val
		return rest
	}
	var kind []byte
	rest, ok := jsonl.Enter(from, func(key, from []byte) []byte {
		switch string(key) {
		case "type":
			return field(&kind, from)
		case "id":
			return field(&u.id, from)
		case "name":
			return field(&u.name, from)
		case "input":
			u.file, u.notebook, u.path, u.skill, u.slash = nil, nil, nil, nil, nil
			rest, ok := jsonl.Enter(from, func(key, from []byte) []byte {
				switch string(key) {
				case "file_path":
					return field(&u.file, from)
				case "notebook_path":
					return field(&u.notebook, from)
				case "path":
					return field(&u.path, from)
				case "skill":
					return field(&u.skill, from)
				case "command":
					return field(&u.slash, from)
				}
				return nil
			})
			if !ok {
				return nil
			}
			return rest
		}
		return nil
	})
	u.tool = jsonl.Is(kind, "tool_use")
	if !ok {
		return u, nil
	}
	return u, rest
}

// use counts a skill run or the folders named.
func (j *judge) use(e *entry, u use) {
	if jsonl.Is(u.name, "Skill") {
		j.skillRun(e, u)
		return
	}
	dirs := [...]string{parentOf(jsonl.Text(u.file)), parentOf(jsonl.Text(u.notebook)), ""}
	if p := jsonl.Text(u.path); absolute(p) {
		dirs[2] = trimSlash(p)
	}
	if dirs == [3]string{} || !fresh(&j.Tools, inner(u.id)) {
		return
	}
	for _, dir := range dirs {
		if dir != "" {
			j.Folders.add(cut(dir, textLimit), 1)
		}
	}
}

// skillRun counts a skill that the model ran.
func (j *judge) skillRun(e *entry, u use) {
	skill := jsonl.Text(u.skill)
	if skill == "" {
		skill, _, _ = strings.Cut(jsonl.Text(u.slash), " ")
	}
	skill = cut(strings.TrimPrefix(skill, "/"), nameLimit)
	id := inner(u.id)
	if skill == "" || len(id) > 0 && !j.Seen.add(hashOf("tool", string(id))) {
		return
	}
	j.ToolSkills.add(skill, 1)
	if j.isCloseout(skill) && !e.side && jsonl.Null(e.forked) && len(j.CloseoutTools) < recent {
		j.CloseoutTools = append(j.CloseoutTools, hashOf(string(id)))
	}
}

// closeoutResult takes the harness's own word that the closeout skill was launched: the result of the
// tool's run, in fields that no text can produce.
func (j *judge) closeoutResult(e *entry) {
	if len(j.CloseoutTools) == 0 || jsonl.KindOf(e.result) != jsonl.KindObject || !jsonl.Bool(jsonl.Get(e.result, "success")) {
		return
	}
	if !j.isCloseout(strings.TrimPrefix(jsonl.Text(jsonl.Get(e.result, "commandName")), "/")) {
		return
	}
	content := jsonl.Get(e.message, "content")
	if jsonl.KindOf(content) == jsonl.KindArray {
		jsonl.Array(content, func(block []byte) bool {
			j.closed(e, hashOf(string(inner(jsonl.Get(block, "tool_use_id")))))
			return true
		})
	}
}

// closed notes that the run of the closeout skill with this id began.
func (j *judge) closed(e *entry, id int64) {
	for i, t := range j.CloseoutTools {
		if t == id && !e.side {
			j.CloseoutTools = append(j.CloseoutTools[:i], j.CloseoutTools[i+1:]...)
			j.Closed = true
			return
		}
	}
}

// fresh tells whether an id is not among the recent ones, and notes it. A missing id is always fresh.
func fresh(ring *hashes, id []byte) bool {
	if len(id) == 0 {
		return true
	}
	h := hashOf(string(id))
	for i := len(*ring) - 1; i >= 0; i-- {
		if (*ring)[i] == h {
			return false
		}
	}
	if len(*ring) == recent {
		*ring = append((*ring)[:0], (*ring)[1:]...)
	}
	*ring = append(*ring, h)
	return true
}
