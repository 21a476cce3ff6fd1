package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"tower/core"
)

// readLocks lists the whole-file locks that are held; a waiting one ("->") is not.
func (t *Table) readLocks() []core.Lock {
	b, ok := readSome("/proc/locks")
	if !ok {
		return nil
	}
	locks := parseLocks(b)
	for i := range locks {
		t.realDevice(&locks[i])
	}
	return locks
}

// parseLocks reads /proc/locks, see proc_locks(5):
//
//	1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF
func parseLocks(b []byte) []core.Lock {
	var locks []core.Lock
	for line := range bytes.Lines(b) {
		f := bytes.Fields(line)
		if len(f) != 8 || string(f[6]) != "0" || string(f[7]) != "EOF" {
			continue
		}
		pid, ok := number(f[4])
		if !ok || pid <= 0 { // an open file description's own lock has no owner
			continue
		}
		place := bytes.Split(f[5], []byte(":"))
		if len(place) != 3 {
			continue
		}
		major, err1 := strconv.ParseUint(string(place[0]), 16, 32)
		minor, err2 := strconv.ParseUint(string(place[1]), 16, 32)
		inode, err3 := strconv.ParseUint(string(place[2]), 10, 64)
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		locks = append(locks, core.Lock{PID: int(pid), Device: device(major, minor), Inode: inode})
	}
	return locks
}

// device puts a number together the way stat(2) returns it.
func device(major, minor uint64) uint64 {
	return minor&0xff | major<<8 | (minor&^0xff)<<12
}

// realDevice mends the device of a lock on a file system without a disk of its own (major number 0:
// btrfs, overlay). The kernel's list names the file system there, but stat(2) names the subvolume or
// the layer, and adapters compare with stat. Only the owner's own descriptors tell which one it is;
// what cannot be seen there stays as listed. Just the locked file itself is asked for, because a
// stat of any other descriptor may hang on a server that is away.
func (t *Table) realDevice(l *core.Lock) {
	if l.Device>>8&0xfff != 0 {
		return
	}
	owner, ok := t.Proc(l.PID)
	if !ok {
		return
	}
	key := lockKey{*l, owner.Start}
	if d, ok := t.devices.get(key); ok {
		l.Device = d
		return
	}
	f, err := os.Open(procPath(l.PID, "fdinfo"))
	if err != nil {
		return
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return
	}
	mark := []byte(":" + strconv.FormatUint(l.Inode, 10) + " 0 EOF")
	for _, name := range names {
		info, ok := readSome(procPath(l.PID, "fdinfo/"+name))
		if !ok || !bytes.Contains(info, mark) {
			continue
		}
		var st syscall.Stat_t
		if syscall.Stat(procPath(l.PID, "fd/"+name), &st) == nil && st.Ino == l.Inode {
			l.Device = uint64(st.Dev)
			t.devices.put(key, l.Device)
			return
		}
	}
}
