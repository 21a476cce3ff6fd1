package claude

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"tower/adapters/jsonl"
	"tower/core"
)

// maxTold bounds what LastMessage returns, in bytes.
const maxTold = 8 << 10

// LastMessage returns the text of the last answer in the main thread, see [core.Teller]. Answers that
// the client made up, errors of the service among them, are none. One answer is written as several
// lines, a block each, so all of them are joined. A long one is cut at its front: an answer ends with
// its result, or with what it asks.
func (a *Adapter) LastMessage(ctx context.Context, s core.Session) (string, error) {
	path := a.transcript(s)
	if path == "" {
		return "", nil
	}
	var text string
	err := growing(path, func(b []byte, whole bool) bool {
		if ctx.Err() != nil {
			return true
		}
		var done bool
		text, done = lastAnswer(b)
		return done
	})
	if err == nil {
		err = ctx.Err()
	}
	return cutFront(text, maxTold), err
}

// lastAnswer joins the text blocks of the last answer that has any. done is false when the lines do
// not reach back to where it began.
func lastAnswer(b []byte) (text string, done bool) {
	var blocks []string
	var id string
	backward(b, func(line []byte) bool {
		if !bytes.Contains(line, []byte(`"assistant"`)) {
			return true
		}
		of, said, ok := answerText(line)
		if !ok {
			return true
		}
		if len(blocks) > 0 && (of != id || id == "") {
			done = true
			return false
		}
		if said != "" {
			id = of
			blocks = append(blocks, said)
		}
		return true
	})
	slices.Reverse(blocks)
	return strings.Join(blocks, "\n\n"), done
}

// answerText returns the message id and the text of a line that is an answer of the main thread.
func answerText(line []byte) (id, text string, ok bool) {
	var kind, message []byte
	var side, failed bool
	jsonl.Object(line, func(key, val []byte) bool {
		switch string(key) {
		case "type":
			kind = val
		case "message":
			message = val
		case "isSidechain":
			side = jsonl.Bool(val)
		case "isApiErrorMessage":
			failed = jsonl.Bool(val)
		}
		return true
	})
	if !jsonl.Is(kind, "assistant") || side || failed || message == nil {
		return "", "", false
	}
	var model, content []byte
	jsonl.Object(message, func(key, val []byte) bool {
		switch string(key) {
		case "id":
			id = jsonl.Text(val)
		case "model":
			model = val
		case "content":
			content = val
		}
		return true
	})
	if jsonl.Is(model, synthetic) {
		return "", "", false
	}
	return id, strings.TrimSpace(contentText(content)), true
}

// contentText returns a content's text whole: the string it is, or its text blocks, each on lines of
// its own.
func contentText(content []byte) string {
	if jsonl.KindOf(content) != jsonl.KindArray {
		return jsonl.Text(content)
	}
	var texts []string
	jsonl.Array(content, func(block []byte) bool {
		if jsonl.Is(jsonl.Get(block, "type"), "text") {
			texts = append(texts, jsonl.Text(jsonl.Get(block, "text")))
		}
		return true
	})
	return strings.Join(texts, "\n")
}

// cutFront keeps the last n bytes of a text, from the beginning of a character on, with a mark where
// it was cut.
func cutFront(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = "…"
	s = s[len(s)-n+len(mark):]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return mark + s
}
