package claude

import (
	"bytes"
	"path/filepath"
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

// Recognizes tells a transcript of Claude Code by its first records, or, when those say nothing (an
// empty file, a torn one), by its name.
func (a *Adapter) Recognizes(path string, head []byte) bool {
	for line := range bytes.Lines(head) {
		i := bytes.IndexByte(line, '{')
		if i < 0 {
			continue
		}
		var session, kind, payload, graph bool
		jsonl.Object(line[i:], func(key, _ []byte) bool {
			switch string(key) {
			case "sessionId":
				session = true
			case "type":
				kind = true
			case "payload":
				payload = true
			case "uuid", "leafUuid", "parentUuid", "snapshot", "isSnapshotUpdate":
				graph = true
			}
			return true
		})
		if !payload && kind && (session || graph) {
			return true
		}
		if payload {
			return false
		}
	}
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	return filepath.Ext(path) == ".jsonl" && (core.IsUUID(name) || strings.HasPrefix(name, "agent-"))
}
