package proc

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"tower/core"
)

// Reader reads the process table again and again with the same buffers. It is safe for concurrent use:
// the poll and every action under way read by the same one, each in its turn. The tables it returns are
// independent of it and of each other.
type Reader struct {
	boot    string
	devices *devices

	mu      sync.Mutex
	scratch scratch
	last    []core.Proc
}

// NewReader returns a Reader for the running boot.
func NewReader() *Reader { return &Reader{boot: boot(), devices: &devices{}} }

// Read returns the processes that run now. A process that comes or goes meanwhile is in it or not; an
// error means that the list as a whole cannot be trusted.
func (r *Reader) Read() (*Table, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows, err := readRows(&r.scratch, r.last)
	if err != nil {
		return nil, err
	}
	byPID := func(a, b core.Proc) int { return cmp.Compare(a.PID, b.PID) }
	if !slices.IsSortedFunc(rows, byPID) {
		slices.SortFunc(rows, byPID)
	}
	r.last = rows
	return &Table{boot: r.boot, rows: rows, asked: map[int]*answers{}, devices: r.devices}, nil
}

// Table is one reading of the process table. It implements [core.Table] and is safe for concurrent
// use. The rows are those of the reading; everything else is asked of the system when first wanted
// and remembered, and is told as unknown when the pid meanwhile belongs to another process.
type Table struct {
	boot string
	rows []core.Proc // ascending by pid

	family   sync.Once
	byParent []core.Proc // ascending by parent, then pid

	lock    sync.Once
	locks   []core.Lock
	devices *devices // the Reader's memory

	mu    sync.Mutex
	asked map[int]*answers
}

// lockKey is a lock as the kernel lists it, with the start of its owner.
type lockKey struct {
	core.Lock
	start uint64
}

// devices remembers, from one table to the next, the device of a lock that had to be looked up.
type devices struct {
	mu   sync.Mutex
	real map[lockKey]uint64
}

func (d *devices) get(k lockKey) (uint64, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	device, ok := d.real[k]
	return device, ok
}

func (d *devices) put(k lockKey, device uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.real == nil || len(d.real) >= 1024 { // locks come and go; starting anew is cheaper than ageing
		d.real = map[lockKey]uint64{}
	}
	d.real[k] = device
}

// answers are what one process was asked for.
type answers struct {
	mu      sync.Mutex
	exe     answer[string]
	args    answer[[]string]
	cwd     answer[string]
	environ answer[map[string]string]
	files   answer[[]string]
}

type answer[T any] struct {
	asked, ok bool
	value     T
}

var _ core.Table = (*Table)(nil)

// Boot implements core.Table.
func (t *Table) Boot() string { return t.boot }

// All implements core.Table; processes come in ascending order of their pids.
func (t *Table) All(f func(core.Proc) bool) {
	for _, p := range t.rows {
		if !f(p) {
			return
		}
	}
}

// Proc implements core.Table.
func (t *Table) Proc(pid int) (core.Proc, bool) {
	i, ok := slices.BinarySearchFunc(t.rows, pid, func(p core.Proc, pid int) int { return cmp.Compare(p.PID, pid) })
	if !ok {
		return core.Proc{}, false
	}
	return t.rows[i], true
}

// Children implements core.Table.
func (t *Table) Children(pid int) []int {
	t.family.Do(func() {
		t.byParent = slices.Clone(t.rows)
		slices.SortStableFunc(t.byParent, func(a, b core.Proc) int { return cmp.Compare(a.PPID, b.PPID) })
	})
	i := sort.Search(len(t.byParent), func(i int) bool { return t.byParent[i].PPID >= pid })
	var pids []int
	for ; i < len(t.byParent) && t.byParent[i].PPID == pid; i++ {
		pids = append(pids, t.byParent[i].PID)
	}
	return pids
}

// Exe implements core.Table.
func (t *Table) Exe(pid int) (string, bool) {
	return ask(t, pid, func(a *answers) *answer[string] { return &a.exe }, exe)
}

// Args implements core.Table.
func (t *Table) Args(pid int) ([]string, bool) {
	return ask(t, pid, func(a *answers) *answer[[]string] { return &a.args }, args)
}

// Cwd implements core.Table.
func (t *Table) Cwd(pid int) (string, bool) {
	return ask(t, pid, func(a *answers) *answer[string] { return &a.cwd }, cwd)
}

// Environ implements core.Table.
func (t *Table) Environ(pid int) (map[string]string, bool) {
	return ask(t, pid, func(a *answers) *answer[map[string]string] { return &a.environ }, environ)
}

// OpenFiles implements core.Table.
func (t *Table) OpenFiles(pid int) ([]string, bool) {
	return ask(t, pid, func(a *answers) *answer[[]string] { return &a.files }, openFiles)
}

// Locks implements core.Table.
func (t *Table) Locks() []core.Lock {
	t.lock.Do(func() { t.locks = t.readLocks() })
	return t.locks
}

// ask answers one question about a process of the table, from memory or from the system.
func ask[T any](t *Table, pid int, which func(*answers) *answer[T], read func(int) (T, bool)) (T, bool) {
	var none T
	p, ok := t.Proc(pid)
	if !ok {
		return none, false
	}
	t.mu.Lock()
	a := t.asked[pid]
	if a == nil {
		a = &answers{}
		t.asked[pid] = a
	}
	t.mu.Unlock()

	// A lock for each process: reading one that is stuck in the kernel must not hold up the others.
	a.mu.Lock()
	defer a.mu.Unlock()
	answer := which(a)
	if !answer.asked {
		answer.asked = true
		answer.value, answer.ok = read(pid)
		if start, alive := Start(pid); answer.ok && (!alive || start != p.Start) {
			answer.value, answer.ok = none, false
		}
	}
	return answer.value, answer.ok
}
