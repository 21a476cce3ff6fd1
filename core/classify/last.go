package classify

import "tower/core"

// Last judges the last message of an agent's turn. Line is the line that proves the class, trimmed; of
// a very long one it is the sentence, cut where it is too long itself. It is "" where the class rests
// on the absence of any other. A text without a word gets no class. Of more than 32 KB the end counts.
func Last(text string) core.Said {
	t := read(text)
	if len(t.sentences) == 0 && !t.code {
		return core.Said{}
	}
	if said, ok := t.marks(); ok {
		return said
	}
	for _, find := range []struct {
		class core.Output
		proof func(*reading) (proof, bool)
	}{
		{core.OutputNeedHelp, (*reading).help},
		{core.OutputQuestion, (*reading).question},
		{core.OutputTestFailed, (*reading).testFailed},
		{core.OutputTypeError, (*reading).typeError},
		{core.OutputComplete, (*reading).complete},
		{core.OutputDone, (*reading).done},
		{core.OutputWorking, (*reading).working},
	} {
		if p, ok := find.proof(t); ok {
			return core.Said{Class: find.class, Line: t.line(p)}
		}
	}
	return core.Said{Class: core.OutputDone}
}
