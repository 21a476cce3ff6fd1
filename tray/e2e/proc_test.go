//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// until polls cond and returns how long it took. limit is that of a quiet machine: it is multiplied
// by the patience of the run, since a deadline that is not reached costs nothing. Passing it ends the
// test with everything the stage can tell of its state.
func until(t testing.TB, limit time.Duration, what string, cond func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		if cond() {
			return time.Since(began)
		}
		if time.Since(began) > time.Duration(float64(limit)*patience) {
			t.Fatalf("waited %.1f s in vain for %s\n%s", time.Since(began).Seconds(), what, describe())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// within is until for what the tower promises: the time is measured to its end and then held against
// the promise itself, without patience.
func within(t testing.TB, promise time.Duration, what string, cond func() bool) time.Duration {
	t.Helper()
	took := until(t, max(promise, 10*time.Second), what, cond)
	t.Logf("%s after %.2f s", what, took.Seconds())
	if took > promise {
		t.Errorf("%s took %.2f s, promised are %.0f s", what, took.Seconds(), promise.Seconds())
	}
	return took
}

// process is one process as the kernel names it.
type process struct {
	pid   int
	start uint64
}

// processOf reads a process's identity; false when it is gone or only its remains are there.
func processOf(pid int) (process, bool) {
	fields, ok := stat(pid)
	if !ok || fields[0] == "Z" || fields[0] == "X" {
		return process{}, false
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	return process{pid, start}, err == nil
}

func (p process) alive() bool {
	now, ok := processOf(p.pid)
	return ok && now == p
}

// stat returns the fields of /proc/PID/stat behind the command's name.
func stat(pid int) ([]string, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil, false
	}
	_, rest, ok := strings.Cut(string(b[bytes.LastIndexByte(b, ')'):]), " ")
	fields := strings.Fields(rest)
	return fields, ok && len(fields) > 20
}

// child returns a living child of pid whose executable's path contains part.
func child(pid int, part string) (process, bool) {
	for _, p := range pids() {
		fields, ok := stat(p)
		if !ok || fields[1] != strconv.Itoa(pid) {
			continue
		}
		if exe, err := os.Readlink("/proc/" + strconv.Itoa(p) + "/exe"); err == nil && strings.Contains(exe, part) {
			return processOf(p)
		}
	}
	return process{}, false
}

func pids() []int {
	var list []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(d)); err == nil {
			list = append(list, pid)
		}
	}
	return list
}

// tagged returns the living processes that carry the tag in their environment: those started here
// and everything they started.
func tagged(tag string) []process {
	var list []process
	for _, pid := range pids() {
		if pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil || !bytes.Contains(append([]byte{0}, append(env, 0)...), []byte("\x00"+tagName+"="+tag+"\x00")) {
			continue
		}
		if p, ok := processOf(pid); ok {
			list = append(list, p)
		}
	}
	return list
}

// endTagged ends them: politely, then for good. It looks again each time, because a daemon may start
// another while it goes down.
func endTagged(tag string) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, p := range tagged(tag) {
			if p.alive() {
				syscall.Kill(p.pid, sig)
			}
		}
		for range 60 {
			if len(tagged(tag)) == 0 {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// tidy ends what a gate that failed left running on the desktop and in panes, so that the next one is
// judged for itself.
func (s *stage) tidy() {
	if s.desk == nil {
		return
	}
	keep := map[int]bool{}
	for _, cmd := range s.desk.parts {
		keep[cmd.Process.Pid] = true
	}
	if s.tower != nil && s.tower.cmd != nil {
		keep[s.tower.cmd.Process.Pid] = true
	}
	var left []process
	for _, p := range tagged(s.tag) {
		comm, _ := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/comm")
		parent, _ := parentOf(p.pid)
		if !keep[p.pid] && (parent == 0 || parent != s.desk.owner(s.desk.blank)) && !bytes.HasPrefix(comm, []byte("tmux")) {
			left = append(left, p)
		}
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, p := range left {
			if p.alive() {
				syscall.Kill(p.pid, sig)
			}
		}
		for range 60 {
			left = slices.DeleteFunc(left, func(p process) bool { return !p.alive() })
			if len(left) == 0 {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// holder returns the process that holds the lock of a file, as the kernel tells it. The inode alone
// is not enough, so the process must have the very file open.
func holder(path string) (process, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return process{}, false
	}
	inode := ":" + strconv.FormatUint(info.Sys().(*syscall.Stat_t).Ino, 10)
	locks, _ := os.ReadFile("/proc/locks")
	for line := range strings.Lines(string(locks)) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], inode) {
			continue
		}
		fds, _ := filepath.Glob("/proc/" + f[4] + "/fd/*")
		for _, fd := range fds {
			if to, err := os.Readlink(fd); err == nil && to == path {
				pid, _ := strconv.Atoi(f[4])
				return processOf(pid)
			}
		}
	}
	return process{}, false
}
