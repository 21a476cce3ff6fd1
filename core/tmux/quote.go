package tmux

import (
	"fmt"
	"strings"
)

// quote writes one argument for a control client's input, so that tmux's parser reads exactly these
// bytes back. Everything stands in single quotes, where the parser takes every byte for itself; only
// the single quote is escaped outside of them. Octal escapes in double quotes stand for control
// characters, of which a line end would begin the next command, and for the byte 255, which the parser
// takes for the end of its input. The argument must not hold a NUL.
func quote(b *strings.Builder, arg string) {
	const (
		none = iota
		single
		double
	)
	state := none
	enter := func(next int) {
		if state == next {
			return
		}
		switch state {
		case single:
			b.WriteByte('\'')
		case double:
			b.WriteByte('"')
		}
		switch next {
		case single:
			b.WriteByte('\'')
		case double:
			b.WriteByte('"')
		}
		state = next
	}
	if arg == "" {
		b.WriteString("''")
	}
	for i := 0; i < len(arg); i++ {
		switch c := arg[i]; {
		case c < ' ' || c == 0x7f || c == 0xff:
			enter(double)
			fmt.Fprintf(b, `\%03o`, c)
		case c == '\'':
			enter(none)
			b.WriteString(`\'`)
		default:
			enter(single)
			b.WriteByte(c)
		}
	}
	enter(none)
}

// commandLine writes a command for a control client's input.
func commandLine(args []string) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		quote(&b, a)
	}
	b.WriteByte('\n')
	return b.String()
}

// spawnArg writes one argument for a spawned tmux, which takes a ';' at the end of one for the end of
// the command.
func spawnArg(arg string) string {
	if head, ok := strings.CutSuffix(arg, ";"); ok {
		return head + `\;`
	}
	return arg
}

// literal writes text for an argument that tmux expands as a format, so that it comes out as it was.
// Every '#' is doubled, but for those directly before a '[': they are left as they are by tmux, which
// takes them for the beginning of a style.
func literal(text string) string {
	if !strings.Contains(text, "#") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '#' {
			b.WriteByte(text[i])
			i++
			continue
		}
		end := i
		for end < len(text) && text[end] == '#' {
			end++
		}
		run := text[i:end]
		b.WriteString(run)
		if end == len(text) || text[end] != '[' {
			b.WriteString(run)
		}
		i = end
	}
	return b.String()
}
