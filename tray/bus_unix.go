//go:build linux || freebsd || openbsd || netbsd

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// dialTimeout is how long a bus may take to answer; busMaxWait is the longest pause between two looks
// for one. A look is one connect on a socket that is not there.
const (
	dialTimeout = 3 * time.Second
	busMinWait  = 100 * time.Millisecond
	busMaxWait  = 3 * time.Second
)

// bus is an own connection to the session bus. The library's connection tells nobody when it is made
// and nobody when it dies; this one tells both.
type bus struct {
	conn *dbus.Conn
	stop context.CancelFunc
	lost <-chan struct{} // closed when the bus is gone
	host chan struct{}   // wakes when a desktop begins to show icons
}

var errNoBus = errors.New("no session bus is named")

// busAddress finds the session bus without ever starting one.
func busAddress() (string, error) {
	// "autolaunch:" asks for a new bus, which would outlive the program.
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" && !strings.HasPrefix(a, "autolaunch:") {
		return a, nil
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		return "", errNoBus
	}
	path := filepath.Join(dir, "bus")
	if _, err := os.Stat(path); err != nil {
		return "", errNoBus
	}
	return "unix:path=" + dbus.EscapeBusAddressValue(path), nil
}

// awaitBus waits until a session bus answers, and tells once when none does at first. It leaves the
// address in the environment, where the libraries look first and, finding none, would run dbus-launch.
// The only error is that of ctx.
func awaitBus(ctx context.Context, tell func(error)) (*bus, error) {
	told := false
	for wait := busMinWait; ; wait = min(2*wait, busMaxWait) {
		address, err := busAddress()
		if err == nil {
			var b *bus
			if b, err = dialBus(ctx, address); err == nil {
				err = os.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
				if err == nil {
					return b, nil
				}
				b.close()
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !told {
			tell(err)
			told = true
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
}

// dialBus connects and says hello. Neither the library's dialling nor its greeting has a time-out: one
// that hangs is left behind and closed when it comes back.
func dialBus(ctx context.Context, address string) (*bus, error) {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	type answer struct {
		conn *dbus.Conn
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		conn, err := dbus.Connect(address, dbus.WithContext(life))
		got <- answer{conn, err}
	}()
	timer := time.NewTimer(dialTimeout)
	defer timer.Stop()
	var err error
	select {
	case a := <-got:
		if a.err == nil {
			return &bus{conn: a.conn, stop: stop, lost: a.conn.Context().Done(), host: make(chan struct{}, 1)}, nil
		}
		err = a.err
	case <-timer.C:
		err = fmt.Errorf("no answer within %v", dialTimeout)
	case <-ctx.Done():
		err = ctx.Err()
	}
	stop() // closes the connection, also one still to come
	return nil, fmt.Errorf("dial session bus: %w", err)
}

func (b *bus) close() { b.stop() }

// connected waits until the library's own connection stands. Only then does the library answer nudge,
// which sets its title, with a signal. It returns false when ctx or the bus ends first.
func (b *bus) connected(ctx context.Context, nudge func()) bool {
	const member = "org.kde.StatusNotifierItem.NewTitle"
	signals := make(chan *dbus.Signal, 16)
	b.conn.Signal(signals)
	defer b.conn.RemoveSignal(signals)
	match := []dbus.MatchOption{
		dbus.WithMatchSender(fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", os.Getpid())),
		dbus.WithMatchInterface("org.kde.StatusNotifierItem"),
		dbus.WithMatchMember("NewTitle"),
	}
	if err := b.conn.AddMatchSignalContext(ctx, match...); err != nil {
		return false
	}
	defer func() { _ = b.conn.RemoveMatchSignalContext(ctx, match...) }()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		nudge()
		timer := time.NewTimer(wait)
		select {
		case s := <-signals:
			timer.Stop()
			if s != nil && s.Name == member {
				return true
			}
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-b.lost:
			timer.Stop()
			return false
		}
	}
}

// hosted tells whether the desktop has a place for icons. A bus that does not say is given the benefit
// of the doubt.
func (b *bus) hosted(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(ctx, dialTimeout)
	defer stop()
	var has bool
	asked := b.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, watcherName)
	return asked.Store(&has) != nil || has
}

// watcherName is that of whoever keeps the list of icons on a desktop.
const watcherName = "org.kde.StatusNotifierWatcher"

// watchHosts wakes host whenever a place for icons appears, until ctx or the bus ends.
func (b *bus) watchHosts(ctx context.Context) {
	signals := make(chan *dbus.Signal, 16)
	b.conn.Signal(signals)
	defer b.conn.RemoveSignal(signals)
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchSender("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, watcherName)},
		{dbus.WithMatchSender(watcherName), dbus.WithMatchMember("StatusNotifierHostRegistered")},
	} {
		if b.conn.AddMatchSignalContext(ctx, match...) != nil {
			return
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case s, ok := <-signals:
			if !ok {
				return // the bus is gone
			}
			if s == nil || len(s.Body) == 3 && s.Body[2] == "" {
				continue // a place that went
			}
			select {
			case b.host <- struct{}{}:
			default:
			}
		}
	}
}
