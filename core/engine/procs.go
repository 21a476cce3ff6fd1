package engine

import (
	"context"
	"errors"

	"tower/core"
	"tower/core/proc"
)

// procWatch hears of the end of processes from the kernel, so that a session that vanishes is known
// within milliseconds. Where the system cannot tell, the poll is the net.
type procWatch struct {
	w *proc.Watcher
}

func (p *procWatch) start(e *Engine) {
	p.w = proc.NewWatcher(func(core.Process) { wake(e.wakes.poll) })
	for _, r := range e.picture.OpenRuns() {
		p.add(e, r.Proc)
	}
}

// add watches a process. One that is gone already has the poll look at once.
func (p *procWatch) add(e *Engine, q core.Process) {
	if p.w == nil || !q.Known() || q.Boot != proc.Boot() {
		return
	}
	if err := p.w.Watch(q); errors.Is(err, proc.ErrGone) {
		wake(e.wakes.poll)
	}
}

func (p *procWatch) run(ctx context.Context) error {
	<-ctx.Done()
	p.close()
	return nil
}

func (p *procWatch) close() {
	if p.w != nil {
		p.w.Close()
	}
}
