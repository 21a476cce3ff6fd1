package tmux

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tower/core"
)

// Pane is one pane as the server told of it. The id holds as long as the server lives, so whoever
// keeps one keeps ServerPID and PID with it.
type Pane struct {
	ID          string // %3
	Session     string // $1
	SessionName string
	Window      string // @2
	// PID is the first process of the pane. It stays what it was when the pane is Dead: then it is
	// nobody's, or somebody else's.
	PID    int
	Dead   bool
	Status int          // exit status of a dead pane's program, known with DeadAt
	Signal int          // the signal that ended it, or 0; known with DeadAt
	DeadAt core.Instant // 0 until the server knows how it ended, which is a moment after it knows that

	Command      string // name of the program in front: "node" for many an agent
	TTY          string // /dev/pts/3
	Attached     int    // clients that show its session
	Activity     core.Instant
	InMode       bool // copy mode and the like: keys go to tmux
	InputOff     bool
	Synchronized bool // what is typed goes to every pane of its window
	Alternate    bool // a program that fills the screen
	TowerID      string
	Title        string
	ServerPID    int
}

// The fields of paneFormat, in this order.
const (
	atID = iota
	atSession
	atWindow
	atPID
	atDead
	atStatus
	atSignal
	atDeadAt
	atTTY
	atAttached
	atActivity
	atInMode
	atInputOff
	atSynchronized
	atAlternate
	atServer
	atName
	atCommand
	atTower
	atTitle
	paneFields
)

// paneFormat asks for a pane in one line. What a program or a person has chosen comes last and without
// control characters: a process may have a name with a line end in it, which would otherwise begin a
// line of its own that says what it likes.
var paneFormat = strings.Join([]string{
	"#{pane_id}", "#{session_id}", "#{window_id}", "#{pane_pid}", "#{pane_dead}", "#{pane_dead_status}", "#{pane_dead_signal}",
	"#{pane_dead_time}", "#{pane_tty}", "#{session_attached}", "#{window_activity}", "#{pane_in_mode}", "#{pane_input_off}",
	"#{pane_synchronized}", "#{alternate_on}", "#{pid}",
	plain("session_name"), plain("pane_current_command"), plain("@tower_id"), plain("pane_title"),
}, "\t")

// plain is the format of a variable with every control character replaced.
func plain(variable string) string { return "#{s/[\x01-\x1f\x7f]/_/:" + variable + "}" }

func parsePane(line string) (Pane, bool) {
	f := strings.SplitN(line, "\t", paneFields)
	if len(f) != paneFields || !isID(f[atID], '%') {
		return Pane{}, false
	}
	number := func(at int) int { n, _ := strconv.Atoi(f[at]); return n }
	seconds := func(at int) core.Instant {
		n, _ := strconv.ParseInt(f[at], 10, 64)
		return core.Instant(n * 1000)
	}
	return Pane{
		ID: f[atID], Session: f[atSession], SessionName: f[atName], Window: f[atWindow], PID: number(atPID),
		Dead: f[atDead] == "1", Status: number(atStatus), Signal: number(atSignal), DeadAt: seconds(atDeadAt),
		Command: f[atCommand], TTY: f[atTTY], Attached: number(atAttached), Activity: seconds(atActivity),
		// Unlike the others this one is a count: modes can lie on one another.
		InMode:   f[atInMode] != "" && f[atInMode] != "0",
		InputOff: f[atInputOff] == "1", Synchronized: f[atSynchronized] == "1", Alternate: f[atAlternate] == "1",
		TowerID: f[atTower], Title: f[atTitle], ServerPID: number(atServer),
	}, true
}

// isID tells whether s is an id of tmux of this kind: a sigil and digits.
func isID(s string, sigil byte) bool {
	if len(s) < 2 || len(s) > 11 || s[0] != sigil {
		return false
	}
	for _, c := range []byte(s[1:]) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

var errNoID = errors.New("not a tmux pane id")

// Panes returns all panes of the server, but for the one the control client lives in. ErrNoServer says
// that there is no server and so no pane; any other error says nothing about them.
func (s *Server) Panes(ctx context.Context) ([]Pane, error) {
	lines, err := s.run(ctx, "list-panes", "-a", "-F", paneFormat)
	if err != nil {
		return nil, fmt.Errorf("list tmux panes: %w", err)
	}
	if len(lines) == 0 && !s.foreign {
		return nil, errors.New("list tmux panes: not even the keeper was told of")
	}
	panes := make([]Pane, 0, len(lines))
	for _, line := range lines {
		p, ok := parsePane(line)
		if !ok {
			return nil, fmt.Errorf("list tmux panes: cannot read %.80q", line)
		}
		if s.foreign || p.SessionName != keeper {
			panes = append(panes, p)
		}
		s.mourn(ctx, &p)
	}
	return panes, nil
}

// mourn sees to it that the private server learns how a pane's program ended. Where tmux keeps the
// list of who is logged in through libutempter, that library ignores the end of every child while it
// strikes out the terminal that was just closed, and so of the very program that closed it: the server
// would know of that end with the next child's, which may be a day away. So it gets one.
func (s *Server) mourn(ctx context.Context, p *Pane) {
	if s.foreign || !p.Dead || p.DeadAt != 0 {
		return
	}
	s.mu.Lock()
	due := time.Since(s.mourned) > 200*time.Millisecond
	if due {
		s.mourned = time.Now()
	}
	s.mu.Unlock()
	if due {
		if _, err := s.run(ctx, "run-shell", "-b", ":"); err != nil {
			s.o.Log.Debug("tmux server was not reminded of a program's end", "pane", p.ID, "error", err)
		}
	}
}

// Pane returns one pane, and false when the server has none with this id, or no server runs.
func (s *Server) Pane(ctx context.Context, id string) (Pane, bool, error) {
	if !isID(id, '%') {
		return Pane{}, false, fmt.Errorf("look at tmux pane %q: %w", id, errNoID)
	}
	lines, err := s.run(ctx, "display-message", "-p", "-t", id, paneFormat)
	if errors.Is(err, ErrNoServer) || absent(err) {
		return Pane{}, false, nil
	}
	if err != nil {
		return Pane{}, false, fmt.Errorf("look at tmux pane %s: %w", id, err)
	}
	line := strings.Join(lines, "\n")
	if strings.HasPrefix(line, "\t") { // 3.3 answers for a pane it does not have with empty fields
		return Pane{}, false, nil
	}
	p, ok := parsePane(line)
	if !ok {
		return Pane{}, false, fmt.Errorf("look at tmux pane %s: cannot read %.80q", id, line)
	}
	if p.ID != id {
		return Pane{}, false, nil
	}
	s.mourn(ctx, &p)
	return p, true, nil
}

// absent tells whether tmux refused a command because it does not have the pane. Any other refusal,
// such as that of a server that is of another version than the program, says nothing about the pane.
func absent(err error) bool {
	var no *said
	return errors.As(err, &no) && strings.Contains(no.text, "can't find pane")
}

// Capture returns the last lines a pane shows or has shown, wrapped ones joined, without the blank
// ones at the end. A program that fills the screen has no more than the screen.
func (s *Server) Capture(ctx context.Context, id string, lines int) (string, error) {
	if !isID(id, '%') {
		return "", fmt.Errorf("read tmux pane %q: %w", id, errNoID)
	}
	lines = max(lines, 1)
	// What a program has put on its screen could pass for the end of an answer: this one is not asked
	// for through the control client.
	all, err := s.spawn(ctx, "capture-pane", "-p", "-J", "-t", id, "-S", strconv.Itoa(-lines))
	if err != nil {
		return "", fmt.Errorf("read tmux pane %s: %w", id, err)
	}
	all = cutBlank(all)
	if n := len(all); !s.foreign && n > 0 && strings.TrimSpace(all[n-1]) == ended {
		all = cutBlank(all[:n-1])
	}
	return strings.Join(all[max(0, len(all)-lines):], "\n"), nil
}

func cutBlank(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// Kill closes a pane (%3) or a session ($1) and returns once it is gone; that it was gone already is
// no error. It proves nothing about the processes that ran there.
func (s *Server) Kill(ctx context.Context, id string) error {
	var err error
	switch {
	case isID(id, '%'):
		_, err = s.run(ctx, "kill-pane", "-t", id)
	case isID(id, '$'):
		_, err = s.run(ctx, "kill-session", "-t", id)
	default:
		err = errNoID
	}
	if err == nil || errors.Is(err, ErrNoServer) {
		return nil
	}
	if refused(err) {
		if there, look := s.has(ctx, id); look == nil && !there {
			return nil
		}
	}
	return fmt.Errorf("close tmux %s: %w", id, err)
}

// has tells whether the server has this pane or session.
func (s *Server) has(ctx context.Context, id string) (bool, error) {
	panes, err := s.Panes(ctx)
	if errors.Is(err, ErrNoServer) {
		return false, nil
	}
	for _, p := range panes {
		if p.ID == id || p.Session == id {
			return true, nil
		}
	}
	return false, err
}
