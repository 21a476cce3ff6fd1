package menu

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"tower/core"
)

const (
	maxTitle   = 26
	maxRow     = 60
	maxTooltip = 127
	ellipsis   = "…"
)

var glyphs = map[core.Pill]string{
	core.PillWorking:  "►", // not U+25B6, which macOS draws as an emoji
	core.PillWaiting:  "◆",
	core.PillIdle:     "○",
	core.PillShell:    "$",
	core.PillStarting: "◌",
	core.PillOther:    "–",
}

func glyph(p core.Pill) string {
	if g, ok := glyphs[p]; ok {
		return g
	}
	return glyphs[core.PillOther]
}

// clean makes foreign text fit for one line of a menu. One invalid byte or NUL makes the desktop
// refuse the whole menu, a line break or a direction override would let a title rewrite its row.
func clean(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case unicode.IsSpace(r):
			gap = b.Len() > 0
			continue
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r) && r != '\u200d' && r != '\u200c',
			unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r), r == '\uFFFE', r == '\uFFFF':
			continue // the two exceptions join letters and emoji
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cut shortens s to at most n runes, the last an ellipsis, and never leaves half of a joined emoji.
func cut(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	end := n - 1
	for end > 0 && (extends(runes[end]) || runes[end-1] == '\u200d') {
		end--
	}
	if end == 0 { // one letter under a heap of marks
		end = n - 1
	}
	return strings.TrimRight(string(runes[:end]), " ") + ellipsis
}

// extends tells whether a rune is drawn onto the one before it.
func extends(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) || r == '\u200d' }

// isolate keeps right-to-left text from turning round the facts beside it.
func isolate(s string) string {
	for _, r := range s {
		if unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko) {
			return "\u2068" + s + "\u2069"
		}
	}
	return s
}

// escape doubles the character that marks a mnemonic, which would vanish from the text otherwise.
func escape(s, goos string) string {
	switch goos {
	case "darwin":
		return s
	case "windows":
		return strings.ReplaceAll(s, "&", "&&")
	}
	return strings.ReplaceAll(s, "_", "__")
}

// cutUnits shortens s to at most n UTF-16 units.
func cutUnits(s string, n int) string {
	if len(utf16.Encode([]rune(s))) <= n {
		return s
	}
	units := 1 // of the ellipsis
	for i, r := range s {
		if units += utf16.RuneLen(r); units > n {
			return s[:i] + ellipsis
		}
	}
	return s
}

// age tells how long ago an instant was, in the largest whole unit; older than a day it is the day.
// now carries the zone in which days are cut. Unknown is "".
func age(at core.Instant, now time.Time) string {
	if at == 0 {
		return ""
	}
	t := at.Time().In(now.Location())
	switch d := now.Sub(t); {
	case d < time.Minute:
		return "under 1 min"
	case d < time.Hour:
		return itoa(int(d/time.Minute)) + " min"
	case d < 24*time.Hour:
		return itoa(int(d/time.Hour)) + " h"
	case t.Year() == now.Year():
		return t.Format("2 Jan")
	}
	return t.Format("2 Jan 2006")
}

// clock tells when an instant was: by clock today, else with its day.
func clock(at core.Instant, now time.Time) string {
	t := at.Time().In(now.Location())
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format("15:04")
	}
	return t.Format("2 Jan 15:04")
}

// lastElement returns the last element of a path of any system.
func lastElement(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

func itoa(n int) string { return strconv.Itoa(n) }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}
