package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain writes text for a person's terminal. Titles, folders, session ids and the names of files are
// the words of others, and a terminal obeys what it is sent: so everything passes here, and nothing but
// line ends and tabs is left of what would move its cursor, set its title or turn a line around.
type plain struct{ to io.Writer }

func (p plain) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.to, harmless(string(b), box)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// harmless replaces each character that a terminal obeys, and what is not UTF-8.
func harmless(s string, by func(rune) string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, obeyed) < 0 {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		if obeyed(r) {
			out.WriteString(by(r))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

func box(rune) string { return "\ufffd" }

// escape writes a character as JSON may have it within a string, where alone it can stand.
func escape(r rune) string { return fmt.Sprintf(`\u%04x`, r) }

// obeyed tells what a terminal does something at, and marks that turn the direction of a line.
func obeyed(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}
