package claude

import (
	"regexp"
	"slices"
	"strings"

	"tower/core"
)

// Screen reads the last lines of the agent's terminal, see [core.Screener]. It goes by how a screen is
// built and not by its words, for a conversation may hold any words:
//
//	at rest                      a dialog
//	  ● an answer                  ● an answer
//	───────────────── a name ──  ─────────────────────────────
//	❯ what is being typed         Bash command
//	  over several lines            touch made.txt
//	───────────────────────────   Do you want to proceed?
//	  ? for shortcuts             ❯ 1. Yes
//	                                2. No
//	                               Esc to cancel · Tab to amend
//
// A dialog stands where the input box stood, so as long as the box is there, no dialog is. Its last
// lines are its options, one of them under the cursor, or tell which key does what. Two states of the
// box itself are dialogs for whoever would type: one runs what is typed in a shell, one searches for
// it.
func (a *Adapter) Screen(_, tail string) core.Screen {
	lines := screenLines(tail)
	if box, below, ok := inputBox(lines); ok {
		switch {
		case strings.HasPrefix(box, "!"):
			return core.Screen{Dialog: asksShell}
		case strings.Contains(below, "search prompts:"):
			return core.Screen{Dialog: asksSearch}
		}
		return core.Screen{Input: true}
	}
	region, ok := dialogRegion(lines)
	if !ok {
		return core.Screen{}
	}
	return core.Screen{Dialog: brief(asked(region))}
}

// What is asked on a screen, in words that end a sentence; those of a start are in doorkeeper.go.
const (
	asksShell  = "which shell command to run"
	asksSearch = "which earlier prompt to search for"
	asksKey    = "whether the API key of its environment is used"
	asksServer = "whether the MCP servers of this project are used"
	asksLogin  = "how to sign in"
	asksBypass = "whether it may work without asking"
)

// screenLines takes a screen apart and drops what is blank at the right and at the bottom.
func screenLines(tail string) []string {
	lines := strings.Split(tail, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r\u00A0")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// isRule tells whether a line is drawn over the whole width; a session's name may stand in it.
func isRule(line string) bool {
	return strings.HasPrefix(line, "────────") && strings.HasSuffix(line, "─")
}

// rules returns where the last rules stand, the lowest first.
func rules(lines []string) (at []int) {
	for i := len(lines) - 1; i >= 0 && len(at) < 3; i-- {
		if isRule(lines[i]) {
			at = append(at, i)
		}
	}
	return at
}

// option is a line that can be chosen, under the cursor.
var option = regexp.MustCompile(`^\s*❯\s+(\d+\.|\[.\])\s`)

// choice is a line that can be chosen, wherever the cursor is.
var choice = regexp.MustCompile(`^\s*(❯\s+)?(\d+\.|\[.\])\s`)

// footer is what tells which key does what in a dialog.
var footer = regexp.MustCompile(`(^|· |\s{2})(Esc to (cancel|close|clear|reject|go back|exit)|Enter to (confirm|select|continue|submit|set)|Press Enter to continue)`)

// hint tells of a key in the way that dialogs do, but other screens as well: it counts below options.
var hint = regexp.MustCompile(`^(ctrl|shift|alt)\+\S+ to `)

// inputBox returns what stands in the box and below it.
func inputBox(lines []string) (box, below string, ok bool) {
	at := rules(lines)
	if len(at) < 2 {
		return "", "", false
	}
	bottom, top := at[0], at[1]
	if bottom-top < 2 {
		return "", "", false
	}
	box, below = lines[top+1], strings.Join(lines[bottom+1:], "\n")
	switch {
	case !strings.HasPrefix(box, "❯") && !strings.HasPrefix(box, "!"):
		return "", "", false
	case strings.Contains(below, "Resume this session with:"): // it has ended, this is what is left
		return "", "", false
	}
	for _, line := range lines[bottom+1:] {
		if option.MatchString(line) {
			return "", "", false
		}
	}
	return box, below, !footer.MatchString(paragraph(lines[bottom+1:]))
}

// dialogRegion returns the lines of a dialog that is open at the bottom of the screen. It begins below
// the last rule, or below one further up when nothing but options stands below that one: a rule may
// part the last option from the others.
func dialogRegion(lines []string) ([]string, bool) {
	if len(lines) == 0 {
		return nil, false
	}
	end := paragraph(lines)
	open := footer.MatchString(end)
	at := rules(lines)
	if len(at) == 0 {
		at = []int{-1}
	}
	for _, i := range at {
		region := lines[i+1:]
		first := slices.IndexFunc(region, choice.MatchString)
		if strings.TrimSpace(strings.Join(region[:max(first, 0)], "")) == "" && first >= 0 {
			continue
		}
		// Options without a line of keys below them are the bottom themselves.
		if slices.ContainsFunc(region, option.MatchString) && (open || hint.MatchString(end) || choice.MatchString(region[len(region)-1]) || theme(region)) {
			return region, true
		}
		break
	}
	return lines[at[0]+1:], open
}

// theme tells the one dialog that ends in a piece of sample text.
func theme(region []string) bool {
	return strings.HasPrefix(strings.TrimSpace(region[len(region)-1]), "Syntax theme:")
}

// paragraph returns the last lines up to a blank one, as one.
func paragraph(lines []string) string {
	i := len(lines)
	for i > 0 && lines[i-1] != "" {
		i--
	}
	var parts []string
	for _, line := range lines[i:] {
		parts = append(parts, strings.TrimSpace(line))
	}
	return strings.Join(parts, " ")
}

// known are dialogs by what stands in them, in the words of this package.
var known = []struct{ mark, asks string }{
	{"Accessing workspace:", asksTrust},
	{"Settings Error", asksSettings},
	{"Settings Warning", asksSettings},
	{"Configuration error", asksAccount},
	{"Detected a custom API key in your environment", asksKey},
	{"New MCP server found in this project", asksServer},
	{"new MCP servers found in this project", asksServer},
	{"running in Bypass Permissions mode", asksBypass},
	{"Let's get started.", asksSetup},
	{"Security notes:", asksSetup},
	{"Select login method:", asksLogin},
}

// asked tells what a dialog asks: in our words where it is known, else in its own, which are the
// question above its options, and what it is about where that is a permission.
func asked(region []string) string {
	var title, subject, question string
	for _, line := range region {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if choice.MatchString(line) {
			break
		}
		for _, k := range known {
			if strings.Contains(line, k.mark) {
				return k.asks
			}
		}
		switch {
		case title == "":
			title = line
		case subject == "":
			subject = line
		}
		if strings.HasSuffix(line, "?") {
			question = line
		}
	}
	switch {
	case question == "":
		return title
	case strings.HasPrefix(question, "Do you want to") && subject != "" && subject != question:
		return title + ": " + subject + ". " + question
	}
	return question
}
