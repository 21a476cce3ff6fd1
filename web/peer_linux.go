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
		var cred *unix.Ucred
		if cred, p.err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); p.err == nil {
			p.pid, p.uid = int(cred.Pid), int(cred.Uid)
		}
	})
	if p.err == nil {
		p.err = err
	}
	return p
}
