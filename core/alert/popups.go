package alert

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gen2brain/beeep"

	"tower/core"
)

// Timeout is how long a desktop may take over one popup before the next ones are dropped.
const Timeout = 5 * time.Second

// queued is how many popups may stand behind the one being shown; the oldest make room.
const queued = 16

// Popups shows what [Next] decides through the desktop's own popups.
type Popups struct {
	log   *slog.Logger
	send  func(title, body string) error
	queue chan Popup
}

// named gives the library its one name once: a call that hangs in it may read the name for ever.
var named sync.Once

// NewPopups returns Popups that show icon, a PNG or nil, beside the text.
func NewPopups(icon []byte, log *slog.Logger) *Popups {
	named.Do(func() { beeep.AppName = "Tower" })
	return &Popups{log: log, queue: make(chan Popup, queued), send: func(title, body string) error {
		return send(title, body, icon)
	}}
}

// Run decides whenever updates wakes it and shows, until ctx ends. It returns nil. A popup that hangs
// in the desktop's hands then is left behind.
func (p *Popups) Run(ctx context.Context, updates <-chan struct{}, snapshot func() *core.Snapshot) error {
	worker := make(chan struct{})
	go func() {
		defer close(worker)
		p.work(ctx)
	}()
	defer func() { <-worker }()
	var st State
	for {
		var popups []Popup
		st, popups = Next(st, snapshot(), time.Now())
		for _, x := range popups {
			p.Show(x)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-updates:
		}
	}
}

// Show hands a popup to the worker of Run and returns at once. Only new ones are shown: this way of
// showing can neither change a popup that stands nor take it away, the desktop does that after a while.
func (p *Popups) Show(x Popup) {
	if x.Kind != New {
		return
	}
	for {
		select {
		case p.queue <- x:
			return
		default:
		}
		select {
		case <-p.queue: // the oldest: what was asked last is what still waits
			p.log.Warn("a popup was dropped, too many are waiting to be shown")
		default:
		}
	}
}

// work shows one popup after the other. The call that shows may block for as long as the desktop
// hangs, with no way to end it, so while one is out no other is started.
func (p *Popups) work(ctx context.Context) {
	failing := ""
	for {
		var x Popup
		select {
		case <-ctx.Done():
			return
		case x = <-p.queue:
		}
		err, ok := p.show(ctx, x)
		if !ok {
			return
		}
		switch {
		case err != nil && err.Error() != failing:
			failing = err.Error()
			p.log.Warn("popups cannot be shown", "error", err)
		case err == nil && failing != "":
			failing = ""
			p.log.Info("popups are shown again")
		}
	}
}

// show shows one popup and waits until the desktop took it; false when ctx ended first. Past the
// time-out it keeps waiting and drops what is queued meanwhile.
func (p *Popups) show(ctx context.Context, x Popup) (error, bool) {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("show popup: panic: %v", r)
			}
		}()
		done <- p.send(x.Title, x.Body)
	}()
	timer := time.NewTimer(Timeout)
	defer timer.Stop()
	queue := (<-chan Popup)(nil)
	for {
		select {
		case err := <-done:
			return err, true
		case <-ctx.Done():
			return nil, false
		case <-timer.C:
			p.log.Warn("the desktop does not answer, popups are dropped until it does")
			queue = p.queue
		case y := <-queue:
			p.log.Debug("a popup was dropped, the desktop does not answer", "cause", y.Key)
		}
	}
}

// picture is the icon in the form the library takes: bytes, or the name of none.
func picture(icon []byte) any {
	if len(icon) == 0 {
		return ""
	}
	return icon
}
