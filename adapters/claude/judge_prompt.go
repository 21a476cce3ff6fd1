package claude

import (
	"bytes"
	"slices"
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

const (
	promptLimit = 64 << 10 // of a prompt that is decoded, in bytes of the file
	firstLimit  = 1000     // of the first prompt, in characters
	textLimit   = 4000
	titleLimit  = 500
	nameLimit   = 100
)

// body is the content of a user line.
type body struct {
	text   string // of its text blocks
	other  bool   // an image or a document is in it
	result bool   // a tool's result is in it
}

// user judges a line of type user.
func (j *judge) user(e *entry) {
	if e.meta {
		j.metaLine(e)
		return
	}
	if !jsonl.Null(e.result) {
		j.closeoutResult(e)
	}
	if j.sub || e.side || e.summary || jsonl.KindOf(e.message) != jsonl.KindObject {
		return
	}
	b := messageBody(e.message)
	text := unwrap(b.text)
	if !b.result {
		j.sent(text)
	}
	switch {
	case b.result:
		// Text beside a tool's result was typed while the tool ran.
		if text != "" && !machine(text) && !j.headless(e) {
			if uid := j.uid(e, text); j.Seen.add(uid) {
				j.turn(core.TurnMidTurn, uid, e.at, !jsonl.Null(e.forked))
			}
		}
		return
	case !jsonl.Null(e.result), text == "" && !b.other:
		return
	}
	human, told := author(e)
	tags := strings.HasPrefix(text, "<command-name>") || strings.HasPrefix(text, "<command-message>")
	switch {
	case told && !human:
		return
	case tags:
		j.slash(e, text, human)
		return
	case strings.HasPrefix(text, "<local-command-std"):
		if !human {
			j.local()
			return
		}
	case !human && machine(text):
		return
	}
	j.prompt(e, text)
}

// author tells whether the line says who wrote it (told), and whether that was a person. Lines of
// older versions say nothing, and are judged by their text alone.
func author(e *entry) (human, told bool) {
	if kind := inner(jsonl.Get(e.origin, "kind")); len(kind) > 0 {
		return string(kind) == "human", true
	}
	switch string(inner(e.source)) {
	case "typed", "queued", "suggestion_accepted":
		return true, true
	case "system":
		return false, true
	}
	return false, false
}

// headless tells whether a line was given to a run without a terminal.
func (j *judge) headless(e *entry) bool {
	if source := inner(e.source); len(source) > 0 {
		return string(source) == "sdk"
	}
	return j.SDK && !jsonl.Is(jsonl.Get(e.origin, "kind"), "human")
}

// prompt counts a typed prompt.
func (j *judge) prompt(e *entry, text string) {
	j.settle()
	uid := j.uid(e, text)
	if !j.Seen.add(uid) {
		return
	}
	if !j.once(e, text) {
		return
	}
	if j.headless(e) {
		j.Headless++
		if j.FirstHeadless == "" {
			j.FirstHeadless = cut(text, firstLimit)
		}
		return
	}
	if string(inner(e.source)) == "queued" && j.absorbed(text) {
		return
	}
	if j.First == "" {
		j.First = cut(text, firstLimit)
	}
	j.turn(core.TurnTyped, uid, e.at, !jsonl.Null(e.forked))
}

// once is false for a text that stands at the same millisecond under another uuid: it was written again.
func (j *judge) once(e *entry, text string) bool {
	return text == "" || e.at == 0 || j.Seen.add(hashOf("text", e.at.String(), text))
}

// uid is the identity of a turn: the hash of its uuid, or of what it is where a line has none.
func (j *judge) uid(e *entry, text string) int64 {
	if id := inner(e.uuid); len(id) > 0 {
		return hashOf(string(j.agent), string(id))
	}
	return hashOf(string(j.agent), string(inner(e.session)), e.at.String(), text)
}

// messageBody reads the content of a message.
func messageBody(message []byte) (b body) {
	jsonl.Enter(message, func(key, from []byte) []byte {
		if string(key) != "content" {
			return nil
		}
		b = body{}
		return b.read(from)
	})
	return b
}

// readBody reads content, a string or an array of blocks.
func readBody(content []byte) (b body) {
	b.read(content)
	return b
}

func (b *body) read(from []byte) (rest []byte) {
	if jsonl.KindOf(from) != jsonl.KindArray {
		val, rest, ok := jsonl.Skip(from)
		if !ok {
			return nil
		}
		b.text, _ = jsonl.Head(val, promptLimit)
		return rest
	}
	rest, ok := jsonl.EnterArray(from, b.block)
	if !ok {
		return nil
	}
	return rest
}

func (b *body) block(from []byte) (rest []byte) {
	var kind, text []byte
	rest, ok := jsonl.Enter(from, func(key, from []byte) []byte {
		if string(key) != "type" && string(key) != "text" {
			return nil
		}
		val, rest, ok := jsonl.Skip(from)
		if !ok {
			return nil
		}
		if string(key) == "type" {
			kind = val
		} else {
			text = val
		}
		return rest
	})
	if !ok {
		return nil
	}
	switch string(inner(kind)) {
	case "tool_result":
		b.result = true
	case "image", "document":
		b.other = true
	case "text":
		s, _ := jsonl.Head(text, promptLimit)
		if b.text != "" {
			b.text += "\n"
		}
		b.text += s
	}
	return rest
}

// wrappers are the tags that the client puts around what it adds to a prompt; tags that end with
// "-hook" are, too.
var wrappers = []string{"ide_opened_file", "ide_selection", "ide_diagnostics", "system-reminder"}

// unwrap removes what the client added to a prompt, and the blanks around the rest.
func unwrap(s string) string {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '<')
		if i < 0 {
			return strings.TrimSpace(s)
		}
		i += from
		n := strings.IndexAny(s[i+1:], "> \n")
		if n < 0 {
			return strings.TrimSpace(s)
		}
		tag := s[i+1 : i+1+n]
		if !slices.Contains(wrappers, tag) && !strings.HasSuffix(tag, "-hook") || s[i+1+n] == '\n' {
			from = i + 1
			continue
		}
		end := "</" + tag + ">"
		switch n := strings.Index(s[i:], end); {
		case n >= 0:
			s, from = s[:i]+s[i+n+len(end):], i
		case strings.TrimSpace(s[:i]) == "":
			// A wrapper that was cut before its end, with nothing typed before it.
			return ""
		default:
			from = i + 1
		}
	}
}

// machines are the beginnings of texts that the harness wrote.
var machines = []string{
	"<local-command-stdout", "<local-command-stderr", "<local-command-caveat",
	"Caveat: The messages below were generated by the user while running local commands",
	"<bash-input", "<bash-stdout", "<bash-stderr", "<task-notification", "<teammate-message", "<command-",
	"[Request interrupted by user", "This session is being continued from a previous conversation",
	"Base directory for this skill:",
}

// machine tells whether the harness wrote a text that stands where a person's would.
func machine(text string) bool {
	for _, m := range machines {
		if strings.HasPrefix(text, m) {
			return true
		}
	}
	// Older task notifications are bare JSON.
	return strings.HasPrefix(text, "{") && strings.Contains(text, `"task_id"`)
}

// inner returns the decoded inside of a string value; a copy only when it holds an escape.
func inner(val []byte) []byte {
	in := jsonl.Inner(val)
	if bytes.IndexByte(in, '\\') >= 0 {
		return []byte(jsonl.Text(val))
	}
	return in
}

// cut shortens a text to n characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}
