package codex

import (
	"context"
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

// slack is how far lines of one rollout may stand out of the order of their times, in milliseconds.
const slack = 2000

// Typed tells whether the thread's rollout holds the text as a prompt given at or after since.
//
// The composer takes the blanks at both ends of what is typed away and makes every line end a newline;
// nothing else is changed, whatever the length, so texts are compared after the same. A text typed while
// a turn runs reaches the rollout with the turn's next step.
func (a *Adapter) Typed(ctx context.Context, s core.Session, text string, since core.Instant) (bool, error) {
	path := a.written(s)
	if path == "" {
		return false, nil
	}
	want, found := composed(text), false
	err := newest(ctx, path, func(r jsonl.Record) bool {
		at := instant(r.Get("timestamp"))
		if at != 0 && at < since-slack {
			return false
		}
		if words, ok := asked(r); ok && at >= since && composed(words) == want {
			found = true
		}
		return !found
	})
	return found, err
}

// asked returns the words of a record that reports a prompt.
func asked(r jsonl.Record) (words string, ok bool) {
	if !jsonl.Is(r.Get("type"), "event_msg") {
		return "", false
	}
	payload := r.Get("payload")
	switch string(first(payload)) {
	case "item_completed":
		if item := jsonl.Get(payload, "item"); string(first(item)) == "UserMessage" {
			return texts(jsonl.Get(item, "content"), "\n"), true
		}
	case "user_message":
		return jsonl.String(jsonl.Get(payload, "message"))
	}
	return "", false
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// composed returns a text as the composer hands it on.
func composed(text string) string { return strings.TrimSpace(newlines.Replace(text)) }
