package term

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// kitty's remote control is spoken over its socket directly. Its own program `kitty @` says the same after
// 150 ms of starting up, and need not be on the PATH of a program that was started with the session.
const (
	kittyLimit  = 2 * time.Second
	kittyAnswer = 16 << 20 // the most an answer may have; ls tells every window's environment
	// kitty gives up on a message of 64 KB; base64 makes four bytes of three.
	kittyChunk = 24 << 10
)

// Versions that are claimed. A kitty refuses whoever claims to be newer than itself, so the first is taken by
// all. The second is one whose kitty brackets a paste when the program asked for it, by an option others
// do not know and would ignore.
var (
	kittyAny        = [3]int{0, 14, 2}
	kittyBracketing = [3]int{0, 33, 0}
)

// kittyTooOld is how a kitty begins to refuse a newer one.
const kittyTooOld = "The kitty client you are using to send remote commands is newer"

var errKittyGone = errors.New("no kitty listens there")

type kittyConn struct {
	conn net.Conn
	r    *bufio.Reader
	stop func() bool
}

// dialKitty connects to an address as KITTY_LISTEN_ON gives it. It fails with errKittyGone when no process is
// there any more.
func dialKitty(ctx context.Context, address string) (*kittyConn, error) {
	network, where, ok := strings.Cut(address, ":")
	switch {
	case !ok || where == "":
		return nil, fmt.Errorf("dial kitty: bad address %q", address)
	case network == "unix":
	case network == "tcp":
		host, _, err := net.SplitHostPort(where)
		if ip := net.ParseIP(host); err != nil || host != "localhost" && !ip.IsLoopback() {
			return nil, fmt.Errorf("dial kitty: %q is not on this machine", address)
		}
	default:
		return nil, fmt.Errorf("dial kitty: bad address %q", address)
	}
	dialer := net.Dialer{Timeout: kittyLimit}
	conn, err := dialer.DialContext(ctx, network, where)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("dial kitty at %s: %w", address, errKittyGone)
	}
	if err != nil {
		return nil, fmt.Errorf("dial kitty: %w", err)
	}
	return &kittyConn{conn: conn, r: bufio.NewReader(conn), stop: context.AfterFunc(ctx, func() { conn.Close() })}, nil
}

func (k *kittyConn) Close() {
	k.stop()
	k.conn.Close()
}

type kittyCommand struct {
	Cmd        string `json:"cmd"`
	Version    [3]int `json:"version"`
	NoResponse bool   `json:"no_response"`
	Payload    any    `json:"payload"`
}

// Both sides wrap a line of JSON without control characters into a device control string.
var (
	kittyOpen  = []byte("\x1bP@kitty-cmd")
	kittyClose = []byte("\x1b\\")
)

// tell sends a command.
func (k *kittyConn) tell(c kittyCommand) error {
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("tell kitty %s: %w", c.Cmd, err)
	}
	k.conn.SetDeadline(time.Now().Add(kittyLimit))
	if _, err := k.conn.Write(slices.Concat(kittyOpen, body, kittyClose)); err != nil {
		return fmt.Errorf("tell kitty %s: %w", c.Cmd, err)
	}
	return nil
}

// ask sends a command and returns the data of its answer.
func (k *kittyConn) ask(c kittyCommand) (json.RawMessage, error) {
	if err := k.tell(c); err != nil {
		return nil, err
	}
	body, err := readKitty(k.r)
	if err != nil {
		return nil, fmt.Errorf("ask kitty %s: %w", c.Cmd, err)
	}
	var answer struct {
		OK    bool            `json:"ok"`
		Data  json.RawMessage `json:"data"`
		Error string          `json:"error"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("ask kitty %s: read answer: %w", c.Cmd, err)
	}
	if !answer.OK {
		return nil, kittyError(answer.Error)
	}
	return answer.Data, nil
}

// kittyError is what kitty answers when it will not.
type kittyError string

func (e kittyError) Error() string { return "kitty: " + string(e) }

// readKitty reads one answer and takes the wrapping off.
func readKitty(r *bufio.Reader) ([]byte, error) {
	var all []byte
	for {
		part, err := r.ReadSlice(kittyClose[1])
		all = append(all, part...)
		switch {
		case err == nil && bytes.HasSuffix(all, kittyClose):
			body, ok := bytes.CutPrefix(all[:len(all)-len(kittyClose)], kittyOpen)
			if !ok {
				return nil, errors.New("not an answer of kitty")
			}
			return body, nil
		case len(all) > kittyAnswer:
			return nil, errors.New("an answer without end")
		case err == nil || errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// kittyWindow is one window as `ls` tells it. The environment it also tells is never read.
type kittyWindow struct {
	ID    int    `json:"id"`
	PID   int    `json:"pid"`
	Title string `json:"title"`
	kittyActive

	os      int  // X id of the window of the desktop, 0 = none
	front   bool // nothing of its own window of the desktop covers it
	focused bool // and that has the focus
}

// kittyActive is how a window or a tab tells that it is the one shown; the word differs by version.
type kittyActive struct {
	Now    bool `json:"is_active"`
	Tab    bool `json:"is_active_tab"`
	Window bool `json:"is_active_window"`
}

func (a kittyActive) active() bool { return a.Now || a.Tab || a.Window }

// list returns every window of a kitty.
func (k *kittyConn) list(version [3]int) ([]kittyWindow, error) {
	data, err := k.ask(kittyCommand{Cmd: "ls", Version: version, Payload: struct{}{}})
	if err != nil {
		return nil, err
	}
	return readList(data)
}

func readList(data json.RawMessage) ([]kittyWindow, error) {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		data = json.RawMessage(text)
	}
	var windows []struct {
		OS    int  `json:"platform_window_id"`
		Focus bool `json:"is_focused"`
		Tabs  []struct {
			kittyActive
			Windows []kittyWindow `json:"windows"`
		} `json:"tabs"`
	}
	if err := json.Unmarshal(data, &windows); err != nil {
		return nil, fmt.Errorf("read kitty's list: %w", err)
	}
	var all []kittyWindow
	for _, o := range windows {
		for _, tab := range o.Tabs {
			for _, w := range tab.Windows {
				w.os, w.front = o.OS, tab.active() && w.active()
				w.focused = w.front && o.Focus
				all = append(all, w)
			}
		}
	}
	return all, nil
}

// window returns one window by its id.
func (k *kittyConn) window(id string) (kittyWindow, bool, error) {
	all, err := k.list(kittyAny)
	if err != nil {
		return kittyWindow{}, false, err
	}
	i := slices.IndexFunc(all, func(w kittyWindow) bool { return strconv.Itoa(w.ID) == id })
	if i < 0 {
		return kittyWindow{}, false, nil
	}
	return all[i], true, nil
}

// one is the payload that names one window. Nothing but digits enters it: match takes expressions.
func one(w kittyWindow) map[string]any { return map[string]any{"match": "id:" + strconv.Itoa(w.ID)} }
