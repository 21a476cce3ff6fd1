//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// anthropic stands in for the service Claude Code talks to. What it answers hangs on a keyword in
// the last text a person typed and on how many replies came since, so it needs no memory of its own.
type anthropic struct {
	*httptest.Server
	*requests
	hold *gateway
}

// turn is one reply: text, or a call of a tool. A held one comes only when the test lets it.
type turn struct {
	text, tool string
	input      map[string]any
	held       bool
}

var question = map[string]any{"questions": []any{map[string]any{
	"question": "Which colour?", "header": "Colour", "multiSelect": false,
	"options": []any{
		map[string]any{"label": "Red", "description": "r"},
		map[string]any{"label": "Blue", "description": "b"},
	},
}}}

var claudeReplies = map[string][]turn{
	"DOWORK":    {{text: "Worked. DONE", held: true}},
	"TOUCHFILE": {{tool: "Bash", input: map[string]any{"command": "touch made.txt", "description": "touch"}}, {text: "Touched. COMPLETE"}},
	"ASKME":     {{tool: "AskUserQuestion", input: question}, {text: "Thanks."}},
	"BGWORK":    {{tool: "Bash", input: map[string]any{"command": "echo bg; sleep 4", "description": "bg", "run_in_background": true}}, {text: "Started."}},
}

func newAnthropic() *anthropic {
	a := &anthropic{requests: &requests{}, hold: newGateway()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", a.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"input_tokens":100}`)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"type":"error","error":{"type":"not_found_error","message":"no such path"}}`)
	})
	a.Server = httptest.NewServer(mux)
	return a
}

type anthropicRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// typed returns the last texts a person typed, and how many replies followed them.
func (q *anthropicRequest) typed() (texts []string, replies int) {
	for i := len(q.Messages) - 1; i >= 0; i-- {
		m := q.Messages[i]
		if m.Role == "assistant" {
			replies++
			continue
		}
		if m.Role != "user" {
			continue
		}
		var blocks []struct{ Type, Text string }
		var plain string
		if json.Unmarshal(m.Content, &plain) == nil {
			blocks = append(blocks, struct{ Type, Text string }{"text", plain})
		} else {
			json.Unmarshal(m.Content, &blocks)
		}
		for _, b := range blocks {
			// What the agent adds by itself stands beside or between what was typed.
			own := strings.HasPrefix(strings.TrimSpace(b.Text), "<system-reminder>") || strings.HasPrefix(b.Text, "[Request interrupted")
			if b.Type == "text" && !own {
				texts = append(texts, b.Text)
			}
		}
		if len(texts) > 0 {
			return texts, replies
		}
	}
	return nil, 0
}

func (a *anthropic) messages(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.add(body)
	var q anthropicRequest
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply := turn{text: "ok"}
	// The request for a title quotes what was typed, and is no turn.
	texts, n := q.typed()
	if text := strings.Join(texts, "\n"); !strings.HasPrefix(text, "<session>") {
		a.hear(q.Model, texts)
		for word, turns := range claudeReplies {
			if strings.Contains(text, word) {
				reply = turn{text: "DONE"}
				if n < len(turns) {
					reply = turns[n]
				}
			}
		}
	}
	if reply.held && !a.hold.pass(r) {
		return
	}
	content := map[string]any{"type": "text", "text": reply.text}
	stop := "end_turn"
	if reply.tool != "" {
		stop = "tool_use"
		content = map[string]any{"type": "tool_use", "id": a.id("toolu_"), "name": reply.tool, "input": reply.input}
	}
	usage := map[string]any{"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "service_tier": "standard"}
	message := map[string]any{
		"id": a.id("msg_"), "type": "message", "role": "assistant", "model": q.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}
	if !q.Stream {
		message["content"], message["stop_reason"] = []any{content}, stop
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(message)
		return
	}
	send := sse(w)
	send("message_start", map[string]any{"message": message})
	if reply.tool != "" {
		b, _ := json.Marshal(reply.input)
		content["input"] = map[string]any{}
		send("content_block_start", map[string]any{"index": 0, "content_block": content})
		send("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": "input_json_delta", "partial_json": string(b)}})
	} else {
		send("content_block_start", map[string]any{"index": 0, "content_block": map[string]any{"type": "text", "text": ""}})
		send("content_block_delta", map[string]any{"index": 0, "delta": map[string]any{"type": "text_delta", "text": reply.text}})
	}
	send("content_block_stop", map[string]any{"index": 0})
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	send("message_stop", map[string]any{})
}

// sse starts a stream of server-sent events and returns what sends one.
func sse(w http.ResponseWriter) func(kind string, fields map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	return func(kind string, fields map[string]any) {
		fields["type"] = kind
		b, _ := json.Marshal(fields)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
		w.(http.Flusher).Flush()
	}
}

// requests keeps what a service was asked.
type requests struct {
	mu     sync.Mutex
	bodies []string
	typed  []heard
	ids    int
}

// heard is what one request for a turn held of a person: the model that was to answer, and the last
// texts that were typed.
type heard struct {
	model string
	texts []string
}

func (r *requests) hear(model string, texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.typed = append(r.typed, heard{model, texts})
}

// prompts returns what was heard, oldest first.
func (r *requests) prompts() []heard {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.typed)
}

func (r *requests) add(body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies = append(r.bodies, string(body))
}

// forget starts afresh.
func (r *requests) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies, r.typed = nil, nil
}

// asked tells whether a request held the text, in JSON's own spelling of it.
func (r *requests) asked(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.bodies {
		if strings.Contains(b, text) {
			return true
		}
	}
	return false
}

func (r *requests) id(prefix string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids++
	return fmt.Sprintf("%s%d_%d", prefix, time.Now().UnixNano(), r.ids)
}

// gateway holds replies back while it is shut, so that an agent works exactly as long as the test
// looks at it. Opening lets all through at once: an agent may ask the same thing twice, to make a title
// of it.
type gateway struct {
	mu   sync.Mutex
	gate chan struct{}
}

func newGateway() *gateway { return &gateway{gate: make(chan struct{})} }

func (g *gateway) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.gate:
		g.gate = make(chan struct{})
	default:
	}
}

func (g *gateway) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.gate:
	default:
		close(g.gate)
	}
}

// pass waits for open; false means that the agent hung up.
func (g *gateway) pass(r *http.Request) bool {
	g.mu.Lock()
	gate := g.gate
	g.mu.Unlock()
	select {
	case <-gate:
		return true
	case <-r.Context().Done():
		return false
	}
}
