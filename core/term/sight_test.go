//go:build linux

package term

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"tower/core"
)

// told is a process table as a test tells it.
type told struct {
	core.Table // the rest is not asked
	rows       map[int]core.Proc
	env        map[int]map[string]string
}

func (f told) Boot() string { return "boot" }
func (f told) Proc(pid int) (core.Proc, bool) {
	p, ok := f.rows[pid]
	return p, ok
}
func (f told) Environ(pid int) (map[string]string, bool) {
	e, ok := f.env[pid]
	return e, ok
}

// nested is an agent (6) in a shell (5) in an inner terminal (4), which was started from a shell (3) in an
// outer one (2), whose parent (1) is that of all. 9 runs under a number that was used again for its parent.
func nested() told {
	f := told{rows: map[int]core.Proc{}, env: map[int]map[string]string{
		2: {"DISPLAY": ":0", "XAUTHORITY": "/run/auth"},
		3: {"DISPLAY": ":0", "WINDOWID": "30", "KITTY_LISTEN_ON": "unix:/outer"},
		5: {"DISPLAY": "localhost:10.0", "HOME": "/home/a", "WEZTERM_PANE": "4"},
		6: {"DISPLAY": ":99", "HOME": "/home/a"},
	}}
	for _, p := range []core.Proc{
		{PID: 1, Start: 1}, {PID: 2, PPID: 1, Start: 2}, {PID: 3, PPID: 2, Start: 3, TTY: 7}, {PID: 4, PPID: 3, Start: 4, TTY: 7},
		{PID: 5, PPID: 4, Start: 5, TTY: 8}, {PID: 6, PPID: 5, Start: 6, TTY: 8}, {PID: 9, PPID: 6, Start: 5}, {PID: 10, PPID: 1, Start: 6, State: 'Z'},
	} {
		f.rows[p.PID] = p
	}
	return f
}

func TestLook(t *testing.T) {
	f := nested()
	at := func(pid int) core.Process { return core.Process{Boot: "boot", PID: pid, Start: f.rows[pid].Start} }
	pids := func(s *sight) (all []int) {
		for _, p := range s.line {
			all = append(all, p.PID)
		}
		return all
	}
	s, err := look(f, at(6))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{6, 5, 4, 3, 2}, pids(s)); diff != "" {
		t.Errorf("ancestry differs (-want +got):\n%s", diff)
	}
	if n := s.sameTTY(); n != 2 {
		t.Errorf("sameTTY() = %d, want 2", n)
	}
	if got := s.environ(s.sameTTY(), "KITTY_LISTEN_ON"); got != "" {
		t.Errorf("an outer terminal's variable was read: %s", got)
	}
	if got := s.environ(s.sameTTY(), "WEZTERM_PANE"); got != "4" {
		t.Errorf("the shell's variable was not read: %q", got)
	}
	d := NewDesk(func() []string { return []string{"DISPLAY=:5", "DISPLAY=:0", "HOME=/h"} }, nil)
	want := []place{{":99", "/home/a/.Xauthority"}, {":0", "/run/auth"}}
	if diff := cmp.Diff(want, d.places(s), cmp.AllowUnexported(place{})); diff != "" {
		t.Errorf("places differ (-want +got):\n%s", diff)
	}
	if name, authority := d.displayOf(s, 2); name != ":0" || authority != "/run/auth" {
		t.Errorf("displayOf = %s, %s", name, authority)
	}
	if s, err = look(f, at(9)); err != nil || len(s.line) != 1 || s.sameTTY() != 0 {
		t.Errorf("a parent younger than its child is believed: %+v, %v", s, err)
	}
	for name, p := range map[string]core.Process{
		"used again": {Boot: "boot", PID: 6, Start: 7}, "other boot": {Boot: "old", PID: 6, Start: 6},
		"gone": {Boot: "boot", PID: 77, Start: 7}, "dead": at(10), "not known": {Boot: "boot", PID: 6},
	} {
		if _, err := look(f, p); refusal(t, err).What != noWindow || !strings.Contains(err.Error(), strconv.Itoa(p.PID)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoDisplay(t *testing.T) {
	f := nested()
	f.env = nil
	for _, env := range [][]string{nil, {"DISPLAY=localhost:10.0"}} {
		d := NewDesk(func() []string { return env }, nil)
		_, err := d.Find(t.Context(), f, core.Process{Boot: "boot", PID: 6, Start: 6})
		if r := refusal(t, err); !strings.Contains(r.Why, "no X display") || r.Hint == "" {
			t.Errorf("Find with %q = %v", env, r)
		}
		if _, err := d.Active(t.Context()); refusal(t, err).Why == "" {
			t.Error("Active without a display")
		}
		if _, err := d.Windows(t.Context()); refusal(t, err).Why == "" {
			t.Error("Windows without a display")
		}
	}
	d := NewDesk(func() []string { return []string{"DISPLAY=:65000"} }, nil)
	_, err := d.Find(t.Context(), f, core.Process{Boot: "boot", PID: 6, Start: 6})
	if r := refusal(t, err); !strings.Contains(r.Why, "does not answer") {
		t.Errorf("Find on a display that is not there = %v", r)
	}
	for _, w := range []Window{{}, {Kind: KindX11}, {Kind: KindX11, ID: "x"}, {Kind: "other", ID: "1"}} {
		if err := d.Focus(t.Context(), w); err == nil {
			t.Errorf("Focus(%+v) succeeded", w)
		}
		if there, err := d.Exists(t.Context(), w); err == nil {
			t.Errorf("Exists(%+v) = %v", w, there)
		}
	}
}

// TestTTYPath compares the path of a number with the number of the path, on every terminal there is.
func TestTTYPath(t *testing.T) {
	all, err := os.ReadDir("/dev/pts")
	if err != nil {
		t.Skip("no /dev/pts")
	}
	for _, e := range all {
		var st unix.Stat_t
		path := "/dev/pts/" + e.Name()
		if unix.Stat(path, &st) != nil || unix.Major(st.Rdev) < 136 || unix.Major(st.Rdev) > 143 {
			continue
		}
		major, minor := uint64(unix.Major(st.Rdev)), uint64(unix.Minor(st.Rdev))
		kernel := minor&0xff | major<<8 | minor&^0xff<<12
		if got := ttyPath(kernel); got != path {
			t.Errorf("ttyPath(%#x) = %q, want %s", kernel, got, path)
		}
		if fd, err := openTTY(path, kernel+1); err == nil {
			unix.Close(fd)
			t.Errorf("%s was opened as another device", path)
		}
	}
	if major, minor := majorOf(0x00108801), minorOf(0x00108801); major != 136 || minor != 257 {
		t.Errorf("device 136:257 is read as %d:%d", major, minor)
	}
	for _, device := range []uint64{0, 136<<8 | 0xfff00000, 5 << 8, 1<<8 | 3} {
		if got := ttyPath(device); got != "" {
			t.Errorf("ttyPath(%#x) = %s", device, got)
		}
	}
	if _, err := openTTY("/dev/null", 5<<8); err == nil {
		t.Error("another device was opened")
	}
}
