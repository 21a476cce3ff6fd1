package load

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"tower/core"

	"github.com/shirou/gopsutil/v4/cpu"
)

const envChild = "TOWER_TEST_CHILD"

// TestMain turns the test program into a tree of two: a parent that only waits, and below it one that
// works for a while, holds memory and says when it is done.
func TestMain(m *testing.M) {
	switch os.Getenv(envChild) {
	case "parent":
		self, _ := os.Executable()
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), envChild+"=worker")
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
		if cmd.Run() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	case "worker":
		memory := make([]byte, 32<<20)
		for i := range memory {
			memory[i] = byte(i)
		}
		sum := 0
		for began := time.Now(); time.Since(began) < 300*time.Millisecond; {
			for i := range memory[:1<<20] {
				sum += int(memory[i])
			}
		}
		os.Stdout.WriteString("done\n")
		io.Copy(io.Discard, os.Stdin)
		os.Exit(sum * int(memory[0]))
	}
	os.Exit(m.Run())
}

// table knows one parent and its children.
type table struct {
	core.Table
	rows     map[int]core.Proc
	children map[int][]int
}

func (t table) Boot() string { return "boot" }

func (t table) Proc(pid int) (core.Proc, bool) {
	p, ok := t.rows[pid]
	return p, ok
}

func (t table) Children(pid int) []int { return t.children[pid] }

func TestTrees(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), envChild+"=parent")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	if _, err := io.ReadFull(out, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}

	pid, worker := cmd.Process.Pid, childOf(t, cmd.Process.Pid)
	const nobody = 1 << 22 // above every pid
	list := table{
		rows: map[int]core.Proc{
			pid:    {PID: pid, Start: 1, State: 'S'},
			worker: {PID: worker, PPID: pid, Start: 2, State: 'R'},
			nobody: {PID: nobody, Start: 3, State: 'S'},
		},
		// A circle, as two readings of a changing table can give: it must end.
		children: map[int][]int{pid: {worker, nobody}, worker: {pid}},
	}
	now := time.Unix(1000, 0)
	m := New(func() time.Time { return now })
	ctx := context.Background()

	first := m.Trees(ctx, list, []int{pid, nobody, 77})
	if len(first) != 1 {
		t.Fatalf("Trees = %+v, want the one root that can be read", first)
	}
	u := first[pid]
	if u.Processes != 2 {
		t.Errorf("%d processes, want 2", u.Processes)
	}
	if u.CPUSeconds < 0.02 {
		t.Errorf("%v CPU seconds of a worker that was busy", u.CPUSeconds)
	}
	if u.Memory < 32<<20 {
		t.Errorf("%d bytes of a worker that holds 32 MiB", u.Memory)
	}
	if u.CPUPercent != nil {
		t.Errorf("a rate of %v from one reading", *u.CPUPercent)
	}

	now = now.Add(2 * time.Second)
	second := m.Trees(ctx, list, []int{pid})[pid]
	if second.CPUPercent == nil || *second.CPUPercent > 100*(second.CPUSeconds-u.CPUSeconds)/2+1 {
		t.Errorf("rate of the second reading = %v", second.CPUPercent)
	}
	// Another process under the same pid has no reading before.
	list.rows[pid] = core.Proc{PID: pid, Start: 9, State: 'S'}
	if third := m.Trees(ctx, list, []int{pid})[pid]; third.CPUPercent != nil {
		t.Errorf("a recycled pid has a rate of %v", *third.CPUPercent)
	}
	list.rows[worker] = core.Proc{PID: worker, PPID: pid, Start: 2, State: 'Z'}
	if u := m.Trees(ctx, list, []int{pid})[pid]; u.Processes != 1 {
		t.Errorf("%d processes with a dead one among two", u.Processes)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if u := m.Trees(cancelled, list, []int{pid}); len(u) != 0 {
		t.Errorf("Trees after cancelling = %+v", u)
	}
}

func TestRate(t *testing.T) {
	p := func(pid int) core.Process { return core.Process{PID: pid, Start: 1} }
	at := time.Unix(0, 0)
	before := reading{at, map[core.Process]float64{p(1): 10, p(2): 5}}
	for _, c := range []struct {
		name  string
		after reading
		want  float64
	}{
		{"idle", reading{at.Add(time.Second), before.cpu}, 0},
		{"one busy", reading{at.Add(2 * time.Second), map[core.Process]float64{p(1): 11, p(2): 5}}, 50},
		{"two busy", reading{at.Add(time.Second), map[core.Process]float64{p(1): 11, p(2): 6}}, 200},
		{"a new one", reading{at.Add(time.Second), map[core.Process]float64{p(1): 10, p(2): 5, p(3): 0.5}}, 50},
		{"one has ended", reading{at.Add(time.Second), map[core.Process]float64{p(1): 10.25}}, 25},
	} {
		got := rate(before, c.after)
		if got == nil || *got != c.want {
			t.Errorf("%s: rate = %v, want %v", c.name, got, c.want)
		}
	}
	if got := rate(before, reading{at: at}); got != nil {
		t.Errorf("rate over no time = %v", *got)
	}
}

func TestBusy(t *testing.T) {
	before := cpu.TimesStat{User: 10, System: 10, Idle: 80}
	for _, c := range []struct {
		name  string
		after cpu.TimesStat
		want  float64
	}{
		{"idle", cpu.TimesStat{User: 10, System: 10, Idle: 90}, 0},
		{"half", cpu.TimesStat{User: 13, System: 12, Idle: 85}, 50},
		{"waiting for a disk is idle", cpu.TimesStat{User: 10, System: 10, Idle: 85, Iowait: 5}, 0},
		{"guests count once", cpu.TimesStat{User: 15, System: 10, Idle: 85, Guest: 5}, 50},
	} {
		got := busy(before, c.after)
		if got == nil || *got < c.want-0.001 || *got > c.want+0.001 {
			t.Errorf("%s: busy = %v, want %v", c.name, got, c.want)
		}
	}
	if got := busy(before, before); got != nil {
		t.Errorf("busy over no time = %v", *got)
	}
}

func TestMachine(t *testing.T) {
	m := New(time.Now)
	first := m.Machine(context.Background())
	if first.CPUPercent != nil {
		t.Errorf("a rate of %v from one reading", *first.CPUPercent)
	}
	if first.MemTotal == nil || first.MemUsed == nil || *first.MemUsed == 0 || *first.MemUsed > *first.MemTotal {
		t.Errorf("memory used %v of %v", first.MemUsed, first.MemTotal)
	}
	for began := time.Now(); time.Since(began) < 10*time.Second; { // until the kernel's clock has ticked
		if l := m.Machine(context.Background()); l.CPUPercent != nil {
			if *l.CPUPercent < 0 || *l.CPUPercent > 100 {
				t.Errorf("CPU = %v %%", *l.CPUPercent)
			}
			return
		}
	}
	t.Error("no rate after many readings")
}
