// Package tmux is the tower's private tmux server and its careful access to the servers of a person.
// It promises that a pane is only ever named by its exact id, that text reaches a program byte for
// byte and is sent on by a separate Enter, that every call ends within a bound, and that a server
// which does not answer is told as hung and never as gone. [Prove] is the proof that has to hold
// before a byte is typed into a pane or a key is sent. The engine alone uses it.
//
// It never uses the default server, never configures or starts a server it did not make, never
// decides what is typed or who is ended, and never takes a closed pane for the end of the process
// that ran in it: an agent can outlive its pane.
//
// # One client for everything
//
// The private server is asked through one long-lived control client: a spawned tmux costs some
// milliseconds for each question, a line on the client's input a fraction of one. The same client
// holds one subscription over all panes, which is where [Server.Changed] comes from. It attaches to a
// session of its own, the keeper, which also keeps the server alive while nothing runs in it. Where
// the client is not there (not yet, a tmux too old for it, a moment after the server was lost) each
// call spawns a tmux instead; nothing waits for the client. What is typed is always handed to a
// spawned tmux, on its standard input: so a prompt never stands in a file or an argument list, and a
// server that hangs loses the text with its client instead of typing it when it wakes.
//
// # Names
//
// Names of tmux match by prefix, its messages depend on the version, and an unknown pane is answered
// with empty fields and success. So targets are ids (%3, $1) or, for the one session with a fixed
// name, "=name"; ids in answers are compared with what was asked for; and whether a server listens is
// asked of the socket itself.
package tmux

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// What a call fails with when tmux itself is the reason.
var (
	// ErrNoServer says that no server listens on the socket: all panes it had are gone.
	ErrNoServer = errors.New("no tmux server runs")
	// ErrNoTmux says that there is no tmux program.
	ErrNoTmux = errors.New("tmux is not installed")
	// ErrHung says that the server did not answer in time. Nothing follows from it about its panes.
	ErrHung = errors.New("tmux does not answer")
)

// patience is how long one question to a server may take.
const patience = 2 * time.Second

// Options are what a private server is made of.
type Options struct {
	Bin    string // the tmux program; "" = looked up on the PATH
	Socket string // path of the socket, at most 100 bytes; its folder must exist
	Conf   string // path where the server's own configuration is written
	// Env is the whole environment of the server, "NAME=value" each: whatever stands in it reaches every
	// pane for as long as the server lives. TMUX and TMUX_PANE of another server are left out.
	Env []string
	Log *slog.Logger // nil = nothing is logged
}

// Server is one tmux server. It is safe for concurrent use.
type Server struct {
	o       Options
	foreign bool
	changed chan struct{} // nil for a foreign server
	life    context.Context
	end     context.CancelFunc

	gate     gate
	starting sync.Mutex // held while the server is being started

	mu      sync.Mutex
	bin     string // resolved
	link    *link  // nil while there is no control client
	keeping chan struct{}
	kicked  bool      // a server was seen since keep last looked
	mourned time.Time // see mourn
}

// New returns the private server. It starts nothing: [Server.Start] does, and whatever server an
// earlier tower left on the socket is used again.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Env = withoutTmux(o.Env)
	s := &Server{o: o, gate: newGate(), changed: make(chan struct{}, 1)}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Foreign returns a person's own server: it is looked at, and acted on in proven panes. Each call is
// one spawned tmux. Start and End refuse it.
func Foreign(bin, socket string) *Server {
	s := &Server{o: Options{Bin: bin, Socket: socket, Env: clientEnv(), Log: slog.New(slog.DiscardHandler)}, gate: newGate(), foreign: true}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Socket returns the path of the server's socket.
func (s *Server) Socket() string { return s.o.Socket }

// Changed wakes whoever shows panes: one came, died, runs another command, or the server was lost or
// found. Wake-ups are coalesced. For a foreign server it is nil, which never wakes.
func (s *Server) Changed() <-chan struct{} { return s.changed }

func (s *Server) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Close ends the control client and waits for it. Server and sessions stay; calls made later spawn.
func (s *Server) Close() error {
	s.end()
	s.mu.Lock()
	keeping := s.keeping
	s.mu.Unlock()
	if keeping != nil {
		<-keeping
	}
	return nil
}

// End ends the private server and everything in it, and returns once nothing listens any more. It is
// for tests and for the removal of the tower.
func (s *Server) End(ctx context.Context) error {
	if s.foreign {
		return errors.New("end tmux server: it is not the tower's own")
	}
	// No control client may come to a server that is leaving.
	bounded, cancel := context.WithTimeoutCause(ctx, 2*patience, ErrHung)
	defer cancel()
	if !s.gate.enter(bounded, places) {
		return fmt.Errorf("end tmux server: %w", timeOut(ctx, bounded))
	}
	defer s.gate.leave(places)
	if errors.Is(s.listens(), ErrNoServer) {
		return nil
	}
	if l := s.current(); l != nil { // a server that leaves may trip over the subscription of its last client
		l.drop(&lostError{})
	}
	if _, err := s.execInside(ctx, patience, nil, []string{"kill-server"}); err != nil && !errors.Is(s.listens(), ErrNoServer) {
		return fmt.Errorf("end tmux server: %w", err)
	}
	// Each terminal it closes costs a program of the system's own that strikes it out of the list of log-ins.
	err := until(ctx, 3*patience, func() (bool, error) { return errors.Is(s.listens(), ErrNoServer), nil })
	if err != nil {
		return fmt.Errorf("end tmux server: %w", err)
	}
	return nil
}

// program returns the path of tmux.
func (s *Server) program() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bin != "" {
		return s.bin, nil
	}
	name := s.o.Bin
	if name == "" {
		name = "tmux"
	}
	bin, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoTmux, err)
	}
	s.bin = bin
	return bin, nil
}

// until asks done again and again until it says yes, fails, or the time is over, which is ErrHung.
func until(ctx context.Context, most time.Duration, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, most, ErrHung)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// withoutTmux drops what would make a tmux believe that it runs inside another one.
func withoutTmux(env []string) []string {
	kept := make([]string, 0, len(env))
	for _, pair := range env {
		if name, _, _ := strings.Cut(pair, "="); name != "TMUX" && name != "TMUX_PANE" {
			kept = append(kept, pair)
		}
	}
	return kept
}
