package classify

import (
	"regexp"
	"slices"
	"strings"

	"tower/core"
)

// order is the precedence of the classes.
var order = []core.Output{core.OutputNeedHelp, core.OutputQuestion, core.OutputTestFailed, core.OutputTypeError,
	core.OutputComplete, core.OutputDone, core.OutputWorking}

var markWords = map[string]core.Output{
	"NEED_HELP": core.OutputNeedHelp, "NEEDS_HELP": core.OutputNeedHelp, "QUESTION": core.OutputQuestion,
	"TEST_FAILED": core.OutputTestFailed, "TESTS_FAILED": core.OutputTestFailed, "TYPE_ERROR": core.OutputTypeError,
	"TYPE_ERRORS": core.OutputTypeError, "COMPLETE": core.OutputComplete, "COMPLETED": core.OutputComplete,
	"DONE": core.OutputDone, "WORKING": core.OutputWorking,
}

const markWord = `(NEEDS?_HELP|QUESTION|TESTS?_FAILED|TYPE_ERRORS?|COMPLETED?|DONE|WORKING)`

var (
	keyedMark = regexp.MustCompile(`^\[?(?i:status|state|result|outcome|class|tower)\]?\s*[:=]\s*\[?` + markWord + `\b(.*)$`)
	bareMark  = regexp.MustCompile(`^\[?` + markWord + `\]?[.!]?\s*(?:$|[:—–]|-\s)(.*)$`)
	lastMark  = regexp.MustCompile(`^` + markWord + `[.!]?$`)
	otherMark = regexp.MustCompile(`\b` + markWord + `\b`)
)

// marks looks for words that were written for machines. A line that names several of them explains
// them and is none.
func (t *reading) marks() (core.Said, bool) {
	var found core.Said
	best := len(order)
	note := func(word string, p proof) {
		if rank := slices.Index(order, markWords[word]); rank < best {
			best, found = rank, core.Said{Class: markWords[word], Line: t.line(p)}
		}
	}
	for i := range t.lines {
		l := &t.lines[i]
		if l.plain == "" {
			continue
		}
		m := keyedMark.FindStringSubmatch(l.plain)
		if m == nil {
			m = bareMark.FindStringSubmatch(l.plain)
		}
		if m != nil && !otherMark.MatchString(m[2]) {
			note(m[1], proof{line: i})
		}
	}
	if n := len(t.sentences); n > 0 {
		s := &t.sentences[n-1]
		if m := lastMark.FindStringSubmatch(strings.Trim(s.plain, "*_ ")); m != nil {
			note(m[1], s.at(0))
		}
	}
	return found, best < len(order)
}
