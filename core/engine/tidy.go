package engine

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tower/core"
)

// What hooks, records and transcripts tell was written by programs that may be wrong, broken or
// hostile, and what is believed here is kept for good: an instant in the year 9999 would head every
// list for ever, and a name of a megabyte would go to every face with every picture. So all of it
// passes here once, on its way to the reducer.

// Bounds of what is kept of a foreign word, in bytes. No system opens a longer path.
const (
	maxNative = 256
	maxPath   = 4096
	maxWord   = 200
	maxLine   = 1000
	maxText   = 4000
)

const (
	// aheadOfUs is how far the clock of another program may be before ours.
	aheadOfUs = 24 * time.Hour / time.Millisecond
	// longAgo is before any of these agents, the year 1990.
	longAgo core.Instant = 631_152_000_000
)

// credible returns the instant, or unknown when nobody can have seen it by now.
func credible(i, now core.Instant) core.Instant {
	if i < longAgo || i > now+core.Instant(aheadOfUs) {
		return 0
	}
	return i
}

// tidyEvent bounds what an event tells. What happened at no credible time happened when it was heard of.
func tidyEvent(ev *core.Event, now core.Instant) error {
	if len(ev.Native) > maxNative {
		return fmt.Errorf("its session id has %d bytes, more than %d", len(ev.Native), maxNative)
	}
	if ev.Kind != core.EventFacts {
		if ev.At = credible(ev.At, now); ev.At == 0 {
			ev.At = now
		}
	}
	for _, s := range []*string{&ev.Name, &ev.Source, &ev.Reason, &ev.Model, &ev.Entrypoint, &ev.LaunchToken} {
		*s = line(*s, maxWord)
	}
	ev.Title, ev.Ask = line(ev.Title, maxLine), line(ev.Ask, maxLine)
	ev.Prompt = cut(ev.Prompt, maxText)
	ev.CWD, ev.Transcript = path(ev.CWD), path(ev.Transcript)
	if x := ev.Sighting; x != nil {
		x.At = credible(x.At, now)
		for _, s := range []*string{&x.Raw, &x.Entrypoint, &x.Model, &x.Version} {
			*s = line(*s, maxWord)
		}
		x.Title, x.Name, x.Reason = line(x.Title, maxLine), line(x.Name, maxLine), line(x.Reason, maxLine)
		x.CWD, x.Transcript = path(x.CWD), path(x.Transcript)
	}
	return nil
}

// tidyDelta bounds what a transcript tells. Its file was written at mtime, which is as good a clock as
// ours: one that was wound back must not take the days from all that is imported meanwhile.
func tidyDelta(d *core.Delta, mtime int64, now core.Instant) error {
	f := &d.Facts
	if len(f.Native) > maxNative {
		return fmt.Errorf("its session id has %d bytes, more than %d", len(f.Native), maxNative)
	}
	now = max(now, core.Instant(mtime/int64(time.Millisecond)))
	for _, i := range []*core.Instant{&f.FirstAt, &f.LastAt, &f.Opened} {
		*i = credible(*i, now)
	}
	for i := range d.Turns {
		d.Turns[i].At = credible(d.Turns[i].At, now)
	}
	for _, s := range []*string{&f.Version, &f.Entrypoint, &f.Thread, &f.Model} {
		*s = line(*s, maxWord)
	}
	f.Name, f.AgentTitle = line(f.Name, maxLine), line(f.AgentTitle, maxLine)
	f.First, f.Summary = cut(f.First, maxText), cut(f.Summary, maxText)
	f.CWD = path(f.CWD)
	return nil
}

func path(s string) string {
	if len(s) > maxPath {
		return ""
	}
	return s
}

// line puts a text on one line without control characters, and bounds it.
func line(s string, limit int) string {
	return cut(strings.Map(func(r rune) rune {
		switch {
		case !unicode.IsControl(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, s), limit)
}

// cut bounds a text, between two characters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
