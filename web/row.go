package web

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"tower/core"
)

// firstWords is how much of a first message a list shows; the whole stands in the session's detail.
const firstWords = 240

// appendRow writes what a list shows of a session: a part of core.Row under the same names. It is
// written by hand because ten thousand rows are encoded at a time; [sameRow] knows the same fields and
// a test holds the two together.
func appendRow(b []byte, r *core.Row, at int) []byte {
	b = append(b, `{"asm_id":`...)
	b = appendString(b, string(r.ID))
	text := func(name, v string) {
		b = append(b, ',', '"')
		b = append(b, name...)
		b = append(b, '"', ':')
		if v == "" { // not known, or there is none
			b = append(b, "null"...)
			return
		}
		b = appendString(b, v)
	}
	number := func(name string, v *int64) {
		b = append(b, ',', '"')
		b = append(b, name...)
		b = append(b, '"', ':')
		if v == nil {
			b = append(b, "null"...)
			return
		}
		b = strconv.AppendInt(b, *v, 10)
	}
	when := func(name string, v core.Instant) {
		b = append(b, ',', '"')
		b = append(b, name...)
		b = append(b, '"', ':')
		if v == 0 {
			b = append(b, "null"...)
			return
		}
		b = append(b, '"')
		b = v.Time().AppendFormat(b, "2006-01-02T15:04:05.000Z")
		b = append(b, '"')
	}
	flag := func(name string, v bool) {
		b = append(b, ',', '"')
		b = append(b, name...)
		b = append(b, '"', ':')
		b = strconv.AppendBool(b, v)
	}
	text("agent", string(r.Agent))
	text("agent_session_id", r.Native)
	text("title", r.TitleText)
	text("name", r.Name)
	text("first_message", cut(r.FirstMessage, firstWords))
	text("cwd", r.CWD)
	text("project", r.Project)
	text("model", r.Model)
	text("status", string(r.Status))
	text("end_reason", r.EndReason)
	text("group", string(r.Group))
	text("hidden_why", r.Hidden)
	text("busy", r.Busy)
	text("closeout_state", string(r.Closeout))
	when("started_at", r.StartedAt)
	when("last_seen", r.LastSeen)
	when("ended_at", r.EndedAt)
	number("turns", r.Turns)
	number("context_tokens", r.ContextTokens)
	number("context_window", r.ContextWindow)
	flag("context_stale", r.ContextStale)
	b = append(b, `,"tags":[`...)
	for i, t := range r.Tags {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, t)
	}
	b = append(b, `],"live":`...)
	if r.Live == nil {
		b = append(b, "null"...)
	} else if live, err := facts(r.Live); err == nil { // only a few rows are live
		b = append(b, live[:len(live)-1]...) // without the line's end
	} else {
		b = append(b, "null"...)
	}
	if at >= 0 {
		b = append(b, `,"at":`...)
		b = strconv.AppendInt(b, int64(at), 10)
	}
	return append(b, '}')
}

// sameRow tells whether a list would show both rows alike.
func sameRow(a, b *core.Row) bool {
	return a.TitleText == b.TitleText && a.Group == b.Group && a.Hidden == b.Hidden && a.Busy == b.Busy && sameLive(a.Live, b.Live) &&
		(a.Session == b.Session || sameSession(a.Session, b.Session))
}

func sameLive(a, b *core.Live) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	x, y := *a, *b
	x.Said, y.Said = nil, nil
	return x == y && equal(a.Said, b.Said)
}

func sameSession(a, b *core.Session) bool {
	return a.ID == b.ID && a.Agent == b.Agent && a.Native == b.Native && a.Name == b.Name &&
		a.CWD == b.CWD && a.Project == b.Project && a.Model == b.Model && a.Status == b.Status &&
		a.EndReason == b.EndReason && a.Closeout == b.Closeout && a.FirstMessage == b.FirstMessage &&
		a.StartedAt == b.StartedAt && a.LastSeen == b.LastSeen && a.EndedAt == b.EndedAt &&
		a.ContextStale == b.ContextStale && equal(a.Turns, b.Turns) && equal(a.ContextTokens, b.ContextTokens) &&
		equal(a.ContextWindow, b.ContextWindow) && slices.Equal(a.Tags, b.Tags)
}

func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a == b || *a == *b
}

// cut shortens to n runes; a shortened text ends in an ellipsis.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// appendString writes a JSON string. Nearly all are plain; what is not goes through encoding/json.
func appendString(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c == 0x7f || c >= utf8.RuneSelf {
			if c >= utf8.RuneSelf && utf8.ValidString(s) && plain(s) {
				break
			}
			q, _ := json.Marshal(s) // a string always encodes
			return append(b, q...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// plain tells whether valid UTF-8 may stand in a JSON string as it is.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < 0x20, c == '"', c == '\\', c == 0x7f:
			return false
		case c == 0xe2 && i+2 < len(s) && s[i+1] == 0x80 && s[i+2]&^1 == 0xa8: // U+2028 and U+2029
			return false
		}
	}
	return true
}
