package cli

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"tower/core"
)

// idLeast is how many characters of an id one has to give.
const idLeast = 4

// find returns the one session a person means: by the agent's id or Tower's, whole or the first
// characters of it, or by its exact title. Several fits are refused, with their ids.
// Of several, one is meant when it alone is what the action is for: prefer tells, and may be nil.
func find(rows []core.Row, what string, prefer func(core.Row) bool) (core.Row, error) {
	// An id copied from elsewhere may come in capitals, in braces or as a URN.
	if u, err := uuid.Parse(what); err == nil {
		what = u.String()
	}
	var exact, prefix []core.Row
	for _, r := range rows {
		switch {
		case string(r.ID) == what || r.Native == what:
			return r, nil
		case r.TitleText != "" && r.TitleText == what:
			exact = append(exact, r)
		case len(what) >= idLeast && (strings.HasPrefix(string(r.ID), what) || strings.HasPrefix(r.Native, what)):
			prefix = append(prefix, r)
		}
	}
	if len(exact) == 0 {
		exact = prefix
	}
	switch len(exact) {
	case 0:
		why := fmt.Sprintf("No session is called %q or has an id that begins so.", what)
		if len(what) < idLeast {
			why = fmt.Sprintf("No session is called %q, and of an id %d characters are needed at least.", what, idLeast)
		}
		return core.Row{}, &core.Refusal{What: "Not found.", Why: why, Hint: "List them with: tower sessions --all"}
	case 1:
		return exact[0], nil
	}
	if r, ok := only(exact, prefer); ok {
		return r, nil
	}
	return core.Row{}, &core.Refusal{What: "Not clear.", Why: fmt.Sprintf("%d sessions fit %q: %s.", len(exact), what, several(exact)), Hint: "Use more of the id."}
}

// only returns the one row that is preferred.
func only(rows []core.Row, prefer func(core.Row) bool) (row core.Row, ok bool) {
	if prefer == nil {
		return row, false
	}
	n := 0
	for _, r := range rows {
		if prefer(r) {
			row = r
			n++
		}
	}
	return row, n == 1
}

// living and finished are what an action on a session may be for.
func living(r core.Row) bool   { return r.Live != nil }
func finished(r core.Row) bool { return r.Status.Over() }

// several names sessions by what the lists show, with as much of each id as tells them apart.
func several(rows []core.Row) string {
	const most = 5
	n := shown
	for i, r := range rows {
		for _, o := range rows[:i] {
			for n < len(r.Native) && n < len(o.Native) && r.Native[:n] == o.Native[:n] {
				n++
			}
		}
	}
	var out []string
	for _, r := range rows[:min(len(rows), most)] {
		s := clean(r.Native[:min(n, len(r.Native))], n)
		if r.TitleText != "" {
			s += fmt.Sprintf(" %q", clean(r.TitleText, 40))
		}
		out = append(out, s+" "+state(r, true))
	}
	if len(rows) > most {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}
