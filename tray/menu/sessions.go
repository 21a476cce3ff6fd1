package menu

import (
	"strings"
	"unicode/utf8"

	"tower/core"
)

// sessions are the rows of who needs you and who runs, in one section: its pools are empty most of the
// time, and a line above an empty pool cannot be hidden.
func (b *build) sessions(nothing bool) []Item {
	items, stand := b.pool("needs", poolNeeds, b.rows(core.GroupNeedsYou, -1), b.needsYou, jump)
	items = append(items, b.more("needs.more", stand, "more wait · on the dashboard"))
	live, stand := b.pool("live", poolLive, b.rows(core.GroupLive, -1), b.living, jump)
	items = append(items, live...)
	items = append(items, b.more("live.more", stand, "more on the dashboard"))
	empty := ""
	if !nothing && b.s.Counts.Live == 0 {
		empty = "Start an agent in any terminal: it appears within 5 seconds"
	}
	return append(items, b.row("live.none", empty, Action{}))
}

func (b *build) recent() Item {
	items, _ := b.pool("recent", poolRecent, b.rows(core.GroupPast, poolRecent), b.past, func(r *core.Row) Action {
		return Action{Do: DoResume, Session: r.ID}
	})
	return submenu("recent", "Recent", items)
}

func (b *build) more(id string, n int, text string) Item {
	if n == 0 {
		return b.row(id, "", Action{})
	}
	return b.row(id, itoa(n)+" "+text, Action{Do: DoOpen, Path: "/#sessions"})
}

// rows returns the visible sessions of a group in display order, at most limit of them; -1 is all.
func (b *build) rows(g core.Group, limit int) []*core.Row {
	var rows []*core.Row
	for i := range b.s.Rows {
		r := &b.s.Rows[i]
		if len(rows) == limit {
			break
		}
		if r.Group == g && r.Hidden == "" && r.Session != nil && (g == core.GroupPast || r.Live != nil) {
			rows = append(rows, r)
		}
	}
	return rows
}

// pool draws n items for the rows of a group and tells how many rows found none.
func (b *build) pool(name string, n int, rows []*core.Row, text func(*core.Row) string, act func(*core.Row) Action) ([]Item, int) {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = name + "." + itoa(i)
	}
	want := make([]core.SessionID, len(rows))
	by := make(map[core.SessionID]*core.Row, len(rows))
	for i, r := range rows {
		want[i], by[r.ID] = r.ID, r
	}
	seats, later := b.state.seat(ids, want, b.now)
	if !later.IsZero() && (b.later.IsZero() || later.Before(b.later)) {
		b.later = later
	}
	items := make([]Item, n)
	for i, id := range ids {
		line, a := "", Action{}
		who := seats[id]
		if who != "" {
			line, a = text(by[who]), act(by[who])
		}
		items[i] = b.row(id, line, a)
		items[i].Session = who
	}
	return items, len(by) - len(seats)
}

// needsYou says what is asked.
func (b *build) needsYou(r *core.Row) string {
	what := clean(string(r.Live.Wait))
	ask := clean(r.Live.Ask)
	switch {
	case r.Live.Wait == core.WaitQuestion:
		what = "asks"
	case what == "":
		what = "waits"
	}
	if ask != "" {
		what += ": " + isolate(ask)
	}
	return glyph(core.PillWaiting) + " " + title(r) + " · " + what
}

// living says who it is, where it works and how full its context is; of an idle session, how long.
func (b *build) living(r *core.Row) string {
	l := r.Live
	last := contextText(r)
	switch l.Pill {
	case core.PillIdle:
		b.ages = true
		if last = age(l.Since, b.clock); last == "" {
			last = "idle"
		}
	case core.PillStarting:
		last = "starting"
	case core.PillWorking, core.PillShell:
	default:
		if last = cut(clean(l.Raw), 20); last == "" {
			last = "unknown"
		}
	}
	return b.line(glyph(l.Pill)+" "+title(r), b.agent(r.Agent), r, last)
}

// past says how long ago a session was last active.
func (b *build) past(r *core.Row) string {
	at := r.EndedAt
	if at == 0 {
		at = r.LastSeen
	}
	b.ages = true
	parts := []string{title(r), b.agent(r.Agent)}
	if a := age(at, b.clock); a != "" {
		parts = append(parts, a)
	}
	return strings.Join(parts, " · ")
}

// line joins the facts of a row; the project, which alone may be long, takes what room is left.
func (b *build) line(head, agent string, r *core.Row, last string) string {
	const sep = " · "
	place := clean(place(r))
	room := maxRow - utf8.RuneCountInString(head+sep+agent+sep+sep+last)
	if place = cut(place, room); place == "" || place == ellipsis {
		return head + sep + agent + sep + last
	}
	return head + sep + agent + sep + isolate(place) + sep + last
}

// title is what a session is called in the menu. The first prompt is never a title.
func title(r *core.Row) string {
	if t := clean(r.TitleText); t != "" {
		return isolate(cut(t, maxTitle))
	}
	return "Untitled"
}

func place(r *core.Row) string {
	switch {
	case r.Project != "":
		return lastElement(r.Project)
	case r.Folder != "":
		return lastElement(r.Folder)
	}
	return lastElement(r.CWD)
}

// agent is the first word of an agent's name, which tells it from the others: "Claude Code" is Claude.
func (b *build) agent(a core.Agent) string {
	for i := range b.s.Agents {
		if b.s.Agents[i].Agent != a {
			continue
		}
		if words := strings.Fields(clean(b.s.Agents[i].Display)); len(words) > 0 {
			return cut(words[0], 12)
		}
	}
	return cut(capital(clean(string(a))), 12)
}

// contextText is how full a session's context is, never rounded up.
func contextText(r *core.Row) string {
	if r.ContextTokens == nil || r.ContextWindow == nil || *r.ContextWindow <= 0 || *r.ContextTokens < 0 {
		return "no reading"
	}
	text := itoa(int(*r.ContextTokens*100 / *r.ContextWindow)) + " %"
	if r.ContextStale {
		text += " stale"
	}
	return text
}
