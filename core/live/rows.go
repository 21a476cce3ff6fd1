package live

import (
	"cmp"
	"slices"

	"tower/core"
)

// Rows returns every session as faces show it, in display order: who needs a person, longest waiting
// first; what runs, latest started first; what was, latest activity first. Nothing in the order moves
// while the set of living sessions stays.
func (p *Picture) Rows() ([]core.Row, core.Counts, map[core.Agent]core.Counts) {
	rows := make([]core.Row, 0, len(p.entries))
	var all core.Counts
	per := map[core.Agent]core.Counts{}
	for _, e := range p.entries {
		r := core.Row{Session: e.s, TitleText: e.s.Title(), Hidden: e.s.HiddenWhy(), Group: core.GroupPast, Live: e.live}
		if e.live != nil {
			r.Group = core.GroupLive
			if e.live.Pill == core.PillWaiting {
				r.Group = core.GroupNeedsYou
			}
		}
		rows = append(rows, r)
		c := per[e.s.Agent]
		count(&c, &r)
		per[e.s.Agent] = c
		count(&all, &r)
	}
	slices.SortFunc(rows, compare)
	return rows, all, per
}

func count(c *core.Counts, r *core.Row) {
	c.All++
	if r.Hidden != "" {
		c.Hidden++
		return
	}
	c.Visible++
	if r.Live == nil {
		return
	}
	c.Live++
	switch r.Live.Pill {
	case core.PillWaiting:
		c.Waiting++
	case core.PillWorking:
		c.Working++
	case core.PillIdle:
		c.Idle++
	case core.PillShell:
		c.Shell++
	case core.PillStarting:
		c.Starting++
	default:
		c.Other++
	}
}

var groupOrder = map[core.Group]int{core.GroupNeedsYou: 0, core.GroupLive: 1, core.GroupPast: 2}

func compare(a, b core.Row) int {
	if a.Group != b.Group {
		return cmp.Compare(groupOrder[a.Group], groupOrder[b.Group])
	}
	var c int
	switch a.Group {
	case core.GroupNeedsYou:
		c = cmp.Compare(a.Live.Since, b.Live.Since)
	case core.GroupLive:
		c = cmp.Compare(b.StartedAt, a.StartedAt)
	default:
		c = cmp.Compare(b.LastSeen, a.LastSeen)
	}
	if c == 0 {
		c = cmp.Compare(a.ID, b.ID)
	}
	return c
}

// Heat sums the turns of all visible sessions per day and agent.
func (p *Picture) Heat() map[core.Agent]map[int32]int32 {
	sum := map[core.Agent]map[int32]int32{}
	for _, e := range p.entries {
		if len(e.days) == 0 || e.s.HiddenWhy() != "" {
			continue
		}
		m := sum[e.s.Agent]
		if m == nil {
			m = map[int32]int32{}
			sum[e.s.Agent] = m
		}
		for _, d := range e.days {
			m[d.Day] += d.Turns
		}
	}
	return sum
}

// Chain returns the sessions a session hangs together with, among the rows of a Snapshot.
func Chain(rows []core.Row, id core.SessionID) []core.Link {
	of := map[core.SessionID]*core.Session{}
	for i := range rows {
		of[rows[i].ID] = rows[i].Session
	}
	links := []core.Link{}
	to := func(how string, s *core.Session) {
		if s != nil {
			links = append(links, core.Link{How: how, ID: s.ID, Title: s.Title()})
		}
	}
	me := of[id]
	if me == nil {
		return links
	}
	to("follows", of[me.Follows])
	to("forked from", of[me.ForkedFrom])
	to("continues", of[me.Continues])
	to("opened by", of[me.Parent])
	for i := range rows {
		s := rows[i].Session
		for _, back := range []struct {
			how string
			to  core.SessionID
		}{{"followed by", s.Follows}, {"forked to", s.ForkedFrom}, {"continued by", s.Continues}, {"opened", s.Parent}} {
			if back.to == id {
				to(back.how, s)
			}
		}
	}
	slices.SortStableFunc(links, func(a, b core.Link) int { return cmp.Or(cmp.Compare(a.How, b.How), cmp.Compare(a.ID, b.ID)) })
	return links
}
