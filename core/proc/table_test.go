package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tower/core"

	"github.com/google/go-cmp/cmp"
)

// The poll and the actions read at the same time. Readings that share their buffers unguarded hold a
// process without its start, or miss one that was there all along: "gone", an action would say.
func TestReadersAtTheSameTime(t *testing.T) {
	r := NewReader()
	self := Self()
	var readers sync.WaitGroup
	for range 6 {
		readers.Go(func() {
			for range 60 {
				table, err := r.Read()
				if err != nil {
					t.Error(err)
					return
				}
				if !core.Alive(table, self) {
					row, ok := table.Proc(self.PID)
					t.Errorf("this process is not in the table as %v: %+v, %v", self, row, ok)
					return
				}
			}
		})
	}
	readers.Wait()
}

func TestTable(t *testing.T) {
	dir := t.TempDir()
	open, err := os.Create(filepath.Join(dir, "open ö"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	c := start(t, dir, []*os.File{open}, "one", "", "two words")

	r := NewReader()
	table, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	self := Self()
	if !core.Alive(table, self) {
		t.Errorf("the table does not hold this process %v", self)
	}
	recycled := self
	recycled.Start++
	if core.Alive(table, recycled) {
		t.Error("another start under our pid counts as alive")
	}
	row, ok := table.Proc(c.pid)
	if !ok || row.PPID != self.PID || row.Dead() {
		t.Fatalf("Proc(child) = %+v, %v", row, ok)
	}
	if got, ok := Start(c.pid); !ok || got != row.Start {
		t.Errorf("Start(child) = %d, %v, the table says %d", got, ok, row.Start)
	}
	if kids := table.Children(self.PID); !slices.Contains(kids, c.pid) || !slices.IsSorted(kids) {
		t.Errorf("Children = %v, want %d among them", kids, c.pid)
	}
	program, _ := os.Executable()
	if exe, ok := table.Exe(c.pid); !ok || exe != program {
		t.Errorf("Exe = %q, %v, want %q", exe, ok, program)
	}
	args, ok := table.Args(c.pid)
	if diff := cmp.Diff([]string{program, "one", "", "two words"}, args); !ok || diff != "" {
		t.Errorf("Args: %v %s", ok, diff)
	}
	if cwd, ok := table.Cwd(c.pid); !ok || cwd != dir {
		t.Errorf("Cwd = %q, %v, want %q", cwd, ok, dir)
	}
	env, ok := table.Environ(c.pid)
	if !ok || env["TOWER_TEST_VALUE"] != "a=b" || env["PATH"] != os.Getenv("PATH") {
		t.Errorf("Environ = %v, %v", env, ok)
	}
	if files, ok := table.OpenFiles(c.pid); !ok || !slices.Contains(files, open.Name()) {
		t.Errorf("OpenFiles = %q, %v, want %q among them", files, ok, open.Name())
	}

	c.end()
	if _, ok := Start(c.pid); ok {
		t.Error("the child has a start after its end")
	}
	// What was not asked before its end cannot be answered for the pid's next owner.
	fresh, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := fresh.Proc(c.pid); ok {
		t.Error("the next table still holds the child")
	}
	if _, ok := fresh.Exe(c.pid); ok {
		t.Error("Exe answers for a process that is not in the table")
	}
	if exe, ok := table.Exe(c.pid); !ok || exe != program {
		t.Error("the former table forgot what it had answered")
	}
}

func TestNoAnswerForRecycled(t *testing.T) {
	self := Self()
	table := &Table{boot: Boot(), rows: []core.Proc{{PID: self.PID, Start: self.Start - 1}}, asked: map[int]*answers{}, devices: &devices{}}
	if exe, ok := table.Exe(self.PID); ok {
		t.Errorf("Exe = %q for a process whose pid belongs to another one", exe)
	}
	if args, ok := table.Args(self.PID); ok {
		t.Errorf("Args = %q for a process whose pid belongs to another one", args)
	}
}

func TestAllAscendsAndStops(t *testing.T) {
	table, err := NewReader().Read()
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	table.All(func(p core.Proc) bool {
		pids = append(pids, p.PID)
		return true
	})
	if !slices.IsSorted(pids) || len(pids) < 2 {
		t.Errorf("All = %v, want ascending pids", pids)
	}
	n := 0
	table.All(func(core.Proc) bool { n++; return false })
	if n != 1 {
		t.Errorf("All went on %d times after false", n)
	}
}

func TestAncestors(t *testing.T) {
	long := strings.Repeat("ä", 150) // 300 bytes
	c := start(t, "", nil, "1", "2\xff3", long, "4", "5", "6", "7")
	chain := Ancestors(c.pid, 8)
	if len(chain) == 0 || chain[0].PID != os.Getpid() {
		t.Fatalf("Ancestors = %v, want this process first", chain)
	}
	if self := Self(); chain[0].Created != self.Start {
		t.Errorf("created = %d, want %d", chain[0].Created, self.Start)
	}
	for i, a := range chain[1:] {
		if chain[i].PPID != a.PID || a.Created > chain[i].Created {
			t.Errorf("step %d: %+v is not the parent of %+v", i+1, a, chain[i])
		}
	}
	if got := Ancestors(c.pid, 1); len(got) != 1 {
		t.Errorf("Ancestors with a limit of 1 = %v", got)
	}
	program, _ := os.Executable()
	want := []string{program, "1", "2\ufffd3", strings.Repeat("ä", 100), "4", "5"}
	if diff := cmp.Diff(want, firstArgs(c.pid)); diff != "" {
		t.Error(diff)
	}
	if got := Ancestors(1<<30, 8); got == nil || len(got) != 0 {
		t.Errorf("Ancestors of nobody = %v, want an empty list", got)
	}
}

func TestAncestorsEnd(t *testing.T) {
	for _, c := range []struct {
		name string
		rows []core.Proc
		max  int
		want []int
	}{
		{"at the top", []core.Proc{{PID: 9, PPID: 5, Start: 3}, {PID: 5, PPID: 1, Start: 2}, {PID: 1, Start: 1}}, 8, []int{5, 1}},
		{"at the limit", []core.Proc{{PID: 9, PPID: 5, Start: 3}, {PID: 5, PPID: 1, Start: 2}, {PID: 1, Start: 1}}, 1, []int{5}},
		{"at a parent of the same tick", []core.Proc{{PID: 9, PPID: 5, Start: 3}, {PID: 5, Start: 3}}, 8, []int{5}},
		{"at a recycled parent", []core.Proc{{PID: 9, PPID: 5, Start: 3}, {PID: 5, PPID: 1, Start: 4}, {PID: 1, Start: 1}}, 8, nil},
		{"at one that cannot be read", []core.Proc{{PID: 9, PPID: 5, Start: 3}, {PID: 5, PPID: 4, Start: 2}, {PID: 1, Start: 1}}, 8, []int{5}},
		{"in a circle", []core.Proc{{PID: 9, PPID: 5, Start: 3}, {PID: 5, PPID: 9, Start: 3}}, 4, []int{5, 9, 5, 9}},
		{"nobody", nil, 8, nil},
	} {
		var got []int
		for _, p := range above(9, c.max, func(pid int) (core.Proc, bool) {
			for _, p := range c.rows {
				if p.PID == pid {
					return p, true
				}
			}
			return core.Proc{}, false
		}) {
			got = append(got, p.PID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ name, arg, want string }{
		{"short", "abc", "abc"},
		{"exact", strings.Repeat("a", 200), strings.Repeat("a", 200)},
		{"long", strings.Repeat("a", 201), strings.Repeat("a", 200)},
		{"inside a character", strings.Repeat("a", 199) + "€", strings.Repeat("a", 199)},
		{"no text", strings.Repeat("\x80", 300), "\ufffd"},
	} {
		if got := cut([]byte(c.arg)); got != c.want {
			t.Errorf("%s: cut = %q, want %q", c.name, got, c.want)
		}
	}
}
