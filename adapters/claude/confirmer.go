package claude

import (
	"bytes"
	"context"
	"strings"
	"unicode"

	"tower/adapters/jsonl"
	"tower/core"
)

// Typed tells whether the transcript holds a text at or after since, see [core.Confirmer]. A text that
// was typed is found in one of four forms:
//
//	idle          a user line by a person
//	busy          a line that puts it into the queue, at once; later, when the turn
//	              has ended, a user line, or, handed to the running turn, an attachment
//	a command     a user line of tags that name the command and its arguments
//
// The input box does not keep every text as it was typed, hence [written].
func (a *Adapter) Typed(ctx context.Context, s core.Session, text string, since core.Instant) (bool, error) {
	path := a.transcript(s)
	if path == "" {
		return false, nil
	}
	want := written(text)
	if want == "" {
		return false, nil
	}
	var found bool
	err := growing(path, func(b []byte, whole bool) bool {
		var old bool
		found, old = typed(b, want, since)
		return found || old || ctx.Err() != nil
	})
	if err == nil && !found {
		err = ctx.Err()
	}
	return found, err
}

// typed looks for the text in whole lines. old says that they reach back before since: the file is
// written in the order of time but for a few lines that bear the instant at which what they tell of
// began, so it takes several of them.
func typed(b []byte, want string, since core.Instant) (found, old bool) {
	const enough = 64
	before := 0
	backward(b, func(line []byte) bool {
		text, at := prompted(line)
		switch {
		case at == 0:
		case at < since:
			before++
		case text != "" && alike(written(text), want):
			found = true
		}
		return !found && before < enough
	})
	return found, before >= enough
}

// prompted returns the text that a line says a person gave the agent, if it is such a line, and the
// instant of any line.
func prompted(line []byte) (text string, at core.Instant) {
	var kind, message, attachment, operation, content, origin, source, stamp []byte
	var side, meta bool
	jsonl.Object(line, func(key, val []byte) bool {
		switch string(key) {
		case "type":
			kind = val
		case "message":
			message = val
		case "attachment":
			attachment = val
		case "operation":
			operation = val
		case "content":
			content = val
		case "origin":
			origin = val
		case "promptSource":
			source = val
		case "timestamp":
			stamp = val
		case "isSidechain":
			side = jsonl.Bool(val)
		case "isMeta":
			meta = jsonl.Bool(val)
		}
		return true
	})
	at = instant(stamp)
	if side || meta {
		return "", at
	}
	switch string(jsonl.Inner(kind)) {
	case "user":
		human, told := author(&entry{origin: origin, source: source})
		body := jsonl.Get(message, "content")
		if told && !human || bytes.Contains(body, []byte(`"tool_result"`)) && jsonl.KindOf(body) == jsonl.KindArray {
			return "", at
		}
		text = contentText(body)
		if command := commandLine(text); !human && command != "" {
			text = command
		}
	case "queue-operation":
		if jsonl.Is(operation, "enqueue") {
			text = contentText(content)
		}
	case "attachment":
		by := jsonl.Get(attachment, "origin", "kind")
		if jsonl.Is(jsonl.Get(attachment, "type"), "queued_command") && (by == nil || jsonl.Is(by, "human")) {
			text = contentText(jsonl.Get(attachment, "prompt"))
			if began := instant(jsonl.Get(attachment, "timestamp")); began != 0 {
				at = began
			}
		}
	}
	return text, at
}

// commandLine returns the slash command as it was typed, when text is the tags it is recorded as.
func commandLine(text string) string {
	if !strings.HasPrefix(text, "<command-") {
		return ""
	}
	name := tagged(text, "command-name")
	if !strings.HasPrefix(name, "/") {
		return ""
	}
	return strings.TrimSpace(name + " " + tagged(text, "command-args"))
}

// written returns a text as far as the input box keeps it: a tab becomes four blanks, every kind of
// line end one newline, and what is blank around the text is lost (in the queue at both ends, else at
// its end; a long paste keeps it). Characters without width are what guards a text from being taken
// for a command.
func written(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(text)
	return strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || r == '\u200B' || r == '\u2060' || r == '\uFEFF'
	})
}

// alike tells whether two texts are the same but for the composition of characters: what is typed
// into the box is composed (NFC), a long paste is not. The tables of composition are not at hand, so
// when the texts differ and one of them holds what composing changes, they are compared by all that
// composing leaves alone.
func alike(have, want string) bool {
	if have == want {
		return true
	}
	return strings.IndexFunc(want, composes) >= 0 && bones(have) == bones(want)
}

// composes tells whether a character may become another, or part of another, when text is composed.
func composes(r rune) bool {
	return unicode.Is(unicode.M, r) || r >= 0x1100 && r < 0x1200 || // marks, and the letters of Hangul
		r >= 0xF900 && r < 0xFB50 || r >= 0x2F800 && r < 0x2FA20 || // ideographs with a second code
		r >= 0x1F00 && r < 0x2000 || r >= 0x2126 && r <= 0x212B // Greek, Ohm, Kelvin, Ångström
}

// bones leaves out every character that composing may take away, change, or produce.
func bones(s string) string {
	var b strings.Builder
	runes := []rune(s)
	for i, r := range runes {
		switch {
		case i+1 < len(runes) && unicode.Is(unicode.M, runes[i+1]):
		case r < 0x80:
			b.WriteRune(r)
		case composes(r), unicode.IsLetter(r) && !unicode.Is(unicode.Han, r), r >= 0x2190 && r < 0x2300:
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
