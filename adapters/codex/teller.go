package codex

import (
	"context"
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

// LastMessage returns the text of the agent's last answer. The end of a turn repeats it; before that it
// is what was said last, and a turn that said nothing (a compaction) leaves the answer before it standing.
func (a *Adapter) LastMessage(ctx context.Context, s core.Session) (string, error) {
	path := a.keeps(ctx, s)
	if path == "" {
		return "", nil
	}
	said := ""
	err := newest(ctx, path, func(r jsonl.Record) bool {
		said = answer(r)
		return said == ""
	})
	return said, err
}

// answer returns what a record says the agent said, in the words of any generation, or "".
func answer(r jsonl.Record) string {
	payload := r.Get("payload")
	switch kind := r.Get("type"); {
	case jsonl.Is(kind, "event_msg"):
		switch string(first(payload)) {
		case "task_complete", "turn_complete":
			return spoken(jsonl.Text(jsonl.Get(payload, "last_agent_message")))
		case "agent_message":
			return spoken(jsonl.Text(jsonl.Get(payload, "message")))
		case "item_completed":
			if item := jsonl.Get(payload, "item"); string(first(item)) == "AgentMessage" {
				return spoken(texts(jsonl.Get(item, "content"), "\n"))
			}
		}
	case jsonl.Is(kind, "response_item"):
		return assistant(payload)
	case jsonl.Is(kind, "message"):
		return assistant(r.Raw)
	}
	return ""
}

// assistant returns the words of a message that came from the model.
func assistant(item []byte) string {
	if string(first(item)) != "message" || !jsonl.Is(jsonl.Get(item, "role"), "assistant") {
		return ""
	}
	return spoken(texts(jsonl.Get(item, "content"), "\n"))
}

// texts joins the text of the elements of a content list. What an element is called varies with case and
// generation (text, Text, output_text); that its words stand under "text" does not.
func texts(content []byte, between string) string {
	var parts []string
	jsonl.Array(content, func(val []byte) bool {
		if text, ok := jsonl.String(jsonl.Get(val, "text")); ok {
			parts = append(parts, text)
		}
		return true
	})
	return strings.Join(parts, between)
}

// spoken returns words that are more than blanks.
func spoken(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}
