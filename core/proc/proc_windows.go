package proc

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"unsafe"

	"tower/core"
)

// Not verified: compiled only. Start is the creation time of GetProcessTimes in 100 ns. A process
// that cannot be opened (another user's, a protected one) has no start and is left out of the table.
// Working directories, environments and open files lie in the memory of the process itself and are
// unknown here.

type scratch struct{}

const (
	queryLimited    = 0x1000 // PROCESS_QUERY_LIMITED_INFORMATION
	infoCommandLine = 60     // ProcessCommandLineInformation
	stillActive     = 259
)

var (
	kernel32        = syscall.NewLazyDLL("kernel32.dll")
	ntdll           = syscall.NewLazyDLL("ntdll.dll")
	procImageName   = kernel32.NewProc("QueryFullProcessImageNameW")
	procInformation = ntdll.NewProc("NtQueryInformationProcess")
)

// boot returns the count of boots that Windows keeps in the registry: it has no id, and the time of
// the boot moves with the clock.
func boot() string {
	path, err := syscall.UTF16PtrFromString(`SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters`)
	if err != nil {
		return ""
	}
	var key syscall.Handle
	if syscall.RegOpenKeyEx(syscall.HKEY_LOCAL_MACHINE, path, 0, syscall.KEY_READ, &key) != nil {
		return ""
	}
	defer syscall.RegCloseKey(key)
	name, err := syscall.UTF16PtrFromString("BootId")
	if err != nil {
		return ""
	}
	var kind, count uint32
	size := uint32(unsafe.Sizeof(count))
	if syscall.RegQueryValueEx(key, name, nil, &kind, (*byte)(unsafe.Pointer(&count)), &size) != nil || kind != syscall.REG_DWORD {
		return ""
	}
	return "boot-" + strconv.FormatUint(uint64(count), 10)
}

func each(f func(*syscall.ProcessEntry32) bool) error {
	snapshot, err := syscall.CreateToolhelp32Snapshot(syscall.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return fmt.Errorf("read processes: %w", err)
	}
	defer syscall.CloseHandle(snapshot)
	var e syscall.ProcessEntry32
	e.Size = uint32(unsafe.Sizeof(e))
	for err = syscall.Process32First(snapshot, &e); err == nil; err = syscall.Process32Next(snapshot, &e) {
		if !f(&e) {
			return nil
		}
	}
	if !errors.Is(err, syscall.ERROR_NO_MORE_FILES) {
		return fmt.Errorf("read processes: %w", err)
	}
	return nil
}

func rowOf(e *syscall.ProcessEntry32) (core.Proc, bool) {
	p := core.Proc{PID: int(e.ProcessID), PPID: int(e.ParentProcessID), State: 'S', Comm: syscall.UTF16ToString(e.ExeFile[:])}
	h, err := syscall.OpenProcess(queryLimited, false, e.ProcessID)
	if err != nil {
		return p, false
	}
	defer syscall.CloseHandle(h)
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(h, &created, &exited, &kernel, &user) != nil {
		return p, false
	}
	p.Start = uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
	var code uint32
	if syscall.GetExitCodeProcess(h, &code) == nil && code != stillActive {
		p.State = 'Z' // ended, but somebody holds a handle
	}
	return p, true
}

func readRows(_ *scratch, last []core.Proc) ([]core.Proc, error) {
	rows := make([]core.Proc, 0, len(last)+16)
	err := each(func(e *syscall.ProcessEntry32) bool {
		if p, ok := rowOf(e); ok {
			rows = append(rows, p)
		}
		return true
	})
	return rows, err
}

func row(pid int) (p core.Proc, ok bool) {
	if pid <= 0 {
		return p, false
	}
	each(func(e *syscall.ProcessEntry32) bool {
		if int(e.ProcessID) == pid {
			p, ok = rowOf(e)
			return false
		}
		return true
	})
	return p, ok
}

func exe(pid int) (string, bool) {
	h, err := syscall.OpenProcess(queryLimited, false, uint32(pid))
	if err != nil {
		return "", false
	}
	defer syscall.CloseHandle(h)
	name := make([]uint16, 32<<10)
	size := uint32(len(name))
	done, _, _ := procImageName.Call(uintptr(h), 0, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&size)))
	if done == 0 {
		return "", false
	}
	return syscall.UTF16ToString(name[:size]), true
}

// unicodeString is the head of what NtQueryInformationProcess returns; Text points behind it.
type unicodeString struct {
	Length, Maximum uint16
	Text            *uint16
}

func args(pid int) ([]string, bool) {
	h, err := syscall.OpenProcess(queryLimited, false, uint32(pid))
	if err != nil {
		return nil, false
	}
	defer syscall.CloseHandle(h)
	var size uint32
	procInformation.Call(uintptr(h), infoCommandLine, 0, 0, uintptr(unsafe.Pointer(&size)))
	head := unsafe.Sizeof(unicodeString{})
	if uintptr(size) < head || size > 1<<20 {
		return nil, false
	}
	buf := make([]uintptr, uintptr(size)/unsafe.Sizeof(uintptr(0))+1) // aligned for the pointer in it
	status, _, _ := procInformation.Call(uintptr(h), infoCommandLine, uintptr(unsafe.Pointer(&buf[0])), uintptr(size), uintptr(unsafe.Pointer(&size)))
	if status != 0 {
		return nil, false
	}
	line := (*unicodeString)(unsafe.Pointer(&buf[0]))
	if line.Text == nil || line.Length == 0 {
		return nil, false
	}
	text := append(append([]uint16{}, unsafe.Slice(line.Text, line.Length/2)...), 0)
	var count int32
	list, err := syscall.CommandLineToArgv(&text[0], &count)
	if err != nil {
		return nil, false
	}
	defer syscall.LocalFree(syscall.Handle(unsafe.Pointer(list)))
	args := make([]string, 0, count)
	for _, arg := range list[:min(int(count), len(list))] {
		args = append(args, syscall.UTF16ToString(arg[:]))
	}
	return args, len(args) > 0
}

func firstArgs(pid int) []string { return firstOf(args(pid)) }

func cwd(int) (string, bool)                { return "", false }
func environ(int) (map[string]string, bool) { return nil, false }
func openFiles(int) ([]string, bool)        { return nil, false }
