package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

// session is the id in the lines the tests build.
const session = "0b6f9d3e-0000-4000-8000-000000000001"

// fields are members of a line; what a test gives replaces what the builder fills in.
type fields map[string]any

// line builds one line of a conversation: second is its place in time and in its uuid.
func line(kind string, second int, more ...fields) string {
	m := fields{
		"type": kind, "uuid": fmt.Sprintf("%s-%04d", kind, second), "timestamp": fmt.Sprintf("2026-03-01T10:%02d:%02d.000Z", second/60, second%60),
		"sessionId": session, "cwd": "/p/demo", "version": "2.1.85", "isSidechain": false, "entrypoint": "cli",
	}
	for _, f := range more {
		maps.Copy(m, f)
	}
	for k, v := range m {
		if v == nil {
			delete(m, k)
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// user is a line of type user with the given content, a string or blocks.
func user(second int, content any, more ...fields) string {
	return line("user", second, append([]fields{{"message": fields{"role": "user", "content": content}}}, more...)...)
}

// answer is an assistant's line with a context of n tokens.
func answer(second int, n int64, more ...fields) string {
	return line("assistant", second, append([]fields{{"message": fields{
		"id": fmt.Sprintf("msg_%d", second), "role": "assistant", "model": "claude-opus-4-8",
		"content": []fields{{"type": "text", "text": "ok"}},
		"usage":   fields{"input_tokens": 1, "cache_read_input_tokens": n - 1, "output_tokens": 7},
	}}}, more...)...)
}

// tool is an assistant's line that runs a tool.
func tool(second int, name string, input fields, more ...fields) string {
	return answer(second, 300, append([]fields{{"message": fields{
		"id": fmt.Sprintf("msg_%d", second), "role": "assistant", "model": "claude-opus-4-8",
		"content": []fields{{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", second), "name": name, "input": input}},
		"usage":   fields{"input_tokens": 300},
	}}}, more...)...)
}

// queue is a line of the queue of texts typed while busy.
func queue(second int, operation string, more ...fields) string {
	return line("queue-operation", second, append([]fields{{"operation": operation, "uuid": nil, "cwd": nil, "version": nil, "entrypoint": nil, "isSidechain": nil}}, more...)...)
}

// typedAs is the content of a slash command's line.
func typedAs(name, args string) string {
	return "<command-message>" + name + "</command-message>\n<command-name>/" + name + "</command-name>\n<command-args>" + args + "</command-args>"
}

var human = fields{"origin": fields{"kind": "human"}, "promptSource": "typed"}

// writeLines writes lines to a session's file and returns its path.
func writeLines(t testing.TB, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), session+suffix)
	data := ""
	if len(lines) > 0 {
		data = strings.Join(lines, "\n") + "\n"
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// odd is a file in which every rule that looks back has something to look back at.
func odd() []string {
	skill := "Base directory for this skill: /s\n\nbody"
	return []string{
		`{"type":"summary","summary":"old work","leafUuid":"x"}`,
		user(1, "first"), answer(2, 100), user(1, "first"),
		user(3, typedAs("deploy", "now")), user(4, skill, fields{"isMeta": true, "parentUuid": "user-0003"}), answer(5, 200),
		user(6, typedAs("greet", "")), user(7, "Say hello", fields{"isMeta": true, "parentUuid": "user-0006"}),
		user(8, typedAs("nosuch", "")), user(9, "<local-command-stdout>no</local-command-stdout>"),
		user(10, typedAs("lonely", "")), answer(11, 250), user(12, typedAs("typed", ""), human), answer(13, 260),
		queue(14, "enqueue", fields{"content": "while busy"}), queue(15, "enqueue", fields{"content": "and more"}),
		queue(16, "remove"), queue(17, "dequeue"), user(18, "and more", fields{"promptSource": "queued"}),
		queue(19, "enqueue", fields{"content": "told twice"}), queue(20, "remove"),
		line("attachment", 21, fields{"attachment": fields{"type": "queued_command", "prompt": "told twice", "origin": fields{"kind": "human"}}}),
		tool(22, "Skill", fields{"skill": "closeout"}),
		user(23, []fields{{"type": "tool_result", "tool_use_id": "toolu_22", "content": "Launching"}}, fields{"toolUseResult": fields{"success": true, "commandName": "closeout"}}),
		line("system", 24, fields{"subtype": "compact_boundary"}),
		tool(25, "Write", fields{"file_path": "/p/demo/src/a.go"}), tool(25, "Write", fields{"file_path": "/p/demo/src/a.go"}),
		`{"type":"custom-title","customTitle":"mine","sessionId":"` + session + `"}`, `{"type":"zz-new"}`, `{"type":"torn`,
		user(26, "copied", fields{"forkedFrom": fields{"sessionId": "p", "messageUuid": "m"}}),
		user(27, "by a machine", fields{"promptSource": "sdk", "entrypoint": "sdk-cli"}),
		user(28, typedAs("last", "")),
	}
}

// fact is the short form of what the table tests look at.
type fact struct {
	Class                                     core.Class
	Typed, Slash, MidTurn, Copied, Turns, Bad int64
}

func short(f core.Facts) fact {
	return fact{f.Class, f.Typed, f.Slash, f.MidTurn, f.Copied, f.Turns, f.Bad}
}
