package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"tower/core"
)

// scratch holds the buffers of a Reader between its reads.
type scratch struct {
	names []byte // directory entries of /proc
	stat  []byte // one stat line
	path  []byte // "1234/stat", closed by a NUL
}

const (
	kernelThread = 0x00200000 // PF_KTHREAD of include/linux/sched.h
	mostBytes    = 4 << 20    // of an argument list or environment; the kernel's own limit is below
)

func boot() string {
	var buf [64]byte
	b, err := readInto("/proc/sys/kernel/random/boot_id", buf[:])
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b))
}

// readRows makes one pass over /proc with raw calls into reused buffers: twice as fast as os.ReadFile
// for every process, and free of garbage but for the rows. last lends its strings.
func readRows(s *scratch, last []core.Proc) ([]core.Proc, error) {
	if s.names == nil {
		s.names, s.stat, s.path = make([]byte, 32<<10), make([]byte, 4<<10), make([]byte, 0, 32)
	}
	dir, err := syscall.Open("/proc", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /proc: %w", err)
	}
	defer syscall.Close(dir)

	rows := make([]core.Proc, 0, len(last)+16)
	for {
		n, err := syscall.ReadDirent(dir, s.names)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list /proc: %w", err)
		}
		if n <= 0 {
			break
		}
		for rest := s.names[:n]; len(rest) >= direntName; {
			size := int(*(*uint16)(unsafe.Pointer(&rest[direntSize])))
			if size < direntName || size > len(rest) {
				break
			}
			name := rest[direntName:size]
			rest = rest[size:]
			pid, ok := pidOf(name)
			if !ok {
				continue
			}
			for len(last) > 0 && last[0].PID < pid {
				last = last[1:]
			}
			comm := ""
			if len(last) > 0 && last[0].PID == pid {
				comm = last[0].Comm
			}
			var p core.Proc
			var kernel, read bool
			for try := 0; try == 0 || read && released(p) && again(try); try++ {
				line, err := s.readStat(dir, pid)
				if err != nil {
					return nil, err
				}
				p, kernel, read = parseStat(line, comm)
			}
			if read && !kernel {
				rows = append(rows, p)
			}
		}
	}
	return rows, nil
}

// released tells whether a row is of a thread that was let go while it was read: it has no group any more. The
// row is then that of the thread that went on, or nobody's, but on a busy machine not at once: it is read again
// for some milliseconds at the most.
func released(p core.Proc) bool { return p.Dead() && p.Group < 0 }

// again tells whether a row that was released is to be read once more, and waits a little before.
func again(try int) bool {
	if try >= 3 {
		time.Sleep(100 * time.Microsecond)
	}
	return try < 30
}

// Offsets in a struct linux_dirent64, the same everywhere.
const (
	direntSize = 16
	direntName = 19
)

func pidOf(name []byte) (int, bool) {
	n := 0
	for i, c := range name {
		if c == 0 && i > 0 {
			return n, true
		}
		if c < '0' || c > '9' || i > 9 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(name) > 0
}

// readStat returns the stat line of a process, or nil when it has vanished or is hidden. It fails
// only for a reason that would make other processes look gone as well.
func (s *scratch) readStat(dir, pid int) ([]byte, error) {
	s.path = append(strconv.AppendInt(s.path[:0], int64(pid), 10), "/stat\x00"...)
	var fd int
	for {
		r, _, errno := syscall.Syscall6(syscall.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(&s.path[0])),
			syscall.O_RDONLY|syscall.O_CLOEXEC, 0, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		switch errno {
		case 0:
		case syscall.ENOENT, syscall.ESRCH, syscall.EACCES, syscall.EPERM:
			return nil, nil
		default:
			return nil, fmt.Errorf("open /proc/%d/stat: %w", pid, errno)
		}
		fd = int(r)
		break
	}
	defer syscall.Close(fd)
	for {
		n, err := syscall.Read(fd, s.stat)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return nil, nil // it ended between open and read
		}
		return s.stat[:n], nil
	}
}

// row reads one process.
func row(pid int) (core.Proc, bool) {
	if pid <= 0 {
		return core.Proc{}, false
	}
	var buf [1 << 10]byte
	var p core.Proc
	var ok bool
	for try := 0; try == 0 || ok && released(p) && again(try); try++ {
		line, err := readInto(procPath(pid, "stat"), buf[:])
		if err != nil {
			return core.Proc{}, false
		}
		p, _, ok = parseStat(line, "")
	}
	return p, ok
}

// parseStat reads a line of /proc/PID/stat, see proc_pid_stat(5). The name may hold blanks, brackets
// and line ends, so counting begins behind the last bracket. comm is returned in place of an equal
// name, to save the copy.
//
// A kernel thread is known by its flag, not by the parent 2: inside a container pid 2 is anybody.
//
// The state is that of the first thread, and a process lives as long as any of its threads does. One that
// becomes another program from a thread other than its first is a zombie by that state for a moment: its first
// thread has to end before the one that goes on can take its place. So it is told as dead only when no second
// thread is left, and what was released while it was read is read again: by then the number is that of the
// thread that went on, or nobody's.
func parseStat(line []byte, comm string) (p core.Proc, kernel, ok bool) {
	from, to := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if from < 2 || to < from || to+4 > len(line) {
		return p, false, false
	}
	pid, ok := number(line[:from-1])
	if !ok {
		return p, false, false
	}
	p.PID = int(pid)
	if name := line[from+1 : to]; string(name) == comm {
		p.Comm = comm
	} else {
		p.Comm = string(name)
	}
	p.State = line[to+2]
	rest := line[to+3:]
	for field := 4; field <= 22; field++ {
		rest = bytes.TrimLeft(rest, " ")
		end := bytes.IndexByte(rest, ' ')
		if end < 0 {
			end = len(bytes.TrimRight(rest, "\n"))
		}
		if field <= 9 || field == 20 || field == 22 {
			n, ok := number(rest[:end])
			if !ok {
				return p, false, false
			}
			switch field {
			case 4:
				p.PPID = int(n)
			case 5:
				p.Group = int(n)
			case 6:
				p.SID = int(n)
			case 7:
				p.TTY = uint64(uint32(n))
			case 8:
				p.TPGID = int(n)
			case 9:
				kernel = n&kernelThread != 0
			case 20:
				if p.Dead() && n > 1 {
					p.State = 'S' // see above
				}
			case 22:
				p.Start = uint64(n)
			}
		}
		rest = rest[end:]
	}
	return p, kernel, true
}

func number(b []byte) (int64, bool) {
	negative := len(b) > 1 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

func exe(pid int) (string, bool) { return link(pid, "exe") }
func cwd(pid int) (string, bool) { return link(pid, "cwd") }

func link(pid int, name string) (string, bool) {
	to, err := os.Readlink(procPath(pid, name))
	return to, err == nil && to != ""
}

// args returns the argument list. A program that writes a title over it leaves a tail of NULs, which
// are no arguments.
func args(pid int) ([]string, bool) {
	b, ok := readSome(procPath(pid, "cmdline"))
	if !ok {
		return nil, false
	}
	b = bytes.TrimRight(b, "\x00")
	if len(b) == 0 {
		return nil, false // a zombie or a kernel thread
	}
	return strings.Split(string(b), "\x00"), true
}

func environ(pid int) (map[string]string, bool) {
	b, ok := readSome(procPath(pid, "environ"))
	if !ok {
		return nil, false
	}
	env := map[string]string{}
	for pair := range strings.SplitSeq(string(b), "\x00") {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" {
			if _, twice := env[name]; !twice { // getenv takes the first
				env[name] = value
			}
		}
	}
	return env, true
}

func openFiles(pid int) ([]string, bool) {
	dir := procPath(pid, "fd")
	f, err := os.Open(dir)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, false
	}
	files := make([]string, 0, len(names))
	for _, name := range names {
		if to, err := os.Readlink(dir + "/" + name); err == nil {
			files = append(files, to)
		}
	}
	return files, true
}

// readInto reads a file of /proc that fits into a buffer. The os package would first try to poll it,
// which makes three system calls into eight.
func readInto(path string, buf []byte) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	for {
		n, err := syscall.Read(fd, buf)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		return buf[:n], nil
	}
}

// readSome reads a file of /proc, whose size nobody knows before.
func readSome(path string) ([]byte, bool) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer syscall.Close(fd)
	b := make([]byte, 0, 4<<10)
	for len(b) < mostBytes {
		if len(b) == cap(b) {
			b = append(b, make([]byte, len(b))...)[:len(b)]
		}
		n, err := syscall.Read(fd, b[len(b):cap(b)])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, false
		}
		if n <= 0 {
			break
		}
		b = b[:len(b)+n]
	}
	return b, true
}

// firstArgs returns the beginnings of the first arguments, reading no more than they take: a prompt
// among them can be long.
func firstArgs(pid int) []string {
	fd, err := syscall.Open(procPath(pid, "cmdline"), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	var (
		list  []string
		arg   []byte
		buf   [1 << 10]byte // small, so that the hook's stack need not grow
		total int
	)
	for total < mostBytes {
		n, err := syscall.Read(fd, buf[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		total += n
		for _, c := range buf[:n] {
			if c != 0 {
				if len(arg) <= ancestorArg+4 { // enough to see whether it is cut inside a character
					arg = append(arg, c)
				}
				continue
			}
			list = append(list, cut(arg))
			arg = arg[:0]
			if len(list) == ancestorArgs {
				return trimEmpty(list)
			}
		}
	}
	if len(arg) > 0 {
		list = append(list, cut(arg))
	}
	return trimEmpty(list)
}

func trimEmpty(list []string) []string {
	for len(list) > 0 && list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}
