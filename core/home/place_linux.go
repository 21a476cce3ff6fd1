package home

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// magics are the numbers statfs gives for network file systems, for when the mount table is not to
// be had.
var magics = map[uint32]string{
	0x6969:     "nfs",
	0x517b:     "smb",
	0xff534d42: "cifs",
	0xfe534d42: "smb2",
	0x564c:     "ncp",
	0x5346414f: "afs",
	0x6b414653: "kafs",
	0x73757245: "coda",
	0x00c36400: "ceph",
	0x01021997: "9p",
	0x0bd00bd0: "lustre",
	0x47504653: "gpfs",
	0x19830326: "beegfs",
	0x20030528: "orangefs",
	0x01161970: "gfs2",
	0x7461636f: "ocfs2",
	0x786f4256: "vboxsf",
	0xbacbacbc: "vmhgfs",
}

// fileSystem names the type of the file system that holds an existing folder. The mount table is
// asked first because statfs knows every FUSE program under one number only.
func fileSystem(dir string) string {
	if table, err := os.ReadFile("/proc/self/mountinfo"); err == nil {
		if name := mountedType(table, dir); networkName(name) != "" {
			return name
		}
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return ""
	}
	return magics[uint32(st.Type)]
}

// mountedType finds in a mount table (see proc_pid_mountinfo(5)) the type of the deepest mount above
// a folder; of several at one place the last one lies on top.
func mountedType(table []byte, dir string) string {
	best, name := -1, ""
	for line := range bytes.Lines(table) {
		fields := strings.Fields(string(line))
		if len(fields) < 7 {
			continue
		}
		point := unescape(fields[4])
		if !within(dir, point) || len(point) < best {
			continue
		}
		for i, f := range fields[6:] {
			if f == "-" && 6+i+1 < len(fields) {
				best, name = len(point), fields[6+i+1]
				break
			}
		}
	}
	return name
}

func within(dir, point string) bool {
	if point == "/" || dir == point {
		return true
	}
	return strings.HasPrefix(dir, point+string(filepath.Separator))
}

// unescape undoes the octal form in which the kernel writes blanks and backslashes.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
