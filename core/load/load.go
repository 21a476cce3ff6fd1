// Package load measures what the machine and single process trees use of processor and memory, for
// the eyes of a person: the engine asks it for the rows that are shown, never on every poll. It
// promises figures without a guess (a rate needs two readings, so the first one has none) and the
// cost of one reading a process asked for. It never lists processes itself, never decides whether one
// lives, and its figures are no one's identity: that is core/proc's.
package load

import (
	"context"
	"runtime"
	"sync"
	"time"

	"tower/core"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/process"
)

// Load is what the whole machine does. A nil field could not be read, or has no second reading yet.
type Load struct {
	CPUPercent *float64 `json:"cpu_percent"` // of all processors together, 0 to 100
	Load1      *float64 `json:"load1"`       // processes that want to run, mean of a minute; not on Windows
	MemUsed    *uint64  `json:"mem_used"`    // bytes that are not available for use
	MemTotal   *uint64  `json:"mem_total"`
}

// Usage is what one process and all below it use.
type Usage struct {
	CPUPercent *float64 `json:"cpu_percent"` // of one processor, so it may exceed 100; nil at the first reading
	CPUSeconds float64  `json:"cpu_seconds"` // of the processes that live now, since each began
	Memory     uint64   `json:"memory"`      // resident bytes; pages that several share count for each
	Processes  int      `json:"processes"`   // that could be read
}

// Meter remembers the last reading, from which rates are made. It is safe for concurrent use.
type Meter struct {
	now func() time.Time

	mu      sync.Mutex
	machine *cpu.TimesStat
	trees   map[core.Process]reading
}

// reading is the processor time of each process of a tree at one moment.
type reading struct {
	at  time.Time
	cpu map[core.Process]float64
}

// New returns a Meter that has read nothing yet.
func New(now func() time.Time) *Meter {
	return &Meter{now: now, trees: map[core.Process]reading{}}
}

// Machine reads the machine. Its processor use is that since the last call.
func (m *Meter) Machine(ctx context.Context) Load {
	var l Load
	if times, err := cpu.TimesWithContext(ctx, false); err == nil && len(times) == 1 {
		m.mu.Lock()
		if m.machine != nil {
			l.CPUPercent = busy(*m.machine, times[0])
		}
		m.machine = &times[0]
		m.mu.Unlock()
	}
	if runtime.GOOS != "windows" {
		if avg, err := load.AvgWithContext(ctx); err == nil {
			l.Load1 = &avg.Load1
		}
	}
	if v, err := mem.VirtualMemoryWithContext(ctx); err == nil && v.Total > 0 {
		used := v.Total - min(v.Available, v.Total)
		l.MemUsed, l.MemTotal = &used, &v.Total
	}
	return l
}

// busy returns the share of the time between two readings in which a processor was not idle, or nil
// when no time has passed.
func busy(before, after cpu.TimesStat) *float64 {
	idle := func(t cpu.TimesStat) float64 { return t.Idle + t.Iowait }
	total := all(after) - all(before)
	if total <= 0 {
		return nil
	}
	percent := 100 * (1 - (idle(after)-idle(before))/total)
	percent = min(max(percent, 0), 100)
	return &percent
}

// all adds up the kinds of time that exclude each other; that of guests is part of the user's.
func all(t cpu.TimesStat) float64 {
	return t.User + t.System + t.Idle + t.Nice + t.Iowait + t.Irq + t.Softirq + t.Steal
}

// Trees reads the trees below the given processes, as the table knows them. A root that is not in the
// table, or of which nothing could be read, is missing from the answer. What is remembered is that of
// the roots asked for last, so ask for all of them at once.
func (m *Meter) Trees(ctx context.Context, t core.Table, roots []int) map[int]Usage {
	usage := map[int]Usage{}
	m.mu.Lock()
	before := m.trees
	m.mu.Unlock()
	after := map[core.Process]reading{}
	for _, pid := range roots {
		row, ok := t.Proc(pid)
		if !ok || ctx.Err() != nil {
			continue
		}
		root := core.Process{Boot: t.Boot(), PID: pid, Start: row.Start}
		u, r := m.tree(ctx, t, pid)
		if u.Processes == 0 {
			continue
		}
		if last, ok := before[root]; ok {
			u.CPUPercent = rate(last, r)
		}
		usage[pid], after[root] = u, r
	}
	m.mu.Lock()
	m.trees = after
	m.mu.Unlock()
	return usage
}

func (m *Meter) tree(ctx context.Context, t core.Table, root int) (Usage, reading) {
	var u Usage
	r := reading{at: m.now(), cpu: map[core.Process]float64{}}
	seen := map[int]bool{}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		pid := queue[0]
		if seen[pid] {
			continue
		}
		seen[pid] = true
		queue = append(queue, t.Children(pid)...)
		row, ok := t.Proc(pid)
		if !ok || row.Dead() {
			continue
		}
		p := process.Process{Pid: int32(pid)}
		times, err := p.TimesWithContext(ctx)
		if err != nil {
			continue // gone, or somebody else's
		}
		u.Processes++
		seconds := times.User + times.System
		u.CPUSeconds += seconds
		r.cpu[core.Process{Boot: t.Boot(), PID: pid, Start: row.Start}] = seconds
		if memory, err := p.MemoryInfoWithContext(ctx); err == nil {
			u.Memory += memory.RSS
		}
	}
	return u, r
}

// rate returns the use between two readings of one tree in percent of a processor. A process that was
// not there before began in between, so all its time counts; one that has ended since takes the time
// it used since the last reading with it.
func rate(before, after reading) *float64 {
	seconds := after.at.Sub(before.at).Seconds()
	if seconds <= 0 {
		return nil
	}
	used := 0.0
	for p, now := range after.cpu {
		used += max(now-before.cpu[p], 0)
	}
	percent := 100 * used / seconds
	return &percent
}
