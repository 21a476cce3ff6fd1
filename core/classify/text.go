package classify

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	window   = 32 << 10 // of a longer text only the end is judged
	longLine = 300      // bytes of a line that is shown whole
)

// reading is a text cut up for judging.
type reading struct {
	lines     []line
	sentences []sentence
	code      bool // something stands in a code block
	open      int  // index of the first line with an unticked box, -1 without
	goes      *goes
}

// goes is what was found of the agent's going on, which three classes ask for.
type goes struct {
	proof proof
	on    bool
}

// line is one line of the text.
type line struct {
	text  string // as it stands, trimmed and without terminal codes
	plain string // what is stated: no marks of a list or of emphasis, quoted words replaced; "" when all is mention
	low   string // plain in lower case
	item  bool   // of a list
	head  bool   // a heading
}

// sentence is one statement. It may run over several lines.
type sentence struct {
	plain, low string
	starts     []start
	end        byte // '.', '!', '?', ':' or 0 when nothing ends it
	item, head bool
}

type start struct{ offset, line int } // from this offset on the words stand in this line

// proof is where a class was found.
type proof struct {
	line     int
	sentence string // in which, as stated; "" = the whole line
}

// at returns the proof for what stands at an offset of the sentence.
func (s *sentence) at(offset int) proof {
	n := s.starts[0].line
	for _, st := range s.starts {
		if st.offset > offset {
			break
		}
		n = st.line
	}
	return proof{n, s.plain}
}

// line returns the proving line, or of a long one the part that proves.
func (t *reading) line(p proof) string {
	text := t.lines[p.line].text
	if len(text) <= longLine {
		return text
	}
	if i := strings.Index(text, p.sentence); i >= 0 && p.sentence != "" {
		text = text[i : i+len(p.sentence)]
	} else if p.sentence != "" && strings.HasSuffix(p.sentence, "?") {
		// Words of it are replaced: the question is what the line ends with or near.
		if j := strings.LastIndexByte(text, '?'); j >= 0 {
			text = text[max(0, j+1-longLine):]
			if k := strings.IndexByte(text, ' '); k >= 0 && len(text) >= longLine {
				text = text[k+1:]
			}
		}
	}
	return cut(text)
}

func cut(s string) string {
	if len(s) > longLine {
		n := longLine
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return strings.TrimSpace(s)
}

var (
	terminalCode = regexp.MustCompile(`\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])`)
	listMark     = regexp.MustCompile(`^(?:[-*+•‣◦●⏺]|\(?(?:\d{1,3}|[A-Za-z])[.)])[ \t]+`)
	headMark     = regexp.MustCompile(`^#{1,6}[ \t]+`)
	link         = regexp.MustCompile(`\[([^\[\]]{0,200})\]\([^()\s]{0,500}\)`)
	tableRule    = regexp.MustCompile(`^\|?[-:| ]+\|?$`)
	shortened    = regexp.MustCompile(`^\d+\.$|\b(?:e\.g|i\.e|vs|etc|cf|approx|No)\.$`)
)

// read cuts a text up. Code blocks are followed from the very start, everything else is looked at only
// in the window.
func read(text string) *reading {
	t := &reading{open: -1}
	from := max(0, len(text)-window)
	fence, indented, blank, list := "", false, true, false
	for offset := 0; offset < len(text); {
		raw, next := text[offset:], len(text)
		if i := strings.IndexByte(raw, '\n'); i >= 0 {
			raw, next = raw[:i], offset+i+1
		}
		inside := next > from
		if offset < from && inside {
			raw = strings.ToValidUTF8(raw[from-offset:], "")
		}
		offset = next
		if mark := fenceMark(raw); fence == "" && mark != "" {
			fence = mark
			t.code = true
			continue
		} else if fence != "" {
			if mark != "" && strings.HasPrefix(mark, fence) && strings.Trim(strings.TrimSpace(raw), fence[:1]) == "" {
				fence = ""
			}
			blank, list = false, false
			continue
		}
		if !inside {
			continue
		}
		if strings.IndexByte(raw, 0x1b) >= 0 {
			raw = terminalCode.ReplaceAllString(raw, "")
		}
		trimmed := strings.TrimSpace(raw)
		if trimmed == "" {
			blank, indented = true, false
			continue
		}
		deep := strings.HasPrefix(raw, "    ") || strings.HasPrefix(raw, "\t")
		if deep && (blank || indented) && !list {
			indented, blank, t.code = true, false, true
			continue
		}
		joins := !blank
		blank, indented = false, false
		l := newLine(trimmed)
		list = l.item || list && deep
		t.add(l, joins)
	}
	return t
}

// fenceMark returns the fence a line begins with, "" when it is none.
func fenceMark(raw string) string {
	for len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\t') {
		raw = raw[1:]
	}
	if len(raw) < 3 || raw[0] != '`' && raw[0] != '~' || raw[1] != raw[0] || raw[2] != raw[0] {
		return ""
	}
	n := 3
	for n < len(raw) && raw[n] == raw[0] {
		n++
	}
	if raw[0] == '`' && strings.IndexByte(raw[n:], '`') >= 0 {
		return "" // a code span that begins the line
	}
	return raw[:n]
}

func newLine(trimmed string) line {
	l := line{text: trimmed}
	s := trimmed
	if s[0] == '>' || strings.HasPrefix(s, "│") || strings.HasPrefix(s, "▎") || tableRule.MatchString(s) {
		return l
	}
	if m := headMark.FindString(s); m != "" {
		s, l.head = s[len(m):], true
	}
	if m := listMark.FindString(s); m != "" {
		s, l.item = s[len(m):], true
	}
	s = strings.ReplaceAll(s, "’", "'")
	s = link.ReplaceAllString(s, "$1")
	s = strings.ReplaceAll(s, "**", "")
	s = testName.ReplaceAllString(hideQuoted(s), mentionTests)
	l.plain = strings.TrimSpace(strings.TrimLeftFunc(s, decoration))
	l.low = lower(l.plain)
	return l
}

// decoration tells what stands before a statement without saying anything.
func decoration(r rune) bool {
	return r == '*' || r == '_' || r == '|' || r == 0xfe0f || unicode.IsSpace(r) || r > 0x2000 && (unicode.Is(unicode.So, r) || unicode.Is(unicode.Sm, r))
}

// lower changes ASCII only, so that offsets stay.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// add appends a line and cuts it into sentences. A line that goes on from the one before it, as a text
// with hard breaks does, goes on its last sentence.
func (t *reading) add(l line, joins bool) {
	n := len(t.lines)
	t.lines = append(t.lines, l)
	if l.plain == "" {
		return
	}
	if l.item && strings.HasPrefix(l.plain, "[ ] ") && t.open < 0 {
		t.open = n
	}
	rest := l.plain
	if k := len(t.sentences); joins && k > 0 && !l.item && !l.head {
		last := &t.sentences[k-1]
		if prev := t.lines[n-1]; last.end == 0 && !last.head && prev.plain != "" && l.plain[0] >= 'a' && l.plain[0] <= 'z' && len(last.plain) < 4*longLine {
			var more string
			more, rest = firstSentence(rest)
			last.starts = append(last.starts, start{len(last.plain) + 1, n})
			last.plain += " " + more
			last.low = lower(last.plain)
			last.end = ending(last.plain)
		}
	}
	for rest != "" {
		var one string
		one, rest = firstSentence(rest)
		t.sentences = append(t.sentences, sentence{plain: one, low: lower(one), starts: []start{{0, n}}, end: ending(one), item: l.item, head: l.head})
	}
}

// firstSentence cuts the first sentence off. A full stop before a small letter ends none ("e.g. this").
func firstSentence(s string) (one, rest string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		wide := strings.HasPrefix(s[i:], "？") || strings.HasPrefix(s[i:], "…")
		if c != '.' && c != '!' && c != '?' && !wide {
			continue
		}
		for i < len(s) && strings.IndexByte(".!?)\"'*_]", s[i]) >= 0 {
			i++
		}
		if wide {
			i += len("？")
		}
		if i >= len(s) {
			break
		}
		if s[i] != ' ' && s[i] != '\t' && !wide {
			i--
			continue
		}
		rest := strings.TrimSpace(s[i:])
		if c == '.' && rest != "" && (rest[0] >= 'a' && rest[0] <= 'z') || c == '.' && shortened.MatchString(s[:i]) {
			i--
			continue
		}
		return strings.TrimSpace(s[:i]), rest
	}
	return strings.TrimSpace(s), ""
}

// ending returns what a sentence ends with, seen through closing brackets and emphasis. A question in
// brackets within a sentence is not the sentence's own.
func ending(s string) byte {
	bracket := false
	for s != "" {
		c := s[len(s)-1]
		switch {
		case strings.IndexByte("*_\"' ", c) >= 0:
		case c == ')' || c == ']':
			bracket = s[0] != '(' && s[0] != '['
		case c == '?' && bracket:
			return '.'
		case strings.IndexByte(".!?:", c) >= 0:
			if c == '.' && bracket {
				return '.'
			}
			if c != ':' && strings.TrimRight(s, ".!") != s && strings.HasSuffix(strings.TrimRight(s, ".!"), "?") {
				return '?'
			}
			return c
		default:
			if strings.HasSuffix(s, "？") {
				return '?'
			}
			if strings.HasSuffix(s, "…") {
				return '.'
			}
			return 0
		}
		s = s[:len(s)-1]
	}
	return 0
}
