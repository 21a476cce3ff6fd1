package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"tower/core"

	"github.com/google/go-cmp/cmp"
)

func TestParseStat(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       core.Proc
		kernel, ok bool
	}{
		{name: "plain", line: "12 (bash) S 1 12 11 34817 15 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2",
			want: core.Proc{PID: 12, PPID: 1, Start: 98765, State: 'S', Comm: "bash", TTY: 34817, Group: 12, SID: 11, TPGID: 15}, ok: true},
		{name: "brackets and blanks in the name", line: "12 (a) S 1 (b\nc) R 7 8 9 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 5 1",
			want: core.Proc{PID: 12, PPID: 7, Start: 5, State: 'R', Comm: "a) S 1 (b\nc", Group: 8, SID: 9, TPGID: -1}, ok: true},
		{name: "terminal with a high minor", line: "3 (x) S 1 1 1 -2147448832 1 0 1 2 3 4 5 6 7 8 20 0 1 0 5 1",
			want: core.Proc{PID: 3, PPID: 1, Start: 5, State: 'S', Comm: "x", TTY: 2147518464, Group: 1, SID: 1, TPGID: 1}, ok: true},
		{name: "kernel thread", line: "9 (ksoftirqd/0) S 2 0 0 0 -1 69238848 0 0 0 0 0 0 0 0 20 0 1 0 5 0",
			want: core.Proc{PID: 9, PPID: 2, Start: 5, State: 'S', Comm: "ksoftirqd/0", TPGID: -1}, kernel: true, ok: true},
		{name: "child of a shell that is pid 2", line: "9 (vi) S 2 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 5 0",
			want: core.Proc{PID: 9, PPID: 2, Start: 5, State: 'S', Comm: "vi", TPGID: -1}, ok: true},
		{name: "ends at the start", line: "9 (vi) Z 2 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 5\n",
			want: core.Proc{PID: 9, PPID: 2, Start: 5, State: 'Z', Comm: "vi", TPGID: -1}, ok: true},
		{name: "its first thread ended, others run", line: "9 (x) Z 2 9 9 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 2 0 5",
			want: core.Proc{PID: 9, PPID: 2, Start: 5, State: 'S', Comm: "x", Group: 9, SID: 9, TPGID: -1}, ok: true},
		{name: "ended, not waited for", line: "9 (x) Z 2 9 9 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 5",
			want: core.Proc{PID: 9, PPID: 2, Start: 5, State: 'Z', Comm: "x", Group: 9, SID: 9, TPGID: -1}, ok: true},
		{name: "empty"},
		{name: "torn", line: "12 (bash) S 1 12 11"},
		{name: "no name", line: "12 S 1"},
		{name: "no number", line: "12 (x) S a 1 1 0 1 0 1 2 3 4 5 6 7 8 20 0 1 0 5 1"},
	} {
		got, kernel, ok := parseStat([]byte(c.line), "")
		if !ok {
			got = core.Proc{}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || kernel != c.kernel || ok != c.ok {
			t.Errorf("%s: parseStat = kernel %v, ok %v, %s", c.name, kernel, ok, diff)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (bash) S 1 12 11 34817 15 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2"))
	f.Add([]byte(")("))
	f.Add([]byte("1 ()"))
	f.Fuzz(func(t *testing.T, line []byte) {
		parseStat(line, "x")
		parseLocks(line)
	})
}

func TestParseLocks(t *testing.T) {
	got := parseLocks([]byte(`1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF
1: -> FLOCK  ADVISORY  WRITE 1235 fe:01:5678 0 EOF
2: POSIX  ADVISORY  READ  77 08:10a:9 0 EOF
3: POSIX  ADVISORY  WRITE 78 08:01:9 1073741824 1073742335
4: OFDLCK ADVISORY  WRITE -1 08:01:9 0 EOF
5: torn
`))
	want := []core.Lock{{PID: 1234, Device: 0xfe01, Inode: 5678}, {PID: 77, Device: 0x10080a, Inode: 9}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLocks(t *testing.T) {
	for _, dir := range []string{t.TempDir(), "/dev/shm"} { // /dev/shm has no disk: major number 0
		t.Run(dir, func(t *testing.T) {
			f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("tower-lock-%d", os.Getpid())), os.O_CREATE|os.O_RDWR, 0o600)
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { f.Close(); os.Remove(f.Name()) })
			var st syscall.Stat_t
			if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
				t.Fatal(err)
			}
			want := core.Lock{PID: os.Getpid(), Device: uint64(st.Dev), Inode: st.Ino}
			r := NewReader()
			held := func() bool {
				t.Helper()
				table, err := r.Read()
				if err != nil {
					t.Fatal(err)
				}
				return slices.Contains(table.Locks(), want)
			}
			if held() {
				t.Fatal("the lock is listed before it is taken")
			}
			if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time from memory
				if !held() {
					t.Errorf("the lock %v is not listed", want)
				}
			}
			if err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN); err != nil {
				t.Fatal(err)
			}
			if held() {
				t.Error("the lock is listed after it was given back")
			}
		})
	}
}

func TestRealDevice(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	table, err := NewReader().Read()
	if err != nil {
		t.Fatal(err)
	}
	// As btrfs lists it: the file system's number, which no stat returns.
	l := core.Lock{PID: os.Getpid(), Device: 0x77, Inode: st.Ino}
	table.realDevice(&l)
	if l.Device != uint64(st.Dev) {
		t.Errorf("device = %#x, want %#x", l.Device, st.Dev)
	}
	other := core.Lock{PID: os.Getpid(), Device: 0x77, Inode: st.Ino + 1}
	table.realDevice(&other)
	if other.Device != 0x77 {
		t.Errorf("device of a file nobody holds = %#x, want it unchanged", other.Device)
	}
}

func TestZombieHasNoArgs(t *testing.T) {
	pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{})
	if err != nil {
		t.Skip(err)
	}
	w := NewWatcher(func(core.Process) {})
	defer w.Close()
	for { // until it has ended; it stays a zombie because nobody waited
		if row, ok := row(pid); ok && row.Dead() {
			break
		}
	}
	table, err := NewReader().Read()
	if err != nil {
		t.Fatal(err)
	}
	row, ok := table.Proc(pid)
	if !ok || !row.Dead() {
		t.Errorf("row of a zombie = %+v, %v", row, ok)
	}
	zombie := core.Process{Boot: Boot(), PID: pid, Start: row.Start}
	if core.Alive(table, zombie) {
		t.Error("a zombie counts as alive")
	}
	if args, ok := table.Args(pid); ok {
		t.Errorf("Args of a zombie = %q, want unknown", args)
	}
	if err := w.Watch(zombie); err != ErrGone {
		t.Errorf("Watch of a zombie = %v, want ErrGone", err)
	}
	syscall.Wait4(pid, nil, 0, nil)
}

func BenchmarkRead(b *testing.B) {
	r := NewReader()
	n := 0
	var before, after syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	b.ReportAllocs()
	for b.Loop() {
		table, err := r.Read()
		if err != nil {
			b.Fatal(err)
		}
		n = len(table.rows)
	}
	syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(float64(n), "processes")
	b.ReportMetric(float64(used)/float64(b.N)/1e6, "cpu-ms/op")
}
