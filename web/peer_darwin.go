package web

import (
	"net"

	"golang.org/x/sys/unix"
)

func peerOf(c *net.UnixConn) peer {
	raw, err := c.SyscallConn()
	if err != nil {
		return peer{known: true, err: err}
	}
	p := peer{known: true}
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, p.err = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); p.err != nil {
			return
		}
		p.uid = int(cred.Uid)
		p.pid, p.err = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	if p.err == nil {
		p.err = err
	}
	return p
}
