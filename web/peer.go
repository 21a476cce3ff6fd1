package web

// peer is who the kernel says is at the other end of a socket.
type peer struct {
	pid   int
	uid   int
	known bool // false: this system tells nothing, and the socket's folder (0700) is the guard
	err   error
}
