package tmux

import "strings"

// frames reads what a control client prints, line by line: answers, each between "%begin TIME NUMBER
// FLAGS" and "%end" or "%error" with the same three words, and notices between the answers.
//
// A program in a pane chooses some of what stands in an answer. A line of its making that looks like
// the end of an answer is taken for one only when all three words are equal; besides, no free text is
// asked for in a form in which it could begin a line.
type frames struct {
	inside bool
	mark   string // the three words of the open answer
	lines  []string
}

// answer is what tmux said to one command.
type answer struct {
	lines  []string
	failed bool
	own    bool // to a line we wrote; else to a hook's command or to the one the client was started with
}

// line takes the next line. It returns an answer that is complete with it, or the name of a notice.
func (f *frames) line(s string) (a *answer, notice string) {
	word, rest, _ := strings.Cut(s, " ")
	if !f.inside {
		if word == "%begin" {
			f.inside, f.mark, f.lines = true, rest, nil
			return nil, ""
		}
		if strings.HasPrefix(word, "%") {
			return nil, word
		}
		return nil, "" // an error of a command that had already been answered
	}
	if (word == "%end" || word == "%error") && rest == f.mark {
		f.inside = false
		flags := rest[strings.LastIndexByte(rest, ' ')+1:]
		a = &answer{lines: f.lines, failed: word == "%error", own: flags == "1"}
		f.lines = nil
		return a, ""
	}
	f.lines = append(f.lines, s)
	return nil, ""
}
