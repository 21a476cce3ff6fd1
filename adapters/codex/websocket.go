package codex

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
)

// socket is a WebSocket client over a Unix socket: text messages out, text messages in, nothing else
// of RFC 6455. A library would bring an HTTP client that has to be talked out of host names and
// proxies, for a handshake and a frame header.
type socket struct {
	conn net.Conn
	in   *bufio.Reader
}

const (
	opText  = 1
	opClose = 8
	opPing  = 9
	opPong  = 10

	// largest is the longest message that is read; a thread's state is some kilobytes.
	largest = 4 << 20
	// acceptGUID is the fixed string of the protocol's handshake.
	acceptGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
)

var (
	errHandshake = errors.New("the other side does not speak WebSocket")
	errClosed    = errors.New("the other side closed the connection")
	errTooLong   = errors.New("the message is too long")
)

// dial connects. The deadline of the context, which it must have, holds for everything done on the
// socket afterwards.
func dial(ctx context.Context, path string) (*socket, error) {
	// The link is resolved first: its target may be shorter than what a socket address can hold.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	s := &socket{conn: conn, in: bufio.NewReader(conn)}
	if deadline, ok := ctx.Deadline(); ok {
		err = conn.SetDeadline(deadline)
	}
	if err == nil {
		err = s.handshake()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

func (s *socket) handshake() error {
	var nonce [16]byte
	rand.Read(nonce[:])
	key := base64.StdEncoding.EncodeToString(nonce[:])
	if _, err := io.WriteString(s.conn, "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Key: "+key+"\r\nSec-WebSocket-Version: 13\r\n\r\n"); err != nil {
		return err
	}
	answer, err := http.ReadResponse(s.in, nil)
	if err != nil {
		return fmt.Errorf("read handshake: %w", err)
	}
	want := sha1.Sum([]byte(key + acceptGUID))
	if answer.StatusCode != http.StatusSwitchingProtocols ||
		answer.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(want[:]) {
		return errHandshake
	}
	return nil
}

func (s *socket) close() { s.conn.Close() }

// write sends one text message.
func (s *socket) write(message []byte) error { return s.frame(opText, message) }

// frame sends one frame, masked as a client's have to be.
func (s *socket) frame(op byte, data []byte) error {
	b := make([]byte, 0, len(data)+14)
	b = append(b, 0x80|op)
	switch n := len(data); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n <= 0xffff:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	var mask [4]byte
	rand.Read(mask[:])
	b = append(b, mask[:]...)
	for i, c := range data {
		b = append(b, c^mask[i%4])
	}
	_, err := s.conn.Write(b)
	return err
}

// read returns the next text message; pings on the way are answered.
func (s *socket) read() ([]byte, error) {
	var message []byte
	for {
		var h [2]byte
		if _, err := io.ReadFull(s.in, h[:]); err != nil {
			return nil, err
		}
		n, err := s.length(h[1])
		if err != nil {
			return nil, err
		}
		if n > largest || uint64(len(message))+n > largest {
			return nil, errTooLong
		}
		data := make([]byte, n)
		if _, err := io.ReadFull(s.in, data); err != nil {
			return nil, err
		}
		switch op := h[0] & 0x0f; op {
		case opClose:
			return nil, errClosed
		case opPing:
			if err := s.frame(opPong, data); err != nil {
				return nil, err
			}
		case opPong:
		default: // text, or the continuation of one
			message = append(message, data...)
			if h[0]&0x80 != 0 {
				return message, nil
			}
		}
	}
}

func (s *socket) length(b byte) (uint64, error) {
	if b&0x80 != 0 {
		return 0, errHandshake // a server does not mask
	}
	switch n := b & 0x7f; n {
	case 126:
		var w [2]byte
		_, err := io.ReadFull(s.in, w[:])
		return uint64(binary.BigEndian.Uint16(w[:])), err
	case 127:
		var w [8]byte
		_, err := io.ReadFull(s.in, w[:])
		return binary.BigEndian.Uint64(w[:]), err
	default:
		return uint64(n), nil
	}
}
