package claude

import (
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
	var model, id, usage, content []byte
	jsonl.Object(e.message, func(key, val []byte) bool {
		switch string(key) {
		case "model":
			model = val
		case "id":
			id = val
		case "usage":
			usage = val
		case "content":
			content = val
		}
		return true
	})
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
	if n := contextSize(usage); n > 0 {
		if c.Context == nil {
			c.Context = new(int64)
		}
		*c.Context, c.Stale = n, false
	}
	if jsonl.KindOf(content) == jsonl.KindArray {
		jsonl.Array(content, func(block []byte) bool {
			j.block(e, block)
			return true
		})
	}
}

// contextSize is what the request behind an answer held; what came out of it is not part of it.
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

// block takes one block of an answer: the skills run and the folders named.
func (j *judge) block(e *entry, block []byte) {
	var kind, id, name, input []byte
	jsonl.Object(block, func(key, val []byte) bool {
		switch string(key) {
		case "type":
			kind = val
		case "id":
			id = val
		case "name":
			name = val
		case "input":
			input = val
		}
		return true
	})
	if !jsonl.Is(kind, "tool_use") {
		return
	}
	if jsonl.Is(name, "Skill") {
		j.skillRun(e, inner(id), input)
		return
	}
	var dirs [3]string
	jsonl.Object(input, func(key, val []byte) bool {
		switch string(key) {
		case "file_path":
			dirs[0] = parentOf(jsonl.Text(val))
		case "notebook_path":
			dirs[1] = parentOf(jsonl.Text(val))
		case "path":
			if p := jsonl.Text(val); absolute(p) {
				dirs[2] = trimSlash(p)
			} else {
				dirs[2] = ""
			}
		}
		return true
	})
	if dirs == [3]string{} || !fresh(&j.Tools, inner(id)) {
		return
	}
	for _, dir := range dirs {
		if dir != "" {
			j.Folders.add(cut(dir, textLimit), 1)
		}
	}
}

// skillRun counts a skill that the model ran.
func (j *judge) skillRun(e *entry, id, input []byte) {
	skill := jsonl.Text(jsonl.Get(input, "skill"))
	if skill == "" {
		skill, _, _ = strings.Cut(jsonl.Text(jsonl.Get(input, "command")), " ")
	}
	skill = cut(strings.TrimPrefix(skill, "/"), nameLimit)
	if skill == "" || len(id) > 0 && !j.first(hashOf("tool", string(id))) {
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
