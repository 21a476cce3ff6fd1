package proc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"syscall"
	"unsafe"

	"tower/core"
)

// Not verified: compiled only. The layout is that of struct kinfo_proc on 64-bit systems, start is
// its p_starttime in microseconds since 1970. The system tells neither working directories nor
// locks without a library, so those are unknown here.

type scratch struct{}

const (
	ctlKern       = 1
	kernProc      = 14
	kernProcAll   = 0
	kernProcPID   = 1
	kernProcArgs2 = 49

	kinfoSize  = 648
	kinfoStat  = 36
	kinfoPID   = 40
	kinfoComm  = 243
	kinfoPPID  = 560
	kinfoGroup = 564
	kinfoTTY   = 572
	kinfoTPGID = 576
	stateDead  = 5 // SZOMB
)

func boot() string {
	id, err := syscall.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return strings.ToLower(id)
}

func sysctl(mib ...int32) ([]byte, error) {
	var size uintptr
	for range 8 { // the answer may grow between the two calls
		if err := rawSysctl(mib, nil, &size); err != nil {
			return nil, err
		}
		size += size/8 + 64
		b := make([]byte, size)
		err := rawSysctl(mib, unsafe.Pointer(&b[0]), &size)
		if err == nil {
			return b[:size], nil
		}
		if err != syscall.ENOMEM {
			return nil, err
		}
	}
	return nil, syscall.ENOMEM
}

func rawSysctl(mib []int32, to unsafe.Pointer, size *uintptr) error {
	_, _, errno := syscall.Syscall6(syscall.SYS___SYSCTL, uintptr(unsafe.Pointer(&mib[0])), uintptr(len(mib)),
		uintptr(to), uintptr(unsafe.Pointer(size)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func readRows(_ *scratch, last []core.Proc) ([]core.Proc, error) {
	b, err := sysctl(ctlKern, kernProc, kernProcAll)
	if err != nil {
		return nil, fmt.Errorf("read processes: %w", err)
	}
	rows := make([]core.Proc, 0, len(last)+16)
	for ; len(b) >= kinfoSize; b = b[kinfoSize:] {
		if p := parseKinfo(b); p.PID > 0 {
			rows = append(rows, p)
		}
	}
	return rows, nil
}

func row(pid int) (core.Proc, bool) {
	if pid <= 0 {
		return core.Proc{}, false
	}
	b, err := sysctl(ctlKern, kernProc, kernProcPID, int32(pid))
	if err != nil || len(b) < kinfoSize {
		return core.Proc{}, false
	}
	p := parseKinfo(b)
	return p, p.PID == pid
}

func parseKinfo(b []byte) core.Proc {
	number := func(at int) int32 { return int32(binary.LittleEndian.Uint32(b[at:])) }
	p := core.Proc{
		PID:   int(number(kinfoPID)),
		PPID:  int(number(kinfoPPID)),
		Start: binary.LittleEndian.Uint64(b)*1_000_000 + uint64(binary.LittleEndian.Uint32(b[8:])),
		Group: int(number(kinfoGroup)),
		TPGID: int(number(kinfoTPGID)),
		State: 'S',
	}
	if tty := number(kinfoTTY); tty != -1 {
		p.TTY = uint64(uint32(tty))
	}
	if b[kinfoStat] == stateDead {
		p.State = 'Z'
	}
	comm := b[kinfoComm : kinfoComm+17]
	if end := bytes.IndexByte(comm, 0); end >= 0 {
		comm = comm[:end]
	}
	p.Comm = string(comm)
	return p
}

// image reads what a process was started with: a count, the path, padding, arguments, environment.
func image(pid int) (exe string, args []string, env map[string]string, ok bool) {
	b, err := sysctl(ctlKern, kernProcArgs2, int32(pid))
	if err != nil || len(b) < 4 {
		return "", nil, nil, false
	}
	count := int(binary.LittleEndian.Uint32(b))
	path, rest, found := bytes.Cut(b[4:], []byte{0})
	if !found {
		return "", nil, nil, false
	}
	rest = bytes.TrimLeft(rest, "\x00")
	env = map[string]string{}
	for i := 0; len(rest) > 0; i++ {
		var one []byte
		one, rest, _ = bytes.Cut(rest, []byte{0})
		if i < count {
			args = append(args, string(one))
		} else if name, value, ok := strings.Cut(string(one), "="); ok && name != "" {
			env[name] = value
		}
	}
	return string(path), args, env, true
}

func exe(pid int) (string, bool) {
	path, _, _, ok := image(pid)
	return path, ok && path != ""
}

func args(pid int) ([]string, bool) {
	_, list, _, ok := image(pid)
	return list, ok && len(list) > 0
}

func environ(pid int) (map[string]string, bool) {
	_, _, env, ok := image(pid)
	return env, ok
}

func firstArgs(pid int) []string { return firstOf(args(pid)) }

func cwd(int) (string, bool)         { return "", false }
func openFiles(int) ([]string, bool) { return nil, false }
