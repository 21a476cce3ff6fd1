package codex

import (
	"bytes"
	"path/filepath"
	"strings"

	"tower/adapters/jsonl"
)

// Recognizes tells a rollout of Codex by its first records, in the enveloped form or the older flat
// one, or, when those say nothing, by its name.
func (a *Adapter) Recognizes(path string, head []byte) bool {
	for line := range bytes.Lines(head) {
		i := bytes.IndexByte(line, '{')
		if i < 0 {
			continue
		}
		var kind, payload, id, instructions, mark, message, role, content, foreign bool
		jsonl.Object(line[i:], func(key, val []byte) bool {
			switch string(key) {
			case "type":
				kind, message = true, jsonl.Is(val, "message")
			case "payload":
				payload = true
			case "id":
				id = true
			case "instructions":
				instructions = true
			case "record_type":
				mark = true
			case "role":
				role = true
			case "content":
				content = true
			case "sessionId", "uuid", "leafUuid":
				foreign = true
			}
			return true
		})
		if foreign {
			return false
		}
		if kind && payload || id && instructions || mark || message && role && content {
			return true
		}
	}
	return strings.HasPrefix(filepath.Base(path), "rollout-")
}
