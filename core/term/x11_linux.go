package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// displayLimit is how long a display may take to open. A server that hangs accepts and then says nothing.
const displayLimit = 2 * time.Second

// errNoManager is what a display without a window manager that lists its windows is refused with.
var errNoManager = errors.New("no window manager lists its windows")

// display is one connection to an X server, for one call.
type display struct {
	name  string
	conn  *xgb.Conn
	root  xproto.Window
	atoms map[string]xproto.Atom
	stop  func() bool
}

// quiet takes from xgb the log it writes to standard error; what goes wrong is in the errors.
var quiet = sync.OnceFunc(func() { xgb.Logger = log.New(io.Discard, "", 0) })

// openDisplay connects to a display of this machine. When ctx ends the connection does, and with it whatever
// waits for an answer.
func openDisplay(ctx context.Context, name, authority string) (*display, error) {
	quiet()
	number, socket, ok := displaySocket(name)
	if !ok {
		return nil, fmt.Errorf("open display %q: it is not one of this machine", name)
	}
	dialer := net.Dialer{Timeout: displayLimit}
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		var again error // servers also listen at the same name without a file
		if conn, again = dialer.DialContext(ctx, "unix", "@"+socket); again == nil {
			err = nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open display %s: %w", name, err)
	}
	var key []byte
	if host, err := os.Hostname(); err == nil && authority != "" {
		file, _ := os.ReadFile(authority)
		key = cookie(file, host, number)
	}
	conn.SetDeadline(time.Now().Add(displayLimit))
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	xc, err := xgb.NewConnNet(&greeting{Conn: conn, key: key})
	if err != nil {
		stop()
		conn.Close()
		return nil, fmt.Errorf("open display %s: %w", name, err)
	}
	conn.SetDeadline(time.Time{})
	d := &display{name: name, conn: xc, stop: stop}
	setup := xproto.Setup(xc)
	if len(setup.Roots) == 0 {
		d.Close()
		return nil, fmt.Errorf("open display %s: it has no screen", name)
	}
	d.root = setup.Roots[0].Root
	if err := d.intern(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *display) Close() {
	d.stop()
	d.conn.Close()
}

// greeting replaces the first thing xgb says. xgb looks for the key in the file and under the display of the
// tower's own environment alone, and not at all on a connection that was dialled with a limit.
type greeting struct {
	net.Conn
	key  []byte
	said bool
}

func (g *greeting) Write(b []byte) (int, error) {
	if g.said {
		return g.Conn.Write(b)
	}
	g.said = true
	name := ""
	if g.key != nil {
		name = cookieName
	}
	hello := make([]byte, 12, 64)
	hello[0] = 'l' // the low byte of a number comes first
	xgb.Put16(hello[2:], 11)
	xgb.Put16(hello[6:], uint16(len(name)))
	xgb.Put16(hello[8:], uint16(len(g.key)))
	for _, part := range [][]byte{[]byte(name), g.key} {
		hello = append(hello, part...)
		hello = append(hello, make([]byte, xgb.Pad(len(part))-len(part))...)
	}
	if _, err := g.Conn.Write(hello); err != nil {
		return 0, err
	}
	return len(b), nil
}

// The properties of EWMH that are read or asked to change.
var atomNames = []string{
	"_NET_SUPPORTING_WM_CHECK", "_NET_CLIENT_LIST", "_NET_ACTIVE_WINDOW", "_NET_CURRENT_DESKTOP", "_NET_WM_DESKTOP", "_NET_WM_PID",
	"_NET_WM_NAME", "_NET_WM_WINDOW_TYPE", "_NET_WM_WINDOW_TYPE_DESKTOP", "_NET_WM_WINDOW_TYPE_DOCK", "WM_NAME", "WM_CLASS", "WM_CLIENT_MACHINE",
}

// intern asks for all atoms in one round trip.
func (d *display) intern() error {
	cookies := make([]xproto.InternAtomCookie, len(atomNames))
	for i, name := range atomNames {
		cookies[i] = xproto.InternAtom(d.conn, false, uint16(len(name)), name)
	}
	d.atoms = make(map[string]xproto.Atom, len(atomNames))
	for i, name := range atomNames {
		r, err := cookies[i].Reply()
		if err != nil {
			return fmt.Errorf("ask display %s: %w", d.name, err)
		}
		d.atoms[name] = r.Atom
	}
	return nil
}

// property asks for a property; the answer is read later, so that many can be asked for at once.
func (d *display) property(w xproto.Window, name string) xproto.GetPropertyCookie {
	const words = 64 << 10
	return xproto.GetProperty(d.conn, false, w, d.atoms[name], xproto.GetPropertyTypeAny, 0, words)
}

// numbers reads the answer as 32-bit numbers. A property that is not there has none.
func numbers(c xproto.GetPropertyCookie) ([]uint32, error) {
	r, err := c.Reply()
	if err != nil {
		return nil, err
	}
	var all []uint32
	if r.Format == 32 {
		for b := r.Value; len(b) >= 4; b = b[4:] {
			all = append(all, xgb.Get32(b))
		}
	}
	return all, nil
}

// number reads the answer's first number.
func number(c xproto.GetPropertyCookie) (uint32, bool, error) {
	all, err := numbers(c)
	if err != nil || len(all) == 0 {
		return 0, false, err
	}
	return all[0], true, nil
}

// text reads the answer as text without its closing NUL.
func text(c xproto.GetPropertyCookie) (string, error) {
	r, err := c.Reply()
	if err != nil {
		return "", err
	}
	return strings.ToValidUTF8(strings.TrimRight(string(r.Value), "\x00"), "?"), nil
}

// managed fails with errNoManager unless a window manager runs. What one told stays on the display after its
// end, but the window it proves its life by does not.
func (d *display) managed() error {
	w, ok, err := number(d.property(d.root, "_NET_SUPPORTING_WM_CHECK"))
	if err != nil {
		return fmt.Errorf("ask display %s: %w", d.name, err)
	}
	if ok {
		self, there, err := number(d.property(xproto.Window(w), "_NET_SUPPORTING_WM_CHECK"))
		if err == nil && there && self == w {
			return nil
		}
		if isClosed(err) {
			return fmt.Errorf("ask display %s: %w", d.name, err)
		}
	}
	return fmt.Errorf("ask display %s: %w", d.name, errNoManager)
}

// isClosed tells the end of the connection from the server's answer that a window is gone.
func isClosed(err error) bool {
	var answer xgb.Error
	return err != nil && !errors.As(err, &answer)
}

// ids returns the windows the window manager has, oldest first.
func (d *display) ids() ([]xproto.Window, error) {
	if err := d.managed(); err != nil {
		return nil, err
	}
	r, err := d.property(d.root, "_NET_CLIENT_LIST").Reply()
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask display %s: %w", d.name, err)
	case r.Type == 0: // not even an empty list
		return nil, fmt.Errorf("ask display %s: %w", d.name, errNoManager)
	}
	var ids []xproto.Window
	for b := r.Value; len(b) >= 4; b = b[4:] {
		ids = append(ids, xproto.Window(xgb.Get32(b)))
	}
	return ids, nil
}

// client is one window the window manager has.
type client struct {
	id        xproto.Window
	pid       int // 0 when it does not tell, or is another machine's
	title     string
	class     string
	furniture bool // the desktop's background or a panel, in which no terminal shows
}

// clients returns all windows with what they tell of themselves, in two round trips. One that closes meanwhile
// is left out.
func (d *display) clients() ([]client, error) {
	ids, err := d.ids()
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	type asked struct{ pid, name, old, class, machine, kind xproto.GetPropertyCookie }
	cookies := make([]asked, len(ids))
	for i, w := range ids {
		cookies[i] = asked{d.property(w, "_NET_WM_PID"), d.property(w, "_NET_WM_NAME"), d.property(w, "WM_NAME"),
			d.property(w, "WM_CLASS"), d.property(w, "WM_CLIENT_MACHINE"), d.property(w, "_NET_WM_WINDOW_TYPE")}
	}
	all := make([]client, 0, len(ids))
	for i, w := range ids {
		q := cookies[i]
		pid, _, err1 := number(q.pid)
		name, err2 := text(q.name)
		old, err3 := text(q.old)
		class, err4 := text(q.class)
		machine, err5 := text(q.machine)
		kinds, err6 := numbers(q.kind)
		if err := errors.Join(err1, err2, err3, err4, err5, err6); isClosed(err) {
			return nil, fmt.Errorf("ask display %s: %w", d.name, err)
		} else if err != nil {
			continue
		}
		c := client{id: w, pid: int(pid), title: name, class: terminalOf(class)}
		if machine != "" && machine != host && machine != "localhost" {
			c.pid = 0
		}
		if c.title == "" {
			c.title = old
		}
		c.furniture = slices.Contains(kinds, uint32(d.atoms["_NET_WM_WINDOW_TYPE_DESKTOP"])) ||
			slices.Contains(kinds, uint32(d.atoms["_NET_WM_WINDOW_TYPE_DOCK"]))
		all = append(all, c)
	}
	return all, nil
}

// terminalOf makes the name of a program, for a sentence only, from a window's class.
func terminalOf(class string) string {
	_, class, _ = strings.Cut(class, "\x00")
	class = strings.ToLower(class)
	if strings.HasSuffix(class, "wezterm") {
		return wezterm
	}
	return class
}

// active returns the window with the focus, 0 when none of the window manager's has it.
func (d *display) active() (xproto.Window, error) {
	w, _, err := number(d.property(d.root, "_NET_ACTIVE_WINDOW"))
	if err != nil {
		return 0, fmt.Errorf("ask display %s: %w", d.name, err)
	}
	return xproto.Window(w), nil
}

// pager is how a request to the window manager says that a person asked for it by a tool of the desktop. What
// an application asks for itself may be put aside.
const pager = 2

// activate asks the window manager to show the window's desktop and give the window the focus.
func (d *display) activate(w xproto.Window) error {
	current := d.property(d.root, "_NET_CURRENT_DESKTOP")
	on, tells, err := number(d.property(w, "_NET_WM_DESKTOP"))
	if isClosed(err) {
		return fmt.Errorf("ask display %s: %w", d.name, err)
	}
	shown, _, err := number(current)
	if err != nil {
		return fmt.Errorf("ask display %s: %w", d.name, err)
	}
	const everywhere = 0xffffffff
	if tells && on != everywhere && on != shown {
		if err := d.request(d.root, "_NET_CURRENT_DESKTOP", on, 0); err != nil {
			return err
		}
	}
	before, err := d.active()
	if err != nil {
		return err
	}
	return d.request(w, "_NET_ACTIVE_WINDOW", pager, 0, uint32(before))
}

// request sends the window manager a message about a window.
func (d *display) request(about xproto.Window, name string, values ...uint32) error {
	data := make([]uint32, 5)
	copy(data, values)
	message := xproto.ClientMessageEvent{Format: 32, Window: about, Type: d.atoms[name], Data: xproto.ClientMessageDataUnionData32New(data)}
	const toManager = xproto.EventMaskSubstructureRedirect | xproto.EventMaskSubstructureNotify
	if err := xproto.SendEventChecked(d.conn, false, d.root, toManager, string(message.Bytes())).Check(); err != nil {
		return fmt.Errorf("send %s to display %s: %w", name, d.name, err)
	}
	return nil
}
