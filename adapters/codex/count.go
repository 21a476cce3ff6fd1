package codex

import (
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

// userMessage judges the report of a prompt in the middle generation, which reports some machine text
// the same way.
func (j *judge) userMessage(payload []byte) {
	j.Steps++
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

// turned tells whether what an earlier scan published as turns has been overtaken by this one.
func (j *judge) turned() bool { return j.untold && j.Told.N > 0 }

// turns are those found in the bytes this scan read.
func (j *judge) turns() []core.Turn {
	if j.Told.N > 0 {
		return j.told
	}
	return j.sent
}
