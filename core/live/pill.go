package live

import "tower/core"

// settling is how long an agent's own record may lag behind its hook, in milliseconds: the hook of a
// question fires before the record says waiting.
const settling = 2_000

// waiting is what hooks told of a question that has not been answered yet.
type waiting struct {
	wait core.Wait
	ask  string
	at   core.Instant
	mark int64 // the agent's own progress when the question was first seen by the poll
}

// paint decides what the session is doing after the event.
func (p *Picture) paint(e *entry, ev *core.Event, was core.Status) {
	switch e.s.Status {
	case core.StatusLive, core.StatusStarting:
	default:
		e.live, e.hook = nil, waiting{}
		return
	}
	l := core.Live{Pill: core.PillIdle, Since: ev.At}
	if e.live != nil {
		l = *e.live
	}
	if e.s.Status == core.StatusStarting {
		l.Pill = core.PillStarting
	} else if was == core.StatusStarting {
		l.Pill, l.Since = core.PillIdle, ev.At
	}
	if len(e.open) > 0 {
		r := e.open[len(e.open)-1]
		if l.Proc != r.Proc {
			l = core.Live{Pill: l.Pill, Raw: l.Raw, Wait: l.Wait, Ask: l.Ask, Since: l.Since, Proc: r.Proc, Shared: r.Shared, Said: l.Said}
		}
	} else {
		l.Proc, l.Proven = core.Process{}, false
	}
	switch ev.Kind {
	case core.EventStart:
		if ev.Source != "compact" {
			e.hook = waiting{}
			turn(&l, core.PillIdle, ev.At)
		}
	case core.EventPrompt:
		e.hook = waiting{}
		turn(&l, core.PillWorking, ev.At)
		l.Said = nil
	case core.EventStop:
		e.hook = waiting{}
		turn(&l, core.PillIdle, ev.At)
		l.Said = ev.Said
	case core.EventWait:
		e.hook = waiting{wait: ev.Wait, ask: ev.Ask, at: ev.At}
		turn(&l, core.PillWaiting, ev.At)
		l.Wait, l.Ask = ev.Wait, ev.Ask
	case core.EventResolve:
		if e.hook.wait != "" || l.Pill == core.PillWaiting {
			e.hook = waiting{}
			turn(&l, core.PillWorking, ev.At)
		}
	case core.EventFacts:
		if ev.Said != nil && l.Pill == core.PillIdle {
			l.Said = ev.Said
		}
	case core.EventSeen:
		e.look(&l, ev)
	}
	e.live = &l
}

// look takes over what evidence says.
func (e *entry) look(l *core.Live, ev *core.Event) {
	x := ev.Sighting
	l.Proven = true
	l.Grade, l.Shared, l.Caution, l.TTY = x.Grade, x.Shared, x.Caution, x.TTY
	l.NoEnd = x.NoEnd
	since := x.At
	if since == 0 {
		since = ev.At
	}
	switch {
	case x.Pill == "":
	case x.Pill == core.PillWaiting:
		e.confirm(l, x, since)
	case e.hook.wait == "":
		turn(l, x.Pill, since)
	case x.Final:
		if x.At != 0 && x.At < e.hook.at && ev.At-e.hook.at < settling {
			break // the record is older than the question
		}
		e.hook = waiting{}
		turn(l, x.Pill, since)
	case x.Pill != core.PillWorking:
		e.hook = waiting{}
		turn(l, x.Pill, since)
	case e.hook.mark == 0:
		e.hook.mark = x.Mark
	case x.Mark > e.hook.mark:
		e.hook = waiting{}
		turn(l, core.PillWorking, since)
	}
	l.Raw = ""
	if l.Pill == core.PillOther {
		l.Raw = x.Raw
	}
}

// confirm takes over a waiting told by evidence. A hook that told more of the same question is kept.
func (e *entry) confirm(l *core.Live, x *core.Sighting, since core.Instant) {
	wait, ask := x.Wait, x.Reason
	if e.hook.wait != "" && (x.Wait == "" || x.Wait == core.WaitPermission) {
		wait, ask = e.hook.wait, e.hook.ask
		if l.Pill == core.PillWaiting {
			since = l.Since
		}
	}
	turn(l, core.PillWaiting, since)
	l.Wait, l.Ask = wait, ask
}

// turn changes the pill; staying the same keeps since when.
func turn(l *core.Live, to core.Pill, at core.Instant) {
	if l.Pill != to {
		l.Pill, l.Since = to, at
	}
	if to != core.PillWaiting {
		l.Wait, l.Ask = "", ""
	}
}
