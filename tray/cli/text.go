package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"tower/core"
)

// state is the word for what a session is doing, with its glyph.
func state(r core.Row, running bool) string {
	if r.Live != nil {
		switch r.Live.Pill {
		case core.PillWorking:
			return "► working"
		case core.PillWaiting:
			if r.Live.Wait == "" {
				return "◆ waits"
			}
			return "◆ waits: " + string(r.Live.Wait)
		case core.PillIdle:
			return "○ idle"
		case core.PillShell:
			return "$ shell"
		case core.PillStarting:
			return "◌ starting"
		}
		if r.Live.Raw == "" {
			return "– unknown"
		}
		return "– " + clean(r.Live.Raw, 20)
	}
	switch {
	case !r.Status.Over() && !running:
		return "– unknown"
	case r.EndReason == core.ReasonLaunchFailed:
		return "✕ failed"
	}
	return "□ ended"
}

// titleOf is what a row is called: its title, else its first message in quotes.
func titleOf(r core.Row, limit int) string {
	if r.TitleText != "" {
		return clean(r.TitleText, limit)
	}
	if r.FirstMessage != "" {
		return "“" + clean(r.FirstMessage, limit-2) + "”"
	}
	return "-"
}

// clean makes foreign text safe for one cell of a terminal: no control characters, one line, cut.
func clean(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "�"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) && r != '\u200d' {
			return -1 // direction marks could turn the line around
		}
		return r
	}, s)
	if r := []rune(s); len(r) > limit {
		return string(r[:max(limit-1, 0)]) + "…"
	}
	return s
}

func base(path string) string {
	path = strings.TrimRight(path, `/\`)
	if i := strings.LastIndexAny(path, `/\`); i >= 0 && i+1 < len(path) {
		path = path[i+1:]
	}
	if path == "" {
		return "-"
	}
	return clean(path, 24)
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func (e *Env) age(i core.Instant) string {
	if i == 0 {
		return "-"
	}
	d := time.Since(i.Time())
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return i.Time().In(e.zone).Format(time.DateOnly)
}

// shown is how many characters of an id a list shows.
const shown = 13

func short(id string) string { return id[:min(len(id), shown)] }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// ended says in words how a session ended.
func ended(s *core.Session) string {
	switch {
	case s.Status == core.StatusKilled:
		return "ended by you"
	case s.Status == core.StatusLost:
		return "its process went away untold"
	case s.Status != core.StatusEnded:
		return ""
	case s.EndReason == "":
		return "how it ended is not known"
	}
	return strings.ReplaceAll(s.EndReason, "_", " ")
}

// clock writes an instant for a person, in the zone of the views: today by clock, else with its day.
func (e *Env) clock(i core.Instant) string {
	if i == 0 {
		return "-"
	}
	t, now := i.Time().In(e.zone), time.Now().In(e.zone)
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}

// hooksWord says how an agent's hooks stand.
func hooksWord(s core.HookState) string {
	if s == core.HooksNeedTrust {
		return "hooks need trust"
	}
	return "hooks " + string(s)
}

// some counts things in words: 1 argument, 2 arguments.
func some(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
