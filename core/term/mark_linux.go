package term

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jezek/xgb/xproto"
	"golang.org/x/sys/unix"
)

// markLimit is how long a terminal may take to show a title, and to take it back.
const markLimit = 500 * time.Millisecond

// What a terminal does with titles: put the present one on its stack, show another, take the first back.
const (
	pushTitle = "\x1b[22;2t"
	popTitle  = "\x1b[23;2t"
	endTitle  = "\a"
	setTitle  = "\x1b]2;"
)

// mark tells which of several windows of one process shows p's terminal: it writes a title nobody else has to
// that terminal and looks for the window that shows it. It writes only where p is in the foreground, so that
// nothing but p's own screen can be disturbed. why says what kept it from telling, "" when it could.
func (s *sight) mark(ctx context.Context, x *display, among []client) (c client, why string) {
	switch {
	case s.proc.TTY == 0:
		return client{}, "without a terminal of its own nothing tells which"
	case s.tty == "":
		return client{}, "its terminal cannot be written to, so that nothing tells which"
	case s.proc.TPGID != s.proc.Group:
		return client{}, "it is not in the foreground of its terminal, so that nothing may be written there to tell which"
	}
	fd, err := openTTY(s.tty, s.proc.TTY)
	if err != nil {
		return client{}, fmt.Sprintf("its terminal cannot be written to (%v), so that nothing tells which", err)
	}
	defer unix.Close(fd)
	var random [8]byte
	rand.Read(random[:])
	mark := "tower-" + hex.EncodeToString(random[:])
	if err := write(fd, pushTitle+setTitle+mark+endTitle); err != nil {
		return client{}, fmt.Sprintf("its terminal takes no output now (%v), so that nothing tells which", err)
	}
	titles := map[xproto.Window]string{}
	for _, c := range among {
		titles[c.id] = c.title
	}
	hit := -1
	look := func() bool {
		hit = x.shows(mark, among)
		return hit >= 0
	}
	poll(ctx, markLimit, look)
	// The title goes back whether it was seen or not, and whether anybody still waits or not.
	write(fd, popTitle)
	if hit < 0 {
		return client{}, "none of them showed a mark written to its terminal: its tab may be behind another"
	}
	c = among[hit]
	gone := poll(context.WithoutCancel(ctx), markLimit, func() bool { return x.shows(mark, among[hit:hit+1]) < 0 })
	if !gone { // a terminal without a stack of titles
		write(fd, setTitle+oneLine(titles[c.id])+endTitle)
	}
	return c, ""
}

// shows returns which of the windows has the mark in its title, -1 for none. Some terminals put words of their
// own around what a program calls itself.
func (d *display) shows(mark string, among []client) int {
	return slices.IndexFunc(among, func(c client) bool {
		title, err := text(d.property(c.id, "_NET_WM_NAME"))
		if err == nil && title == "" {
			title, err = text(d.property(c.id, "WM_NAME"))
		}
		return err == nil && strings.Contains(title, mark)
	})
}

// openTTY opens a terminal for writing, if it is the device with that number.
func openTTY(path string, device uint64) (int, error) {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR || !sameDevice(st.Rdev, device) {
		unix.Close(fd)
		return -1, errors.New("another device has its name")
	}
	return fd, nil
}

// write writes all or fails; a terminal that is stopped takes nothing.
func write(fd int, s string) error {
	for len(s) > 0 {
		n, err := unix.Write(fd, []byte(s))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		s = s[n:]
	}
	return nil
}

// A device number in /proc/PID/stat is in the kernel's own encoding: eight bits of the minor number, twelve of
// the major, then the rest of the minor.
func majorOf(device uint64) uint32 { return uint32(device>>8) & 0xfff }
func minorOf(device uint64) uint32 { return uint32(device&0xff | device>>12&0xfff00) }

func sameDevice(rdev, device uint64) bool {
	return unix.Major(rdev) == majorOf(device) && unix.Minor(rdev) == minorOf(device)
}

// ttyPath is the path of a controlling terminal, "" when there is none or no file here is that device.
func ttyPath(device uint64) string {
	const consoles, terminals, last = 4, 136, 143
	path := ""
	switch major := majorOf(device); {
	case device == 0:
		return ""
	case major >= terminals && major <= last:
		path = fmt.Sprintf("/dev/pts/%d", minorOf(device)+(major-terminals)<<8)
	case major == consoles && minorOf(device) < 64:
		path = fmt.Sprintf("/dev/tty%d", minorOf(device))
	default:
		return ""
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || !sameDevice(st.Rdev, device) {
		return ""
	}
	return path
}
