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
		var kind, payload, id, instructions, foreign bool
		jsonl.Object(line[i:], func(key, _ []byte) bool {
			switch string(key) {
			case "type":
				kind = true
			case "payload":
				payload = true
			case "id":
				id = true
			case "instructions":
				instructions = true
			case "sessionId", "uuid", "leafUuid":
				foreign = true
			}
			return true
		})
		if foreign {
			return false
		}
		if kind && payload || id && instructions {
			return true
		}
	}
	return strings.HasPrefix(filepath.Base(path), "rollout-")
}
