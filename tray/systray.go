//go:build !darwin || cgo

package main

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"fyne.io/systray"
	"golang.org/x/sync/errgroup"

	"tower/tray/menu"
)

// grace is how long the end waits for a library call that may hang with the desktop it talks to.
const grace = 2 * time.Second

// renewals are the times after which a new place for icons is given the submenus anew. GTK panels lose
// what is in a submenu, one time in two, when they read a whole menu at once; the library sees to it
// that the first reader does not, and forgets about later ones, such as a panel that was restarted.
var renewals = []time.Duration{time.Second, 5 * time.Second}

// maxActions is how many clicks are acted upon at the same time; further ones are dropped.
const maxActions = 8

// systrayTray is the Tray on fyne.io/systray, whose traps are kept inside this file and bus_unix.go:
// it emits a signal for every setter, changed or not; it drops clicks nobody waits for; ending it
// without a connection is a panic; it starts a bus of its own when it finds none; one bad byte breaks
// its whole menu, which is why only text from package menu reaches it.
type systrayTray struct {
	trayConfig
	clicks chan string // ids of items pressed

	// All below belongs to one goroutine: the library's ready callback first, the owner afterwards.
	state  menu.State
	drawn  menu.Menu
	items  map[string]row
	icon   string
	beside string
	tip    string
	zone   *time.Location
	zoneOf string
}

func newTray(c trayConfig) Tray {
	return &systrayTray{trayConfig: c, clicks: make(chan string, 64), items: map[string]row{}, zone: time.Local}
}

// Run is described at Tray.
func (t *systrayTray) Run(ctx context.Context) error {
	if runtime.GOOS == "darwin" && t.Main == nil {
		return errors.New("start tray: no way to the main thread")
	}
	restore := redirectLibraryLog(t.Log)
	defer restore()
	b, err := awaitBus(ctx, func(err error) { t.hidden("no session bus answers", "there is no desktop session here", err) })
	if err != nil {
		return nil // ctx ended first
	}
	defer b.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	ready, ended := t.start(ctx)
	if up := t.rise(ctx, b, ready); !up {
		// The library may be without a connection, and then it panics at its end: leave it be.
		return t.afterLoss(ctx, b)
	}
	call(t.OnUp)

	var actions errgroup.Group
	actions.SetLimit(maxActions)
	owner := make(chan struct{})
	go func() {
		defer close(owner)
		var hosts sync.WaitGroup
		hosts.Go(func() { b.watchHosts(ctx) })
		hosts.Go(func() {
			if !b.hosted(ctx) && ctx.Err() == nil {
				t.hidden("the desktop has no place for icons", "this desktop has no place for icons (GNOME has one with the AppIndicator extension)", nil)
			}
		})
		t.own(ctx, b, &actions)
		hosts.Wait()
	}()
	<-ctx.Done()
	// A desktop that hangs blocks the library inside a setter, so the end does not wait for ever.
	within(grace, owner)
	systray.Quit()
	within(grace, ended)
	return actions.Wait()
}

// start runs the library. ready closes when the whole menu stands, ended when the library returned.
func (t *systrayTray) start(ctx context.Context) (ready, ended chan struct{}) {
	ready, ended = make(chan struct{}), make(chan struct{})
	if runtime.GOOS != "darwin" {
		systray.SetTitle("tower") // the item's id on the bus is its title at the moment it connects
	}
	run := func() {
		defer close(ended)
		systray.Run(func() {
			systray.SetTitle("tower")
			t.build(ctx)
			close(ready)
		}, func() {})
	}
	if runtime.GOOS != "darwin" {
		go func() {
			runtime.LockOSThread() // on Windows messages arrive at the thread that made the window
			run()
		}()
		return ready, ended
	}
	go func() {
		select {
		case t.Main <- run:
		case <-ctx.Done():
			close(ended)
		}
	}()
	return ready, ended
}

// rise waits until the menu stands and the library is connected; false when ctx or the bus ended first.
func (t *systrayTray) rise(ctx context.Context, b *bus, ready <-chan struct{}) bool {
	select {
	case <-ready:
	case <-ctx.Done():
		return false
	case <-b.lost:
		return false
	}
	return b.connected(ctx, func() { systray.SetTitle("tower") })
}

// own draws and answers clicks until ctx or the bus ends.
func (t *systrayTray) own(ctx context.Context, b *bus, actions *errgroup.Group) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	renewal := time.NewTimer(time.Hour)
	renewal.Stop()
	renewed := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.lost:
			_ = t.afterLoss(ctx, b)
			return
		case <-t.Updates:
		case <-timer.C:
		case id := <-t.clicks:
			t.press(ctx, id, actions)
			continue
		case <-b.host:
			renewed = 0
			renewal.Reset(renewals[0])
			continue
		case <-renewal.C:
			t.renew(ctx)
			if renewed++; renewed < len(renewals) {
				renewal.Reset(renewals[renewed] - renewals[renewed-1])
			}
			continue
		}
		t.draw(time.Now())
		if next := t.drawn.Next; !next.IsZero() {
			timer.Reset(max(time.Until(next), 10*time.Millisecond))
		}
	}
}

// afterLoss tells that the bus is gone, waits for another and tells that too.
func (t *systrayTray) afterLoss(ctx context.Context, b *bus) error {
	if ctx.Err() != nil {
		return nil
	}
	t.Log.Info("the session bus is gone, and the icon with it")
	call(t.OnBusLost)
	again, err := awaitBus(ctx, func(err error) { t.Log.Info("no icon yet: no session bus answers", "error", err) })
	if err != nil {
		return nil
	}
	again.close()
	t.Log.Info("a session bus answers again")
	call(t.OnBusBack)
	<-ctx.Done()
	return nil
}

// press acts on a click, unless the hand may have meant something else.
func (t *systrayTray) press(ctx context.Context, id string, actions *errgroup.Group) {
	a, ok := t.drawn.Click(id, time.Now())
	if !ok {
		t.Log.Debug("a click was ignored", "item", id)
		return
	}
	if !actions.TryGo(func() error { t.Act(ctx, a); return nil }) {
		t.Log.Warn("a click was dropped, too many are being acted upon", "item", id)
	}
}

// hidden tells the log, and the person in other words, why there is no icon to be seen yet.
func (t *systrayTray) hidden(why, plain string, err error) {
	if err != nil {
		why += ": " + err.Error()
	}
	t.Log.Info("no icon yet: " + why)
	if t.OnHidden != nil {
		t.OnHidden(plain)
	}
}

func call(f func()) {
	if f != nil {
		f()
	}
}

func within(d time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// redirectLibraryLog sends what the library prints through the standard logger to a Logger. It repeats
// itself for every update of a dead bus, so a line that was seen is only worth a debug line.
func redirectLibraryLog(to *slog.Logger) (restore func()) {
	was, flags := log.Writer(), log.Flags()
	seen := map[string]bool{}
	log.SetFlags(0)
	log.SetOutput(writerFunc(func(p []byte) {
		line := string(p)
		if seen[line] {
			to.Debug("tray library", "text", line)
			return
		}
		if len(seen) > 100 {
			clear(seen)
		}
		seen[line] = true
		to.Info("tray library", "text", line)
	}))
	return func() {
		log.SetOutput(was)
		log.SetFlags(flags)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }
