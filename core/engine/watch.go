package engine

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"tower/core"
)

// wakes let something wake a loop before its time. Each holds one wake at most: waking twice before
// the loop looked is waking once.
type wakes struct {
	drain, poll, sweep, agents chan struct{}
	faces                      chan struct{} // health moved: the owner has to publish
}

func newWakes() wakes {
	c := func() chan struct{} { return make(chan struct{}, 1) }
	return wakes{c(), c(), c(), c(), c()}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// turn is a lock whose waiting ends with a context: an import may hold it for minutes.
type turn chan struct{}

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t turn) give() { <-t }

// settle is how long a burst of file events is gathered, from its first one on, before it wakes a loop.
const settle = 25 * time.Millisecond

// watch wakes the drain for the inbox and the poll for the agents' own records of running sessions.
// A watcher that fails or overflows only costs time: the timers look all the same.
func (e *Engine) watch(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := e.watchOnce(ctx); err != nil && ctx.Err() == nil {
			e.health.tick("watch", err, e.log)
			wake(e.wakes.drain)
			wake(e.wakes.poll)
			select {
			case <-time.After(30 * time.Second):
			case <-ctx.Done():
			}
		}
	}
	return nil
}

func (e *Engine) watchOnce(ctx context.Context) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	inbox := e.o.Home.Inbox()
	if err := w.Add(inbox); err != nil {
		return fmt.Errorf("watch %q: %w", inbox, err)
	}
	e.watchRecords(w)
	e.health.tick("watch", nil, e.log)
	again := time.NewTicker(2 * time.Second) // a folder that did not exist may have come
	defer again.Stop()
	var drain, poll bool
	ring := time.NewTimer(time.Hour)
	defer ring.Stop()
	for {
		select {
		case ev, ok := <-w.Events:
			if !ok {
				return nil
			}
			ours := strings.HasPrefix(ev.Name, inbox+string(os.PathSeparator))
			if ours && (!strings.HasSuffix(ev.Name, ".json") || !ev.Has(fsnotify.Create)) {
				continue
			}
			if !drain && !poll { // the first of a burst: what never pauses must not put it off
				ring.Reset(settle)
			}
			drain, poll = drain || ours, poll || !ours
		case err, ok := <-w.Errors:
			if !ok {
				return nil
			}
			e.log.Warn("watch", "error", err)
			wake(e.wakes.drain)
			wake(e.wakes.poll)
		case <-ring.C:
			if drain {
				wake(e.wakes.drain)
			}
			if poll {
				wake(e.wakes.poll)
			}
			drain, poll = false, false
		case <-again.C:
			// A hook makes an inbox that somebody removed, and its watch went with it.
			if err := w.Add(inbox); err != nil {
				return fmt.Errorf("watch %q: %w", inbox, err)
			}
			e.watchRecords(w)
		case <-ctx.Done():
			return nil
		}
	}
}

// watchRecords adds the folders of running-session records that exist; adding one twice is nothing.
func (e *Engine) watchRecords(w *fsnotify.Watcher) {
	watched := map[string]bool{}
	for _, dir := range w.WatchList() {
		watched[dir] = true
	}
	for _, a := range e.o.Adapters {
		f, ok := a.(core.Watched)
		if !ok {
			continue
		}
		for _, dir := range f.Watch() {
			if !watched[dir] && w.Add(dir) == nil {
				wake(e.wakes.poll)
			}
		}
	}
}
