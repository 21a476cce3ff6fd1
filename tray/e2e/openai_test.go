//go:build e2e

package e2e

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// openai stands in for the service Codex talks to: the streaming form of its responses, chosen like
// those of anthropic by a keyword in the last text typed and by how many tool results came since.
type openai struct {
	*httptest.Server
	*requests
	hold *gateway
}

var codexReplies = map[string][]turn{
	"DOWORK":    {{text: "Worked. DONE", held: true}},
	"TOUCHFILE": {{tool: "exec_command", input: map[string]any{"cmd": `touch "$HOME/escalated"`, "sandbox_permissions": "require_escalated", "justification": "It lies outside."}}, {text: "Touched. COMPLETE"}},
}

func newOpenAI() *openai {
	o := &openai{requests: &requests{}, hold: newGateway()}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses"):
			o.responses(w, r)
		case strings.HasSuffix(r.URL.Path, "/models"):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"models":[],"data":[]}`)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"message":"no such path"}}`)
		}
	}))
	return o
}

type openaiItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

func (i openaiItem) texts() (list []string) {
	var plain string
	if json.Unmarshal(i.Content, &plain) == nil {
		return []string{plain}
	}
	var parts []struct{ Text string }
	json.Unmarshal(i.Content, &parts)
	for _, p := range parts {
		list = append(list, p.Text)
	}
	return list
}

func (o *openai) responses(w http.ResponseWriter, r *http.Request) {
	var from io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		from = z
	}
	body, _ := io.ReadAll(from)
	o.add(body)
	var q struct {
		Model string       `json:"model"`
		Input []openaiItem `json:"input"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text, done := "", 0
	var texts []string
	for i := len(q.Input) - 1; i >= 0; i-- {
		if it := q.Input[i]; it.Type == "message" && it.Role == "user" {
			texts = it.texts()
			text = strings.Join(texts, "\n")
			break
		} else if strings.HasSuffix(it.Type, "_output") {
			done++
		}
	}
	o.hear(q.Model, texts)
	reply := turn{text: "ok"}
	for word, turns := range codexReplies {
		if strings.Contains(text, word) {
			reply = turns[min(done, len(turns)-1)]
		}
	}
	send := sse(w)
	id := o.id("resp_")
	send("response.created", map[string]any{"response": map[string]any{"id": id, "model": q.Model}})
	if reply.held && !o.hold.pass(r) {
		return
	}
	if reply.tool != "" {
		b, _ := json.Marshal(reply.input)
		item := map[string]any{"type": "function_call", "id": o.id("fc_"), "call_id": o.id("call_"), "name": reply.tool, "arguments": string(b)}
		send("response.output_item.added", map[string]any{"output_index": 0, "item": item})
		send("response.output_item.done", map[string]any{"output_index": 0, "item": item})
	} else {
		item := map[string]any{
			"type": "message", "id": o.id("msg_"), "role": "assistant",
			"content": []any{map[string]any{"type": "output_text", "text": reply.text, "annotations": []any{}}},
		}
		send("response.output_item.added", map[string]any{"output_index": 0, "item": item})
		send("response.output_text.delta", map[string]any{"item_id": item["id"], "output_index": 0, "content_index": 0, "delta": reply.text})
		send("response.output_item.done", map[string]any{"output_index": 0, "item": item})
	}
	send("response.completed", map[string]any{"response": map[string]any{"id": id, "usage": map[string]any{
		"input_tokens": 1000, "input_tokens_details": map[string]any{"cached_tokens": 500},
		"output_tokens": 50, "output_tokens_details": map[string]any{"reasoning_tokens": 10}, "total_tokens": 1050,
	}}})
}
