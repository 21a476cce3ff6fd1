package engine

import (
	"context"
	"fmt"
	"time"

	"tower/core"
)

// early is how much before its launch a thread may have been begun by the agent's clock.
const early = 2 * core.Instant(1000)

// adopt finds, for launches that neither their process nor their token ties to a session, the thread they
// began, out of the agent's own records: a thread that a server of the agent drives is nobody's process.
// Four proofs hold together: the launch is ours and unmatched; its process lives; the thread was begun in
// its folder, in the time the launch waits for; and nothing else drives it. Of two such threads none is
// taken. It runs in a worker and returns tokens by session.
func (e *Engine) adopt(ctx context.Context, l *look) (map[core.SessionID]string, error) {
	type open struct {
		core.LaunchRecord
		began core.Instant
	}
	var waiting []open
	err := e.post(ctx, func(context.Context) error {
		for _, u := range e.launches {
			if u.Expect == "" && u.Proc.Known() && u.EndedAt == 0 && core.Alive(l.table, u.Proc) {
				waiting = append(waiting, open{u.LaunchRecord, u.RequestedAt - early})
			}
		}
		return nil
	})
	if err != nil || len(waiting) == 0 {
		return nil, err
	}
	shared := map[core.SessionID]bool{}
	for i := range l.sightings {
		if x := &l.sightings[i]; x.Shared {
			shared[core.NewSessionID(x.Agent, x.Native)] = true
		}
	}
	if len(shared) == 0 {
		return nil, nil // a process of its own ties a session to its launch
	}
	claims := map[core.SessionID][]string{}
	for _, u := range waiting {
		a, ok := e.adapters[u.Agent].(core.Adopter)
		if !ok {
			continue
		}
		var begun []core.Begun
		err := guarded(ctx, func(ctx context.Context) (err error) {
			begun, err = a.Begun(ctx, u.CWD, u.began)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("look for the thread of a launch of %s: %w", u.Agent, err)
		}
		var fits []core.SessionID
		for _, b := range begun {
			id := core.NewSessionID(u.Agent, b.Native)
			if shared[id] && b.At >= u.began && b.At <= u.RequestedAt+core.Instant(toBegin/time.Millisecond) {
				fits = append(fits, id)
			}
		}
		if len(fits) == 1 {
			claims[fits[0]] = append(claims[fits[0]], u.Token)
		}
	}
	taken := map[core.SessionID]string{}
	return taken, e.post(ctx, func(context.Context) error {
		for id, tokens := range claims {
			// Of several launches that may have begun it, none did provably.
			if len(tokens) == 1 && !e.driven(id) {
				taken[id] = tokens[0]
			}
		}
		return nil
	})
}

// driven tells whether something provably drives the session already: a process of its own, or a launch.
// A row that merely exists is not a thread that is taken.
func (e *Engine) driven(id core.SessionID) bool {
	for _, r := range e.picture.OpenRunsOf(id) {
		if !r.Shared || r.LaunchToken != "" {
			return true
		}
	}
	_, matched := e.picture.LaunchOf(id)
	return matched
}
