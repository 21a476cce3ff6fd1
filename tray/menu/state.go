package menu

import (
	"maps"
	"time"

	"tower/core"
)

// State is what one build hands to the next: who sits where, and when it moved. The zero State is that
// of a menu never built. A State is never changed; Build returns a new one.
type State struct {
	built bool
	clock time.Time // the time ages are counted to
	items map[string]memory
}

// memory is what is remembered of one item.
type memory struct {
	session core.SessionID
	shown   bool
	moved   time.Time // last shown, hidden or pushed
	freed   time.Time // last hidden
}

// next begins the State of a build at a time.
func (s State) next(now time.Time) State {
	n := State{built: true, clock: s.clock, items: maps.Clone(s.items)}
	if n.items == nil {
		n.items = map[string]memory{}
	}
	if !s.built || now.Sub(s.clock) >= ageStep || now.Before(s.clock) {
		n.clock = now
	}
	return n
}

// seat gives every wanted session an item of the pool and tells in which; sessions that find none are
// not in the result. Who has a seat keeps it, who is no longer wanted leaves it, who is new takes the
// first that is free. later is when a seat that is still quiet can be taken by somebody who stands;
// zero if nobody does.
func (s State) seat(ids []string, want []core.SessionID, now time.Time) (seats map[string]core.SessionID, later time.Time) {
	wanted := make(map[core.SessionID]bool, len(want))
	for _, w := range want {
		wanted[w] = true
	}
	seats = map[string]core.SessionID{}
	seated := map[core.SessionID]bool{}
	for _, id := range ids {
		m := s.items[id]
		if m.session == "" {
			continue
		}
		if wanted[m.session] && !seated[m.session] {
			seats[id], seated[m.session] = m.session, true
			continue
		}
		m.session, m.freed = "", now
		s.items[id] = m
	}
	for _, w := range want {
		if seated[w] {
			continue
		}
		id, free := s.free(ids, now)
		if id == "" { // no seat for this one, so none for those behind
			return seats, free
		}
		m := s.items[id]
		m.session = w
		s.items[id] = m
		seats[id], seated[w] = w, true
	}
	return seats, time.Time{}
}

// free finds the first item nobody has, or "" and when the next one can be taken; zero if all have
// somebody.
func (s State) free(ids []string, now time.Time) (id string, later time.Time) {
	for _, id := range ids {
		m := s.items[id]
		if m.session != "" {
			continue
		}
		free := m.freed.Add(Quiet)
		if m.freed.IsZero() || !now.Before(free) {
			return id, time.Time{}
		}
		if later.IsZero() || free.Before(later) {
			later = free
		}
	}
	return "", later
}

// settle notes which items of one level moved since the last build, in the order they are drawn, and
// writes into each until when it ignores clicks. An item below one that came or went was pushed.
func (s State) settle(first bool, now time.Time, level []*Item) {
	pushed := false
	for _, it := range level {
		m := s.items[it.ID]
		if !first {
			if m.shown != it.Shown {
				pushed = true
			}
			if pushed {
				m.moved = now
			}
		}
		m.shown = it.Shown
		s.items[it.ID] = m
		if !m.moved.IsZero() {
			it.quiet = m.moved.Add(Quiet)
		}
	}
}
