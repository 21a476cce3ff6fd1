package classify

import (
	"regexp"
	"strings"

	"tower/core"
)

const (
	foot = 12 // lines at the bottom in which a program shows that it works or asks
	tall = 400
)

var (
	// interrupt is the offer to stop a turn that is under way: alone in the footer, or in brackets behind
	// what is going on.
	interrupt = regexp.MustCompile(`(?i)^(?:press )?esc(?:ape)? (?:to )?interrupt\b|\((?:[^()]*[·•,] ?)?esc(?:ape)? (?:to )?(?:interrupt|cancel)(?:[,·•][^()]*)?\)\s*$`)
	spinner   = regexp.MustCompile(`^[·✢✳✶✻✽∗*⠀-⣿◐◓◑◒] ?\S.*(?:…|\.\.\.)(?:\s*\(.*\))?$`)
	pointer   = regexp.MustCompile(`^[❯›▶>] ?\(?\d{1,2}[.)] \S`)
	option    = regexp.MustCompile(`^(?:[❯›▶>] ?)?\(?\d{1,2}[.)] \S`)
	border    = regexp.MustCompile(`^[─━═╌╭╮╰╯┌┐└┘│┃|+\-]{3,}`)
	sides     = regexp.MustCompile(`^[│┃]\s?|\s*[│┃]$`)
	spoken    = regexp.MustCompile(`^[●⏺•] (\S.*)$`)
	typed     = regexp.MustCompile(`^[❯›>] ?\S`)
	tool      = regexp.MustCompile(`^\s*[⎿└├]`)
	after     = regexp.MustCompile(`^(?:✻ \S+ for |\s*Worked for |[─━]{10,}|[✻✔⚠■] )`)
	toolCall  = regexp.MustCompile(`^(?:[A-Z]\w*\(.*|(?:Ran|Running|Explored|Edited|Added|Read|Called|Updated Plan|Searched) \S.*)$`)
	failTurn  = regexp.MustCompile(`^[■✗] ?(\S.*)$`)
)

// Screen judges the last lines of a terminal in which an agent runs. A turn under way and an open dialog
// are seen by their frames, everything else by the last message on it. A screen that proves nothing has
// no class: it may show an empty box, another program or an older message.
func Screen(tail string) core.Said {
	lines := rows(tail)
	if len(lines) == 0 {
		return core.Said{}
	}
	if said, ok := dialog(lines); ok {
		return said
	}
	for i := len(lines) - 1; i >= max(0, len(lines)-foot); i-- {
		if s := strings.TrimSpace(lines[i]); interrupt.MatchString(s) || spinner.MatchString(s) && !strings.HasPrefix(s, "* ") {
			return core.Said{Class: core.OutputWorking, Line: cut(busy(lines, i))}
		}
	}
	message := lastMessage(lines)
	if message == "" {
		return core.Said{}
	}
	said := Last(message)
	if said.Line == "" {
		return core.Said{}
	}
	return said
}

// rows returns the last lines that are not empty, without terminal codes and the sides of a frame.
func rows(tail string) []string {
	if len(tail) > window {
		tail = strings.ToValidUTF8(tail[len(tail)-window:], "")
	}
	if strings.IndexByte(tail, 0x1b) >= 0 {
		tail = terminalCode.ReplaceAllString(tail, "")
	}
	var list []string
	for raw := range strings.Lines(tail) {
		s := strings.TrimRight(raw, " \t\r\n\u00a0")
		s = strings.TrimRight(sides.ReplaceAllString(s, ""), " \t\u00a0")
		if strings.TrimSpace(s) != "" {
			list = append(list, s)
		}
	}
	return list[max(0, len(list)-tall):]
}

// busy returns the line that names the work, where the offer to interrupt stands below it.
func busy(lines []string, i int) string {
	for j := i; j >= max(0, i-8); j-- {
		if s := strings.TrimSpace(lines[j]); spinner.MatchString(s) {
			return s
		}
	}
	return strings.TrimSpace(lines[i])
}

// dialog finds a menu at the bottom: numbered options of which one is pointed at. The line that proves it
// is the nearest question above.
func dialog(lines []string) (core.Said, bool) {
	for i := len(lines) - 1; i >= max(0, len(lines)-foot); i-- {
		if !pointer.MatchString(strings.TrimSpace(lines[i])) {
			continue
		}
		first, others := i, 0
		for j := max(0, i-foot); j < min(len(lines), i+foot); j++ {
			if j != i && option.MatchString(strings.TrimSpace(lines[j])) {
				others++
				first = min(first, j)
			}
		}
		if others == 0 || first == 0 {
			return core.Said{}, false // something typed that begins like a list
		}
		proof := strings.TrimSpace(lines[first-1])
		for j := first - 1; j >= max(0, first-10); j-- {
			s := strings.TrimSpace(lines[j])
			if border.MatchString(s) {
				break
			}
			if strings.HasSuffix(s, "?") {
				proof = s
				break
			}
		}
		return core.Said{Class: core.OutputQuestion, Line: cut(proof)}, true
	}
	return core.Said{}, false
}

// lastMessage returns what the agent said last, "" when something was typed after it or nothing is seen.
// The box in which one types stands at the bottom, so the last typed line is not counted.
func lastMessage(lines []string) string {
	end := len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(lines[i]); typed.MatchString(s) || s == "❯" || s == "›" || s == ">" {
			end = i
			break
		}
	}
	for i := end - 1; i >= 0; i-- {
		s := lines[i]
		if typed.MatchString(s) {
			return ""
		}
		if m := failTurn.FindStringSubmatch(s); m != nil {
			return m[1]
		}
		m := spoken.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		if toolCall.MatchString(m[1]) || i+1 < end && tool.MatchString(lines[i+1]) && !strings.Contains(lines[i+1], "Tip: ") {
			continue
		}
		message := []string{m[1]}
		for _, more := range lines[i+1 : end] {
			if after.MatchString(more) || tool.MatchString(more) || spoken.MatchString(more) || border.MatchString(more) {
				break
			}
			message = append(message, strings.TrimPrefix(more, "  "))
		}
		return strings.Join(message, "\n")
	}
	return ""
}
