// Package alert decides which popups a person gets, and shows them. It promises one popup a cause: a
// session that starts waiting says so once, however often the picture is drawn again, and a crowd of
// them says so together. What waited before Tower started, what is hidden and what merely idles says
// nothing. The deciding half, [Next], is pure; the showing half, [Popups], never holds up its caller,
// has at most one popup in the desktop's hands at a time, and gives up on a desktop that does not
// answer. Whoever wires the program runs one Popups. It never makes a sound, never writes to standard
// output, and never starts a session bus of its own.
package alert

import (
	"maps"
	"slices"
	"time"

	"tower/core"
)

// A crowd is so many causes within so long; they become one popup.
const (
	crowd       = 6
	crowdWithin = 10 * time.Second
)

// again is how much later than the last a wait with the same words has to have begun to be another.
const again = 2 * core.Instant(1000)

// manyKey is the key of the popup of a crowd.
const manyKey = "many"

// Kind says what is to be done with a popup.
type Kind string

// The kinds. A desktop that cannot change a popup in place only needs the first.
const (
	New       Kind = "new"       // show it; one of the same key that still stands is replaced
	Updated   Kind = "updated"   // the same cause in better words: replace it, and do not call again
	Withdrawn Kind = "withdrawn" // the cause has ended: take it away
)

// Popup is one thing to tell a person.
type Popup struct {
	Kind    Kind
	Key     string // one a cause
	Session core.SessionID
	Wait    core.Wait
	Title   string // at most 48 runes
	Body    string // at most two lines, plain text
}

// State is what one decision hands to the next. The zero State is that of a program that just started.
// A State is never changed; Next returns a new one.
type State struct {
	start  time.Time // of the program
	seen   bool      // a snapshot was seen
	waits  map[core.SessionID]waiting
	recent []time.Time // of the last causes
	many   bool        // the popup of a crowd stands
}

// waiting is one session that waits.
type waiting struct {
	wait  core.Wait
	ask   string
	since core.Instant
	popup Popup     // as last told
	at    time.Time // when it was told
	alone bool      // it has a popup of its own
	crowd bool      // it is told of in the popup of a crowd
}

// Next decides what a snapshot gives to tell, in the order in which it is to be shown. now is the
// present. A nil snapshot tells nothing, but the program counts as started from then on.
func Next(prev State, s *core.Snapshot, now time.Time) (State, []Popup) {
	n := prev
	if n.start.IsZero() {
		n.start = now
	}
	if s == nil || s.AsOf != 0 {
		return n, nil
	}
	n.seen = true
	n.waits = map[core.SessionID]waiting{}
	var fresh []core.SessionID
	var popups []Popup
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Hidden != "" || r.Group != core.GroupNeedsYou || r.Live == nil || r.Session == nil {
			continue
		}
		w := waiting{wait: r.Live.Wait, ask: r.Live.Ask, since: r.Live.Since, popup: words(s, r)}
		old, was := prev.waits[r.ID]
		switch {
		case !was && before(w.since, n.start, !prev.seen):
		case !was || another(old, w):
			fresh = append(fresh, r.ID)
		default:
			w.at, w.alone, w.crowd = old.at, old.alone, old.crowd
			if w.alone && w.popup != old.popup {
				popups = append(popups, kind(Updated, w.popup))
			}
		}
		n.waits[r.ID] = w
	}
	popups = append(n.withdraw(prev), popups...)
	return n, append(popups, n.tell(fresh, now)...)
}

// before tells whether a wait began before the program. Of one without a time it is believed when it
// stands in the first picture.
func before(since core.Instant, start time.Time, first bool) bool {
	if since == 0 {
		return first
	}
	return since < core.InstantOf(start)
}

// another tells whether a session that waited waits for something else now. Words that only arrived
// later, or another word for the same, are no new cause.
func another(old, now waiting) bool {
	if old.since != 0 && now.since != 0 && now.since-old.since >= again {
		return true
	}
	return old.ask != now.ask && old.ask != "" && now.ask != ""
}

// withdraw takes away what prev told and what no longer holds.
func (n *State) withdraw(prev State) []Popup {
	var gone []Popup
	ids := slices.Sorted(maps.Keys(prev.waits))
	for _, id := range ids {
		if _, ok := n.waits[id]; !ok && prev.waits[id].alone {
			gone = append(gone, kind(Withdrawn, prev.waits[id].popup))
		}
	}
	for _, w := range n.waits {
		if w.crowd {
			return gone
		}
	}
	if n.many {
		n.many = false
		gone = append(gone, Popup{Kind: Withdrawn, Key: manyKey})
	}
	return gone
}

// tell turns new causes into popups: one each, or one for all when they come in a crowd. Those of the
// crowd that have popups already lose them.
func (n *State) tell(fresh []core.SessionID, now time.Time) (popups []Popup) {
	var recent []time.Time
	for _, t := range n.recent {
		if now.Sub(t) < crowdWithin && !t.After(now) {
			recent = append(recent, t)
		}
	}
	already := len(recent) >= crowd
	for range fresh {
		recent = append(recent, now)
	}
	n.recent = recent
	if len(fresh) == 0 {
		return nil
	}
	if len(recent) < crowd {
		for _, id := range fresh {
			w := n.waits[id]
			w.at, w.alone = now, true
			n.waits[id] = w
			popups = append(popups, kind(New, w.popup))
		}
		return popups
	}
	for _, id := range slices.Sorted(maps.Keys(n.waits)) {
		w := n.waits[id]
		if w.alone && now.Sub(w.at) < crowdWithin {
			popups = append(popups, kind(Withdrawn, w.popup))
			w.alone, w.crowd = false, true
			n.waits[id] = w
		}
	}
	for _, id := range fresh {
		w := n.waits[id]
		w.at, w.crowd = now, true
		n.waits[id] = w
	}
	k := New
	if already && n.many {
		k = Updated
	}
	n.many = true
	return append(popups, Popup{Kind: k, Key: manyKey, Title: crowdTitle(len(n.waits)), Body: wayOn})
}

func kind(k Kind, p Popup) Popup {
	p.Kind = k
	return p
}
