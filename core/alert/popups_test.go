package alert

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tower/core"
)

// desktop is a desktop that notes what it is asked to show, and hangs while it is told to.
type desktop struct {
	mu    sync.Mutex
	shown []string
	out   int // calls that have not returned
	most  int
	hang  chan struct{} // nil = answers
	err   error
	boom  bool
}

func (d *desktop) send(title, _ string) error {
	d.mu.Lock()
	d.shown = append(d.shown, title)
	d.out++
	d.most = max(d.most, d.out)
	hang, err, boom := d.hang, d.err, d.boom
	d.mu.Unlock()
	if hang != nil {
		<-hang
	}
	d.mu.Lock()
	d.out--
	d.mu.Unlock()
	if boom {
		panic("boom")
	}
	return err
}

func (d *desktop) take() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := strings.Join(d.shown, ", ")
	d.shown = nil
	return s
}

// lab is a Popups that runs over pictures the test publishes.
type lab struct {
	*Popups
	desktop *desktop
	newest  atomic.Pointer[core.Snapshot]
	updates chan struct{}
	log     strings.Builder
	end     func()
}

func run(t *testing.T) *lab {
	l := &lab{desktop: &desktop{}, updates: make(chan struct{}, 1)}
	l.Popups = NewPopups(nil, slog.New(slog.NewTextHandler(&l.log, nil)))
	l.send = l.desktop.send
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- l.Run(ctx, l.updates, l.newest.Load) }()
	l.end = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
	}
	synctest.Wait()
	return l
}

func (l *lab) publish(rows ...core.Row) {
	l.newest.Store(snapshot(rows...))
	select {
	case l.updates <- struct{}{}:
	default:
	}
	synctest.Wait()
}

// now is a session that has just begun to ask.
func now(id string) core.Row {
	r := asks(id, core.WaitQuestion, "Which?", 0)
	r.Live.Since = core.InstantOf(time.Now())
	return r
}

func TestRunShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := run(t)
		l.publish()
		time.Sleep(time.Minute)
		a := now("a")
		l.publish(a)
		l.publish(a)
		l.publish(a, now("b"))
		l.publish()
		if got, want := l.desktop.take(), "Codex asks: Title of a, Codex asks: Title of b"; got != want {
			t.Errorf("shown: %s, want %s", got, want)
		}
		l.end()
	})
}

func TestHangingDesktop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := run(t)
		l.publish()
		time.Sleep(time.Minute)
		hang := make(chan struct{})
		l.desktop.hang = hang
		began := time.Now()
		var rows []core.Row
		for i := range 100 { // ten minutes of questions, none of which is held up
			rows = append(rows[:0:0], now(fmt.Sprint("s", i)))
			l.publish(rows...)
			time.Sleep(6 * time.Second)
		}
		if d := time.Since(began); d != 10*time.Minute {
			t.Errorf("the caller was held up: %v", d)
		}
		if l.desktop.most != 1 {
			t.Errorf("%d popups were in the desktop's hands at once", l.desktop.most)
		}
		if got := l.desktop.take(); got != "Codex asks: Title of s0" {
			t.Errorf("shown while it hangs: %s", got)
		}
		l.desktop.mu.Lock()
		l.desktop.hang = nil
		l.desktop.mu.Unlock()
		close(hang)
		synctest.Wait()
		l.publish(now("later"))
		if got := l.desktop.take(); got != "Codex asks: Title of later" {
			t.Errorf("shown after it hung: %s", got)
		}
		if n := strings.Count(l.log.String(), "does not answer"); n != 1 {
			t.Errorf("told %d times that the desktop hangs:\n%s", n, &l.log)
		}
		l.end()
	})
}

func TestEndWhileItHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := run(t)
		l.publish()
		time.Sleep(time.Minute)
		l.desktop.hang = make(chan struct{})
		l.publish(now("a"))
		before := time.Now()
		l.end()
		if d := time.Since(before); d != 0 {
			t.Errorf("the end took %v", d)
		}
		close(l.desktop.hang) // nothing may be left in the bubble
	})
}

func TestFailingDesktop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := run(t)
		l.publish()
		time.Sleep(time.Minute)
		l.desktop.err = errors.New("no daemon")
		for i := range 5 {
			l.publish(now(fmt.Sprint("a", i)))
			time.Sleep(time.Minute)
		}
		l.desktop.err, l.desktop.boom = nil, true
		l.publish(now("b"))
		time.Sleep(time.Minute)
		l.desktop.boom = false
		l.publish(now("c"))
		l.end()
		log := l.log.String()
		for text, want := range map[string]int{"no daemon": 1, "panic: boom": 1, "shown again": 1} {
			if n := strings.Count(log, text); n != want {
				t.Errorf("%q is logged %d times, want %d:\n%s", text, n, want, log)
			}
		}
	})
}

// TestShowNeverBlocks: with nobody to take them the oldest popups make room.
func TestShowNeverBlocks(t *testing.T) {
	p := NewPopups(nil, slog.New(slog.DiscardHandler))
	for i := range 3 * queued {
		p.Show(Popup{Kind: New, Key: fmt.Sprint(i)})
		p.Show(Popup{Kind: Updated, Key: "never"})
		p.Show(Popup{Kind: Withdrawn, Key: "never"})
	}
	for i := range queued {
		if x := <-p.queue; x.Key != fmt.Sprint(2*queued+i) {
			t.Fatalf("popup %d in the queue is %s", i, x.Key)
		}
	}
}
