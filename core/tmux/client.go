package tmux

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tower/core"
)

// Client is somebody who shows a session: a terminal, or a program in control mode.
type Client struct {
	Name     string // what tmux calls it; of a terminal, its device
	PID      int
	Session  string // $1
	TTY      string
	Activity core.Instant
	Control  bool // shows nothing to anybody
}

var clientFormat = strings.Join([]string{"#{client_pid}", "#{session_id}", "#{client_activity}", "#{client_control_mode}",
	plain("client_tty"), plain("client_name")}, "\t")

// Clients returns the clients of the server, its control clients marked.
func (s *Server) Clients(ctx context.Context) ([]Client, error) {
	lines, err := s.run(ctx, "list-clients", "-F", clientFormat)
	if err != nil {
		return nil, fmt.Errorf("list tmux clients: %w", err)
	}
	clients := make([]Client, 0, len(lines))
	for _, line := range lines {
		f := strings.SplitN(line, "\t", 6)
		if len(f) != 6 {
			return nil, fmt.Errorf("list tmux clients: cannot read %.80q", line)
		}
		c := Client{Session: f[1], Control: f[3] == "1", TTY: f[4], Name: f[5]}
		c.PID, _ = strconv.Atoi(f[0])
		seconds, _ := strconv.ParseInt(f[2], 10, 64)
		c.Activity = core.Instant(seconds * 1000)
		clients = append(clients, c)
	}
	return clients, nil
}

// Show brings a pane before the eyes of a client and returns once the client was seen to show it. It
// refuses to take a client away from a session that would end for want of one.
func (s *Server) Show(ctx context.Context, client, paneID string) error {
	const notShown = "Not shown."
	if !isID(paneID, '%') {
		return fmt.Errorf("show tmux pane %q: %w", paneID, errNoID)
	}
	p, ok, err := s.Pane(ctx, paneID)
	if err != nil {
		return fmt.Errorf("show tmux pane: %w", err)
	}
	if !ok {
		return gonePane.refuse(notShown)
	}
	seen, err := s.seen(ctx, client)
	if err != nil {
		return fmt.Errorf("show tmux pane: %w", err)
	}
	if seen.session != p.Session && seen.last && seen.ephemeral {
		return &core.Refusal{What: notShown, Why: "The window that would show it is the only one of another session, which ends with its window.",
			Hint: "Attach to it in a window of its own."}
	}
	if _, err := s.run(ctx, "switch-client", "-c", client, "-t", paneID); err != nil {
		return fmt.Errorf("show tmux pane %s: %w", paneID, err)
	}
	if seen, err = s.seen(ctx, client); err != nil {
		return fmt.Errorf("show tmux pane: %w", err)
	}
	if seen.pane != paneID {
		return fmt.Errorf("show tmux pane %s: the client shows %s", paneID, seen.pane)
	}
	return nil
}

// view is what a client shows.
type view struct {
	session, pane string
	last          bool // no other client shows that session
	ephemeral     bool // it ends with its last client
}

var errNoClient = errors.New("no such client")

// seen looks at what a client shows. It is looked up in the list: display-message passes over the
// client it is given whenever another session than that client's is the one it comes upon first.
func (s *Server) seen(ctx context.Context, client string) (view, error) {
	lines, err := s.run(ctx, "list-clients", "-F", "#{session_id}\t#{pane_id}\t#{session_attached}\t#{destroy-unattached}\t"+plain("client_name"))
	if err != nil {
		return view{}, err
	}
	for _, line := range lines {
		f := strings.SplitN(line, "\t", 5)
		if len(f) == 5 && f[4] == client {
			return view{session: f[0], pane: f[1], last: f[2] == "1", ephemeral: f[3] != "0" && f[3] != "off" && f[3] != ""}, nil
		}
	}
	return view{}, fmt.Errorf("%w: %s", errNoClient, client)
}

// AttachArgv returns the command that shows a pane's session in the terminal it is run in. It is nil
// when there is no tmux.
func (s *Server) AttachArgv(p Pane) []string {
	bin, err := s.program()
	if err != nil || !isID(p.Session, '$') {
		return nil
	}
	return []string{bin, "-u", "-S", s.o.Socket, "attach-session", "-t", p.Session}
}
