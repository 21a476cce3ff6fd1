package core

// Process identifies one process for ever: a pid alone is reused. Start is the platform's raw
// integer for the creation time (Linux: field 22 of /proc/PID/stat, in clock ticks since boot),
// stored raw and compared exactly; Boot is the boot it counts from.
type Process struct {
	Boot  string `json:"boot_id"`
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// Known tells whether the process is identified at all.
func (p Process) Known() bool { return p.PID > 0 && p.Start > 0 }

// Proc is one row of the process table: what one read tells of a process.
type Proc struct {
	PID   int    `json:"pid"`
	PPID  int    `json:"ppid"`
	Start uint64 `json:"start"`
	State byte   `json:"state"` // as the kernel says: R S D Z X T ...
	Comm  string `json:"comm"`  // at most 15 bytes on Linux
	TTY   uint64 `json:"tty"`   // device number of the controlling terminal, 0 = none
	Group int    `json:"pgrp"`
	SID   int    `json:"sid"`
	TPGID int    `json:"tpgid"` // foreground process group of the terminal
}

// Dead tells whether the row is only what is left of a process that has ended.
func (p Proc) Dead() bool { return p.State == 'Z' || p.State == 'X' || p.State == 'x' }

// shells are the programs that wait on a prompt for the next command.
var shells = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "fish": true, "dash": true, "ksh": true, "ksh93": true, "mksh": true, "ash": true, "busybox": true,
	"tcsh": true, "csh": true, "nu": true, "xonsh": true, "elvish": true, "pwsh": true, "yash": true,
}

// IsShell tells whether a program of this name, without folder and ".exe", is a shell: what is typed into
// one runs as a command, and one that is left alone on its terminal can be hung up.
func IsShell(name string) bool { return shells[name] }

// Lock is one whole-file lock held by a process.
type Lock struct {
	PID    int    `json:"pid"`
	Device uint64 `json:"dev"`
	Inode  uint64 `json:"inode"`
}

// Table is the process table as one poll sees it. Adapters judge by it alone and never ask the
// operating system themselves, so that a recorded table tests them. The methods with a bool tell
// with false that the thing could not be read, which is unknown, not absent.
type Table interface {
	// Boot returns the id of the running boot.
	Boot() string
	// All calls f for every process until it returns false. Kernel threads are left out.
	All(f func(Proc) bool)
	// Proc returns one process.
	Proc(pid int) (Proc, bool)
	// Children returns the pids whose parent is pid, in ascending order.
	Children(pid int) []int
	// Exe returns the full path of the executable; " (deleted)" is kept.
	Exe(pid int) (string, bool)
	// Args returns the argument list.
	Args(pid int) ([]string, bool)
	// Cwd returns the working directory.
	Cwd(pid int) (string, bool)
	// Environ returns the environment the process started with.
	Environ(pid int) (map[string]string, bool)
	// Locks returns every whole-file lock on the machine.
	Locks() []Lock
	// OpenFiles returns the paths of a process's open descriptors.
	OpenFiles(pid int) ([]string, bool)
}

// Alive tells what the table knows of a process: alive, or not. A process that the table shows with
// another start is not the one asked for. A boot that is not the table's own is over.
func Alive(t Table, p Process) bool {
	if !p.Known() || p.Boot != t.Boot() {
		return false
	}
	row, ok := t.Proc(p.PID)
	return ok && row.Start == p.Start && !row.Dead()
}

// Ancestor is one step of a process's ancestry as the hook recorded it, nearest first. Args holds
// the first six arguments, each cut to 200 bytes.
type Ancestor struct {
	PID     int      `json:"pid"`
	PPID    int      `json:"ppid"`
	Created uint64   `json:"created"` // raw start, see Process
	Exe     string   `json:"exe"`
	Args    []string `json:"args"`
}

// Lineage is what an ancestry proves about the agents in it.
type Lineage struct {
	Proc   Process // the nearest process of the asked agent that can be a session's; zero if none
	Args   []string
	Nested *bool // another agent stands above it; nil below a shared daemon
	Shared bool  // Proc is the agent's shared machinery: it serves many sessions
}

// ReadAncestry finds the process of agent in a recorded ancestry and whether it runs inside another
// agent. Agents are counted, not processes: neighbouring processes of one agent (a wrapper and its
// worker, a pty host and what it hosts) are one. The walk stops at a process for which launched
// answers true (a person's own launch is never nested); launched may be nil.
func ReadAncestry(boot string, agents []AgentInfo, agent Agent, chain []Ancestor, launched func(Process) bool) Lineage {
	var l Lineage
	agentsSeen, previous := 0, Agent("")
	for _, a := range chain {
		who, helper := whose(agents, a)
		if who != "" {
			if who != previous && !helper {
				agentsSeen++
			}
			if who == agent && !l.Proc.Known() {
				l.Proc = Process{Boot: boot, PID: a.PID, Start: a.Created}
				l.Args, l.Shared = a.Args, helper
			}
		}
		previous = who
		if launched != nil && launched(Process{Boot: boot, PID: a.PID, Start: a.Created}) {
			break
		}
	}
	if l.Shared || !l.Proc.Known() {
		return l
	}
	nested := agentsSeen > 1
	l.Nested = &nested
	return l
}

func whose(agents []AgentInfo, a Ancestor) (Agent, bool) {
	for i := range agents {
		if agents[i].MatchExe(a.Exe, a.Args) {
			return agents[i].Agent, agents[i].IsHelper(a.Args)
		}
	}
	return "", false
}
