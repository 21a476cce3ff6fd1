package term

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jezek/xgb/xproto"

	"tower/core"
)

// place is a display and what opens it.
type place struct{ display, authority string }

// placeOf reads where an environment has its windows.
func placeOf(env func(string) string) (place, bool) {
	p := place{env("DISPLAY"), env("XAUTHORITY")}
	if _, _, ok := displaySocket(p.display); !ok {
		return place{}, false
	}
	if home := env("HOME"); p.authority == "" && home != "" {
		p.authority = filepath.Join(home, ".Xauthority")
	}
	return p, true
}

// mostPlaces bounds the displays that are looked at for one process.
const mostPlaces = 3

// places lists the displays the process may show on: those its own environment and that of its ancestors name,
// nearest first, since a program may be given another display than the terminal it runs in, then the tower's.
func (d *Desk) places(s *sight) []place {
	var all []place
	add := func(env func(string) string) {
		p, ok := placeOf(env)
		if !ok {
			return
		}
		i := slices.IndexFunc(all, func(q place) bool { return q.display == p.display })
		switch {
		case i >= 0 && all[i].authority == "":
			all[i].authority = p.authority
		case i < 0 && len(all) < mostPlaces:
			all = append(all, p)
		}
	}
	for _, p := range s.line {
		if env, ok := s.t.Environ(p.PID); ok {
			add(func(name string) string { return env[name] })
		}
	}
	add(d.own)
	return all
}

// displayOf is where the process at index i of the line, a terminal, has its windows.
func (d *Desk) displayOf(s *sight, i int) (name, authority string) {
	from := *s
	from.line = s.line[min(i, len(s.line)-1):]
	if all := d.places(&from); len(all) > 0 {
		return all[0].display, all[0].authority
	}
	return "", ""
}

// findNative looks for the X window of a process.
func (d *Desk) findNative(ctx context.Context, s *sight) (Window, error) {
	places := d.places(s)
	if len(places) == 0 {
		return Window{}, s.refuse("but no X display of this machine is known, neither to it nor to the tower.", s.byHand())
	}
	var refused error
	for _, p := range places {
		w, err := d.findOn(ctx, s, p)
		if err == nil {
			return w, nil
		}
		d.log.Debug("no window found", "display", p.display, "error", err)
		// What the last place says is told, unless an earlier one came as far as the terminal's own windows.
		var several *severalError
		if !errors.As(refused, &several) {
			refused = err
		}
	}
	if err := ctx.Err(); err != nil {
		return Window{}, fmt.Errorf("find window of pid %d: %w", s.proc.PID, err)
	}
	return Window{}, s.explain(refused)
}

// byHand is the way on when the window is somewhere.
func (s *sight) byHand() string {
	if s.tty == "" {
		return "Bring its window to the front by hand, or end it."
	}
	return fmt.Sprintf("Bring the window of %s to the front by hand, or end it.", s.tty)
}

// severalError is several windows of one process that could not be told apart.
type severalError struct {
	owner  core.Proc
	name   string
	titles []string
	why    string
}

func (e *severalError) Error() string {
	return fmt.Sprintf("%s (pid %d) has %d windows: %s", e.name, e.owner.PID, len(e.titles), e.why)
}

// errNotShown is a window that exists and is not shown.
var errNotShown = errors.New("its window is not shown")

// noneError is a display on which no process above p has a window.
type noneError struct{ display string }

func (e *noneError) Error() string { return "no ancestor has a window on display " + e.display }

// explain makes the refusal of what kept the window from being found.
func (s *sight) explain(err error) error {
	var several *severalError
	var none *noneError
	switch {
	case errors.As(err, &several):
		titles := several.titles
		if len(titles) > 3 {
			titles = titles[:3]
		}
		return s.refuse(fmt.Sprintf("in one of %d windows of %s (pid %d), and %s.", len(several.titles), several.name, several.owner.PID, several.why),
			fmt.Sprintf("Look for it in the windows titled %s.", strings.Join(quoted(titles), ", ")))
	case errors.As(err, &none):
		return s.refuse(fmt.Sprintf("but its terminal is gone: no process above it has a window on display %s.", none.display),
			"Attach to it, or end it.")
	case errors.Is(err, errNotShown):
		return s.refuse("but its window is not on the desktop: it is being opened or closed.", "Try again.")
	case errors.Is(err, errNoManager):
		return s.refuse("but no window manager tells which windows its display has.", s.byHand())
	}
	return s.refuse(fmt.Sprintf("but its display does not answer (%v).", err), s.byHand())
}

func quoted(titles []string) []string {
	out := make([]string, len(titles))
	for i, t := range titles {
		out[i] = "“" + oneLine(t) + "”"
	}
	return out
}

// findOn looks on one display. Only the nearest process above p that has windows counts: what is further up
// started that one, and shows something else.
func (d *Desk) findOn(ctx context.Context, s *sight, at place) (Window, error) {
	x, err := openDisplay(ctx, at.display, at.authority)
	if err != nil {
		return Window{}, err
	}
	defer x.Close()
	all, err := x.clients()
	if err != nil {
		return Window{}, err
	}
	owner, own := len(s.line), []client(nil) // behind the line when nobody has a window
	for i, p := range s.line {
		for _, c := range all {
			if c.pid == p.PID && !c.furniture {
				own = append(own, c)
			}
		}
		if len(own) > 0 {
			owner = i
			break
		}
	}
	found := func(c client, how string) (Window, error) {
		w := window(c, at)
		same := func(o client) bool { return o.pid == c.pid && o.id != c.id && !o.furniture }
		w.How, w.Shared = how, slices.ContainsFunc(all, same)
		return w, nil
	}
	for i, p := range s.line[:owner] {
		env, ok := s.t.Environ(p.PID)
		if !ok {
			continue
		}
		id, err := strconv.ParseUint(env["WINDOWID"], 10, 32)
		if err != nil {
			continue
		}
		above := func(pid int) bool {
			return slices.ContainsFunc(s.line[i+1:min(owner+1, len(s.line))], func(p core.Proc) bool { return p.PID == pid })
		}
		// A terminal that drops down from the edge may be furniture, but it says whose it is.
		if j := slices.IndexFunc(all, func(c client) bool { return c.id == xproto.Window(id) }); j >= 0 {
			if above(all[j].pid) {
				return found(all[j], "WINDOWID and ancestry")
			}
			continue
		}
		// A window that is only just being opened is its process's already, but not yet the window manager's:
		// then the nearest process with windows may be a terminal further up.
		if pid, tells, err := number(x.property(xproto.Window(id), "_NET_WM_PID")); err == nil && tells && above(int(pid)) {
			return Window{}, errNotShown
		}
	}
	switch len(own) {
	case 0:
		return Window{}, &noneError{at.display}
	case 1:
		return found(own[0], "ancestor's only window")
	}
	several := &severalError{owner: s.line[owner], name: own[0].class}
	for _, c := range own {
		several.titles = append(several.titles, c.title)
	}
	c, why := s.mark(ctx, x, own)
	if why != "" {
		several.why = why
		return Window{}, several
	}
	return found(c, "title mark")
}

// window makes the Window of a client.
func window(c client, at place) Window {
	id := strconv.FormatUint(uint64(c.id), 10)
	return Window{Kind: KindX11, ID: id, XID: id, Terminal: c.class, Title: c.title, PID: c.pid, Display: at.display, XAuthority: at.authority}
}

// xid reads the id of a window of an X display.
func (w Window) xid() (xproto.Window, error) {
	id, err := strconv.ParseUint(w.ID, 10, 32)
	if w.Kind != KindX11 || err != nil || id == 0 {
		return 0, fmt.Errorf("find window: %s %q is no window of an X display", w.Kind, w.ID)
	}
	return xproto.Window(id), nil
}

func (d *Desk) focusNative(ctx context.Context, w Window) error {
	id, err := w.xid()
	if err != nil {
		return err
	}
	x, err := openDisplay(ctx, w.Display, w.XAuthority)
	if err != nil {
		return err
	}
	defer x.Close()
	all, err := x.ids()
	if err != nil {
		return err
	}
	if !slices.Contains(all, id) {
		return gone(w, noWindow)
	}
	var asked error
	seen, until := false, time.Now().Add(focusLimit)
	// It is asked again where what the window manager still had to do came between, as a change of the desktop.
	for !seen && asked == nil && ctx.Err() == nil && time.Now().Before(until) {
		if asked = x.activate(id); asked != nil {
			break
		}
		seen = poll(ctx, focusLimit/5, func() bool {
			now, err := x.active()
			asked = err
			return err != nil || now == id
		})
	}
	switch {
	case ctx.Err() != nil && (!seen || asked != nil):
		return fmt.Errorf("focus window %s: %w", w.ID, ctx.Err())
	case asked != nil:
		return asked
	case !seen:
		return &core.Refusal{What: notFocused, Why: fmt.Sprintf("The window manager did not bring window %s (%s) to the front within %v.", w.ID, w.name(), focusLimit),
			Hint: "Bring it to the front by hand."}
	}
	return nil
}

func (d *Desk) existsNative(ctx context.Context, w Window) (bool, error) {
	id, err := w.xid()
	if err != nil {
		return false, err
	}
	x, err := openDisplay(ctx, w.Display, w.XAuthority)
	if err != nil {
		return false, err
	}
	defer x.Close()
	all, err := x.ids()
	if err != nil {
		return false, err
	}
	return slices.Contains(all, id), nil
}

// ownDisplay opens the tower's own display, or refuses.
func (d *Desk) ownDisplay(ctx context.Context, what string) (*display, place, error) {
	at, ok := placeOf(d.own)
	if !ok {
		return nil, at, &core.Refusal{What: what, Why: "The tower knows no X display of this machine.", Hint: "Start it inside the desktop session."}
	}
	x, err := openDisplay(ctx, at.display, at.authority)
	return x, at, err
}

func (d *Desk) activeNative(ctx context.Context) (Window, error) {
	all, active, err := d.seen(ctx, "No window in focus.")
	if err != nil {
		return Window{}, err
	}
	i := slices.IndexFunc(all, func(w Window) bool { return w.ID == active })
	if i < 0 {
		return Window{}, &core.Refusal{What: "No window in focus.", Why: "The window manager gave the focus to none of its windows."}
	}
	return all[i], nil
}

func (d *Desk) windowsNative(ctx context.Context) ([]Window, error) {
	all, _, err := d.seen(ctx, "No windows seen.")
	return all, err
}

// seen returns every window of the tower's display, and the id of the one in focus.
func (d *Desk) seen(ctx context.Context, what string) (all []Window, active string, err error) {
	x, at, err := d.ownDisplay(ctx, what)
	if err != nil {
		return nil, "", err
	}
	defer x.Close()
	now, err := x.active()
	if err != nil {
		return nil, "", err
	}
	clients, err := x.clients()
	if err != nil {
		return nil, "", err
	}
	count := map[int]int{}
	for _, c := range clients {
		count[c.pid]++
	}
	for _, c := range clients {
		w := window(c, at)
		w.Shared = c.pid != 0 && count[c.pid] > 1
		all = append(all, w)
	}
	return all, strconv.FormatUint(uint64(now), 10), nil
}
