package alert

import (
	"strconv"
	"strings"
	"unicode"

	"tower/core"
)

const (
	maxTitle = 48
	maxAsk   = 120 // of a question
	maxLine  = 200 // of a command, which is told as it stands
	wayOn    = "Open Tower to answer."
)

// words says who asks what. Without buttons the last line of the body has to say where to go.
func words(s *core.Snapshot, r *core.Row) Popup {
	who, what, ask := agent(s, r.Agent), called(r), clean(r.Live.Ask)
	p := Popup{Kind: New, Key: string(r.ID), Session: r.ID, Wait: r.Live.Wait}
	line := joined(what, ask)
	switch r.Live.Wait {
	case core.WaitPermission:
		p.Title = who + " asks permission"
	case core.WaitQuestion:
		p.Title, line = who+" asks: "+what, cut(ask, maxAsk)
		if what == "" {
			p.Title = who + " asks"
		}
	case core.WaitDialog:
		p.Title = who + " is stopped by a dialog"
	case core.WaitGate:
		p.Title, line = "Gate: "+ask, what
		if ask == "" {
			p.Title = who + " waits at a gate"
		}
	default:
		p.Title = who + " waits for you"
	}
	p.Title, p.Body = cut(p.Title, maxTitle), wayOn
	if line != "" {
		p.Body = cut(line, maxLine) + "\n" + wayOn
	}
	return p
}

func crowdTitle(n int) string { return strconv.Itoa(n) + " sessions wait for you" }

// called is what the session is called; without a title, where it works. The first prompt is no title.
func called(r *core.Row) string {
	if t := clean(r.TitleText); t != "" {
		return t
	}
	path := strings.TrimRight(r.CWD, `/\`)
	return clean(path[strings.LastIndexAny(path, `/\`)+1:])
}

func agent(s *core.Snapshot, a core.Agent) string {
	for i := range s.Agents {
		if d := clean(s.Agents[i].Display); s.Agents[i].Agent == a && d != "" {
			return d
		}
	}
	if d := clean(string(a)); d != "" {
		return d
	}
	return "An agent"
}

func joined(what, ask string) string {
	if what == "" || ask == "" {
		return what + ask
	}
	return what + ": " + ask
}

// clean makes foreign text one line of valid text without control characters.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r) && r != '\u200d' && r != '\u200c':
			return -1 // the two exceptions join letters and emoji
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// cut shortens s to at most n runes, the last an ellipsis.
func cut(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return strings.TrimRight(string(runes[:n-1]), " ") + "…"
}

// defuse takes out of a text what the way of a Windows popup would run or trip over: the library puts
// it into a CDATA section, and where the runtime is missing that into a PowerShell string in which "$("
// begins a command. What is shown looks the same.
func defuse(s string) string {
	return strings.NewReplacer("$", "\uff04", "`", "\u02cb", "]]>", "]]\u203a").Replace(s)
}
