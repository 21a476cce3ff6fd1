package codex

import (
	"regexp"
	"strings"

	"tower/core"
)

var (
	// asksTitle is how the terminal's title begins while Codex asks; the mark in the brackets blinks.
	asksTitle = regexp.MustCompile(`^\[ [!.] \] Action Required\b`)
	// keysLine is the last line of a dialog: what the keys do. No conversation reaches the last line, which
	// belongs to the input box's footer otherwise.
	keysLine = regexp.MustCompile(`(?i)^(?:press )?enter(?:/esc)? (?:to )?(?:confirm|continue|select|submit)\b|^r retry\s+f fork\b`)
	// pointedLine is the option a dialog points at, at the left edge; one without a number stands behind
	// blanks. An MCP server's dialog is set in by two.
	pointedLine = regexp.MustCompile(`^[›>] (?:\d+\. |  )`)
	setIn       = regexp.MustCompile(`^  › \d+\. `)
	optionLine  = regexp.MustCompile(`^ {0,2}(?:[›>] | {2,})(?:\d+\. |  )\S`)
	// elsewhere are footers of a view in which the keys are not the input box's.
	elsewhere = regexp.MustCompile(`^(?:Browsing transcript|Find:|No matches|Shell mode)\b|\bfull transcript\b`)
)

// dialogs are those of Codex, by the words they begin with and what a person is told.
var dialogs = []struct{ words, say string }{
	{"Trust this folder?", "Trust this folder?"},
	{"Config, hooks, and exec policies from untrusted folders", "Open this untrusted folder with restrictions?"},
	{"Choose how you want to use Codex.", "How to sign in?"},
	{"Sign in with ChatGPT to use Codex", "How to sign in?"},
	{"Working directory", "In which folder to go on?"},
	{"This conversation is archived", "This conversation is archived. Take it out of the archive?"},
	{"Hooks need review", ""},
	{"Update available", ""},
	{"Would you like to ", ""},
	{"Allow the ", ""},
}

const (
	openElsewhere = "This conversation is open in another app"
	picksSession  = "Resume a previous session"
	newModel      = "1. Try new model"
)

// Screen judges a screen of Codex by its frame: a dialog ends with a line that says what the keys do, and
// points at one of its options at the left edge; the input box is the last line that begins with its mark,
// with nothing but its own footer below. The same words inside a conversation have neither.
func (a *Adapter) Screen(title, tail string) core.Screen {
	lines := screenLines(tail)
	if len(lines) == 0 {
		return titled(title)
	}
	if ask := openDialog(title, lines); ask != "" {
		return core.Screen{Dialog: cut(strings.ToValidUTF8(ask, "\uFFFD"), askBytes)}
	}
	if inputBox(lines) {
		return core.Screen{Input: true}
	}
	return titled(title)
}

// titled judges by the title alone: the dialog it tells of may not be drawn yet.
func titled(title string) core.Screen {
	if asksTitle.MatchString(title) {
		return core.Screen{Dialog: "Codex asks for something."}
	}
	return core.Screen{}
}

// screenLines takes a screen apart, without what is empty at its end.
func screenLines(tail string) []string {
	lines := strings.Split(strings.TrimRight(tail, " \t\r\n\u00a0"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\r\u00a0")
	}
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines
}

// openDialog returns what the dialog at the bottom asks, or "".
func openDialog(title string, lines []string) string {
	last := strings.TrimSpace(lines[len(lines)-1])
	if strings.HasPrefix(last, "r retry") && keysLine.MatchString(last) {
		return openElsewhere
	}
	if strings.HasPrefix(last, "^o ") && strings.TrimSpace(lines[0]) == picksSession {
		return "Which session to resume?"
	}
	if !keysLine.MatchString(last) {
		return ""
	}
	at := lastMark(lines)
	if title == "" || asksTitle.MatchString(title) {
		for i := len(lines) - 1; i > at; i-- {
			if setIn.MatchString(lines[i]) {
				at = i
			}
		}
	}
	if at < 0 || !pointedLine.MatchString(strings.TrimPrefix(lines[at], "  ")) {
		return ""
	}
	top := at
	for top > 0 && (optionLine.MatchString(lines[top-1]) || strings.HasPrefix(lines[top-1], "    ")) {
		top--
	}
	return question(lines[:top], lines[top:])
}

// question finds what a dialog asks in what stands above its options.
func question(above, options []string) string {
	const far = 30
	for i := len(above) - 1; i >= max(0, len(above)-far); i-- {
		s := strings.TrimSpace(above[i])
		for _, d := range dialogs {
			if !strings.HasPrefix(s, d.words) {
				continue
			}
			if d.say != "" {
				return d.say
			}
			return s + detail(above[i+1:])
		}
	}
	for _, o := range options {
		if strings.Contains(o, newModel) {
			return "Which model to use?"
		}
	}
	for i := len(above) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(above[i]); s != "" && s != "↑" { // the sign that the list is longer
			return s
		}
	}
	return "Codex asks for something."
}

// detail returns the line that says what it is about: the command, the file, the number of hooks.
func detail(below []string) string {
	for _, l := range below {
		s := strings.TrimSpace(l)
		if rest, ok := strings.CutPrefix(s, "$ "); ok {
			return " " + rest
		}
		if rest, ok := strings.CutPrefix(s, "Destination: "); ok {
			return " " + rest
		}
		if strings.HasSuffix(s, "new or changed.") {
			return ": " + s
		}
	}
	return ""
}

// lastMark returns the last line that begins with a pointer at the left edge, or -1.
func lastMark(lines []string) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "› ") || lines[i] == "›" || strings.HasPrefix(lines[i], "> ") {
			return i
		}
	}
	return -1
}

// inputBox tells whether the bottom of the screen is the input box.
func inputBox(lines []string) bool {
	at := lastMark(lines)
	if at < 0 || lines[at][0] == '>' {
		return false
	}
	for _, l := range lines[at+1:] {
		if l != "" && !strings.HasPrefix(l, "  ") || elsewhere.MatchString(strings.TrimSpace(l)) {
			return false
		}
	}
	return true
}

var (
	_ core.Keeper     = (*Adapter)(nil)
	_ core.Teller     = (*Adapter)(nil)
	_ core.Doorkeeper = (*Adapter)(nil)
	_ core.Deliverer  = (*Adapter)(nil)
	_ core.Confirmer  = (*Adapter)(nil)
	_ core.Prompter   = (*Adapter)(nil)
	_ core.Adopter    = (*Adapter)(nil)
	_ core.Screener   = (*Adapter)(nil)
	_ core.Skiller    = (*Adapter)(nil)
)
