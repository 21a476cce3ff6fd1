package web

import (
	"slices"
	"strings"
	"sync"

	"tower/core"
)

// index remembers, for the picture told last, at which revision each row last changed, so that a page
// that knows revision R is told only what it does not know:
//
//	revision      7        8        9
//	row a         told     .        changed     since=7 -> b, a     since=8 -> a
//	row b         told     changed  .
//	row c         told     .        gone        since=7 -> gone c
//
// A page inserts each changed row where the answer says it now stands. That is exact as long as the
// unchanged rows kept their order among themselves; where they did not, or where the index began after
// R, the page is told to start over.
type index struct {
	mu      sync.Mutex
	snap    *core.Snapshot
	changed []int64 // parallel to snap.Rows
	where   map[core.SessionID]int
	gone    []departed
	base    int64 // changes up to here are not known
	answers map[string]*packed
	size    int
}

type departed struct {
	id core.SessionID
	at int64
}

const (
	maxGone    = 4096
	maxAnswers = 8 << 20 // bytes kept to be given again at the same revision
)

func newIndex() *index { return &index{where: map[core.SessionID]int{}, answers: map[string]*packed{}} }

// take makes snap the current picture. An older one is ignored: two requests may race.
func (x *index) take(snap *core.Snapshot) {
	if x.snap == snap || x.snap != nil && snap.Revision < x.snap.Revision {
		return
	}
	clear(x.answers)
	x.size = 0
	if x.snap == nil {
		x.base = snap.Revision
	}
	old, rows := x.snap, snap.Rows
	changed := make([]int64, len(rows))
	stayed := make([]int, 0, len(rows)) // old places of unchanged rows, in their new order
	sameIDs := old != nil && len(old.Rows) == len(rows)
	for i := range rows {
		changed[i] = snap.Revision
		if old == nil {
			continue
		}
		j := i
		if i >= len(old.Rows) || old.Rows[i].ID != rows[i].ID {
			sameIDs = false
			var known bool
			if j, known = x.where[rows[i].ID]; !known {
				continue
			}
		}
		if sameRow(&old.Rows[j], &rows[i]) {
			changed[i] = x.changed[j]
			stayed = append(stayed, j)
		}
	}
	if !sameIDs {
		x.moved(old, rows, snap.Revision, stayed)
	}
	x.snap, x.changed = snap, changed
}

// moved renews the places, finds who left, and starts over when unchanged rows changed their order.
func (x *index) moved(old *core.Snapshot, rows []core.Row, revision int64, stayed []int) {
	where := make(map[core.SessionID]int, len(rows))
	for i := range rows {
		where[rows[i].ID] = i
	}
	if old != nil {
		for i := range old.Rows {
			if _, here := where[old.Rows[i].ID]; !here {
				x.gone = append(x.gone, departed{old.Rows[i].ID, revision})
			}
		}
		if !slices.IsSorted(stayed) {
			x.base, x.gone = revision, nil
		}
	}
	if extra := len(x.gone) - maxGone; extra > 0 {
		x.base = max(x.base, x.gone[extra-1].at)
		x.gone = slices.Delete(x.gone, 0, extra)
	}
	x.where = where
}

// filter is what a list may be narrowed to.
type filter struct {
	agent   core.Agent
	status  string // a core.Status, or "over" for all three kinds of end
	project string
	all     bool
}

func (f *filter) takes(r *core.Row) bool {
	switch {
	case !f.all && r.Hidden != "",
		f.agent != "" && r.Agent != f.agent,
		f.project != "" && !strings.EqualFold(r.Project, f.project):
		return false
	case f.status == "":
		return true
	case f.status == "over":
		return r.Status.Over()
	}
	return string(r.Status) == f.status
}

// since returns the rows that changed after revision, with their places in the filtered list, and the
// ids that are no longer in it. It is false when that cannot be told.
func (x *index) since(revision int64, f *filter) (rows []place, gone []core.SessionID, total int, ok bool) {
	if revision < x.base || revision > x.snap.Revision {
		return nil, nil, 0, false
	}
	for i := range x.snap.Rows {
		r := &x.snap.Rows[i]
		takes := f.takes(r)
		if x.changed[i] > revision {
			if takes {
				rows = append(rows, place{r, total})
			} else {
				gone = append(gone, r.ID)
			}
		}
		if takes {
			total++
		}
	}
	for _, d := range x.gone {
		if _, back := x.where[d.id]; d.at > revision && !back {
			gone = append(gone, d.id)
		}
	}
	return rows, gone, total, true
}

// place is a row and its place in the filtered list.
type place struct {
	row *core.Row
	at  int
}

// page returns up to limit rows behind the row named after. It is false when that row is not there.
func (x *index) page(after core.SessionID, limit int, f *filter) (rows []*core.Row, total int, more, ok bool) {
	start := 0
	if after != "" {
		i, known := x.where[after]
		if !known {
			return nil, 0, false, false
		}
		start = i + 1
	}
	for i := range x.snap.Rows {
		r := &x.snap.Rows[i]
		if !f.takes(r) {
			continue
		}
		total++
		if i < start {
			continue
		}
		if len(rows) == limit {
			more = true
			continue
		}
		rows = append(rows, r)
	}
	return rows, total, more, true
}

// keep remembers an answer for the current revision, within bounds.
func (x *index) keep(asked string, p *packed) {
	n := len(p.raw) + len(p.gz)
	if x.size+n > maxAnswers {
		clear(x.answers)
		x.size = 0
	}
	if n <= maxAnswers {
		x.answers[asked] = p
		x.size += n
	}
}
