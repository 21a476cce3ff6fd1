package engine

import (
	"context"
	"fmt"

	"tower/core"
)

// proven is what the agent's own evidence and the process table say together of one moment. Nothing is
// signalled and nothing typed without one, and it is made anew directly before.
type proven struct {
	core.Sighting
	table core.Table
	row   core.Proc // of Sighting.Proc
	info  core.AgentInfo
}

// sight asks an agent's evidence what runs at this moment.
func (e *Engine) sight(ctx context.Context, agent core.Agent) ([]core.Sighting, core.Table, error) {
	a := e.adapters[agent]
	if a == nil {
		return nil, nil, &core.Refusal{What: "Not done.", Why: fmt.Sprintf("This tower does not know the agent %q.", agent)}
	}
	table, err := e.o.Table()
	if err != nil {
		return nil, nil, fmt.Errorf("read process table: %w", err)
	}
	var seen []core.Sighting
	err = guarded(ctx, func(ctx context.Context) (err error) {
		seen, err = a.Evidence(ctx, table)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("look for running sessions of %s: %w", agent, err)
	}
	return seen, table, nil
}

// of returns the sighting of a session, nil when nothing drives it. Of several processes that have it open
// it is the one that faces show.
func of(seen []core.Sighting, su *subject) *core.Sighting {
	var found *core.Sighting
	for i := range seen {
		x := &seen[i]
		if x.Agent == su.Agent && x.Native == su.Native && (found == nil || su.live != nil && x.Proc == su.live.Proc) {
			found = x
		}
	}
	return found
}

// prove finds the process that drives the session and proves it: by the agent's own evidence or, where
// that says nothing, by the run that is open; then by pid, start, boot, state, program and role. The
// first thing that fails is the refusal, whose verdict is what.
func (e *Engine) prove(ctx context.Context, what string, su *subject) (proven, error) {
	seen, table, err := e.sight(ctx, su.Agent)
	if err != nil {
		return proven{}, err
	}
	x := of(seen, su)
	p := proven{table: table, info: e.adapters[su.Agent].Agent()}
	switch {
	case x != nil:
		p.Sighting = *x
	case len(su.runs) == 0:
		return p, &core.Refusal{What: what, Why: "Nothing proves that it runs: " + p.info.Display + "'s own records do not name it, and no process of it is known."}
	default:
		r := su.runs[len(su.runs)-1]
		p.Sighting = core.Sighting{Agent: su.Agent, Native: su.Native, Proc: r.Proc, Shared: r.Shared,
			Signal: []core.Process{r.Proc}, MustGo: []core.Process{r.Proc}}
		if r.Shared {
			p.Signal, p.NoEnd = nil, "Its process serves other sessions too."
		}
		for i := range seen {
			if !r.Shared && seen[i].Proc == r.Proc {
				// The end of this one has not been heard yet, as after a /clear.
				return p, &core.Refusal{What: what, Why: fmt.Sprintf("Process %d drives another session by now.", r.Proc.PID), Hint: untouched}
			}
		}
	}
	p.row, err = identify(what, table, p.Proc, &p.info, p.Shared || x != nil)
	return p, err
}

const untouched = "Nothing was signalled or typed."

// identify proves that a process of the table is the one recorded, lives, and is the agent's own program
// in the role of a session. Unless the agent's own records vouch for the role: a process that many sessions share
// is machinery by nature, and one that waited as a spare keeps its arguments when it becomes a session.
func identify(what string, t core.Table, p core.Process, info *core.AgentInfo, vouched bool) (core.Proc, error) {
	no := func(why, hint string) (core.Proc, error) {
		return core.Proc{}, &core.Refusal{What: what, Why: why, Hint: hint}
	}
	row, there := t.Proc(p.PID)
	switch {
	case p.PID <= 0:
		return no("No process of it is known.", "")
	case p.Boot != t.Boot():
		return no(fmt.Sprintf("Process %d was recorded before the machine was started anew.", p.PID), untouched)
	case !there:
		return no(fmt.Sprintf("Process %d is gone.", p.PID), "")
	case p.Start == 0 || row.Start == 0:
		return no("Its start time cannot be read, so it cannot be proven to be this session.", "End it in its own window.")
	case row.Start != p.Start:
		return no(fmt.Sprintf("Process %d is not the one that was recorded: that one is gone and its number was given to another.", p.PID), untouched)
	case row.Dead():
		return no(fmt.Sprintf("Process %d has ended already; only its entry in the process table is left.", p.PID), "")
	}
	exe, ok := t.Exe(p.PID)
	args, argsOK := t.Args(p.PID)
	switch {
	case !ok && !argsOK:
		return no(fmt.Sprintf("Which program process %d runs cannot be read.", p.PID), untouched)
	case !info.MatchExe(exe, args):
		return no(fmt.Sprintf("Process %d runs %s, which is no program of %s.", p.PID, exe, info.Display), untouched)
	case !vouched && info.IsHelper(args):
		return no(fmt.Sprintf("Process %d is machinery of %s, not a session.", p.PID, info.Display), untouched)
	}
	return row, nil
}
