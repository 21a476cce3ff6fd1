package launch

import (
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// noSignal is an all-zero struct sigaction, longer than any architecture's: the default action, no
// flags, an empty mask.
var noSignal [256]byte

// defaultAction gives a signal its default action in the kernel, past the runtime. Notify and Reset of
// os/signal cannot be used for all: the runtime gives a signal that was ignored when the program
// started back to being ignored, and what is ignored stays so through execve.
func defaultAction(sig int) {
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&noSignal)), 0, setSize, 0, 0)
}

// setSize is the kernel's own size of a set of signals.
const setSize = (signals + 7) / 8

func hangUp() { defaultAction(int(syscall.SIGHUP)) }

// freshSignals leaves no signal ignored and none blocked. From here on a signal does what it would do
// to the agent; SIGKILL and SIGSTOP cannot be changed and say so.
func freshSignals() {
	for sig := 1; sig <= signals; sig++ {
		defaultAction(sig)
	}
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil) // fails only for a wrong address
}

// closeOnExec keeps what the terminal left open from the agent.
func closeOnExec() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil {
		closeListed("/proc/self/fd") // a kernel before 5.11
	}
}

func dup(from, to int) error { return syscall.Dup3(from, to, 0) }

// ttyName finds the name of the controlling terminal: what one of the standard descriptors is, or the
// pseudo terminal of that number.
func ttyName(device uint64) string {
	names := []string{"/dev/pts/" + strconv.FormatUint(uint64(minor(device)), 10)}
	for _, fd := range []string{"0", "1", "2"} {
		if to, err := os.Readlink("/proc/self/fd/" + fd); err == nil && strings.HasPrefix(to, "/dev/") {
			names = append([]string{to}, names...)
		}
	}
	for _, name := range names {
		var st unix.Stat_t
		if unix.Stat(name, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && encode(uint64(st.Rdev)) == device {
			return name
		}
	}
	return ""
}

// encode makes of a device what field 7 of /proc/PID/stat holds: the kernel's own order of the bits.
func encode(dev uint64) uint64 {
	major, minor := uint64(unix.Major(dev)), uint64(unix.Minor(dev))
	return minor&0xff | major<<8 | minor&^0xff<<12
}

func minor(device uint64) uint32 { return uint32(device&0xff | device>>12&^0xff) }
