package menu

import (
	"strings"

	"tower/core"
)

// jump is what a click on a session's row asks for.
func jump(r *core.Row) Action { return Action{Do: DoJump, Session: r.ID} }

// ends is the submenu that ends sessions, apart from the rows that jump, so that no hand that wants to
// look at a session ends it. One that cannot be ended stands there with the reason.
func (b *build) ends() Item {
	rows := append(b.rows(core.GroupNeedsYou, -1), b.rows(core.GroupLive, -1)...)
	items, stand := b.pool("end", poolEnd, rows, b.ending, func(r *core.Row) Action {
		if r.Live.NoEnd != "" || r.Busy != "" {
			return Action{}
		}
		return Action{Do: DoEnd, Session: r.ID}
	})
	return submenu("end", "End", append(items, b.more("end.more", stand, "more on the dashboard")))
}

// ending says who would be ended, and of one that cannot be, why.
func (b *build) ending(r *core.Row) string {
	last := b.agent(r.Agent)
	switch {
	case r.Busy != "":
		last = clean(r.Busy) + ellipsis
	case r.Live.NoEnd != "":
		last = clean(r.Live.NoEnd)
	}
	return title(r) + " · " + isolate(last)
}

// launch is the submenu that starts a session: the agents, each with the folders it worked in last.
func (b *build) launch() Item {
	items := make([]Item, 0, poolAgents)
	for i := range poolAgents {
		id := "launch." + itoa(i)
		if i < len(b.s.Agents) && b.s.Agents[i].Installed {
			items = append(items, b.places(id, &b.s.Agents[i]))
		} else {
			items = append(items, b.places(id, nil))
		}
	}
	return submenu("launch", "Launch", items)
}

// places are the folders of one agent. A folder keeps its item as a session does.
func (b *build) places(id string, a *core.AgentState) Item {
	var folders []string
	text := ""
	if a != nil {
		text = clean(a.Display)
		folders = a.Folders[:min(len(a.Folders), poolPlaces)]
	}
	ids := make([]string, poolPlaces)
	for i := range ids {
		ids[i] = id + "." + itoa(i)
	}
	want := make([]core.SessionID, len(folders))
	for i, f := range folders {
		want[i] = core.SessionID(f)
	}
	seats, later := b.state.seat(ids, want, b.now)
	if !later.IsZero() && (b.later.IsZero() || later.Before(b.later)) {
		b.later = later
	}
	var items []Item
	for _, id := range ids {
		folder := string(seats[id])
		line, act := "", Action{}
		if folder != "" {
			line, act = isolate(clean(shortPath(folder))), Action{Do: DoLaunch, Agent: a.Agent, Folder: folder}
		}
		items = append(items, b.row(id, line, act))
	}
	other := ""
	if a != nil {
		other = "Other folder…"
	}
	items = append(items, b.row(id+".other", other, Action{Do: DoOpen, Path: "/#launch"}))
	it := submenu(id, text, items)
	it.Shown = text != ""
	it.Text = b.row(id, text, Action{}).Text
	return it
}

// shortPath keeps the end of a path, which tells folders apart, when it is too long for a row.
func shortPath(path string) string {
	r := []rune(path)
	if len(r) <= maxRow-4 {
		return path
	}
	tail := string(r[len(r)-(maxRow-5):])
	if _, after, ok := strings.Cut(tail, "/"); ok && after != "" {
		tail = "/" + after
	}
	return ellipsis + tail
}

// submenu is an item that opens others; without any to press it cannot be opened.
func submenu(id, text string, items []Item) Item {
	top := Item{ID: id, Text: text, Shown: true, Items: items}
	for _, it := range items {
		top.Enabled = top.Enabled || it.Shown
	}
	return top
}
