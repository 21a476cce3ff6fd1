package tmux

import (
	"strings"
	"unicode/utf8"

	"tower/core"
)

// Clean prepares what a person or a program wants typed. Control characters are taken out, because a
// terminal obeys them: an escape sequence in the text would end the paste it stands in, and what
// follows would be keys. Line ends of any kind become LF; tabs stay. With guard a blank is put before
// a leading '/' or '!', which agents take for a command of theirs. All else stays byte for byte.
// removed is how many characters were taken out. A NUL and bytes that are no UTF-8 are refused.
func Clean(text string, guard bool) (clean string, removed int, err error) {
	if strings.IndexByte(text, 0) >= 0 {
		return "", 0, &core.Refusal{What: notDelivered, Why: "The text holds a NUL character, which cannot be typed.", Hint: "Take it out, or send the text as a file."}
	}
	if !utf8.ValidString(text) {
		return "", 0, &core.Refusal{What: notDelivered, Why: "The text is not UTF-8.", Hint: "Convert it, or send it as a file."}
	}
	var b strings.Builder
	b.Grow(len(text) + 1)
	for i, r := range text {
		switch {
		case r == '\r':
			if !strings.HasPrefix(text[i+1:], "\n") {
				b.WriteByte('\n')
			}
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < ' ' || r >= 0x7f && r < 0xa0:
			removed++
		default:
			b.WriteRune(r)
		}
	}
	clean = b.String()
	if guard && clean != "" && (clean[0] == '/' || clean[0] == '!') {
		clean = " " + clean
	}
	return clean, removed, nil
}
