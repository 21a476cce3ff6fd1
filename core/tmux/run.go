package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// said is what tmux answered to a command it would not carry out.
type said struct{ command, text string }

func (e *said) Error() string { return "tmux " + e.command + ": " + e.text }

// refused tells whether err is an answer of tmux, and not the want of one.
func refused(err error) bool {
	var no *said
	return errors.As(err, &no)
}

// run gives one command to the server, through the control client when there is one, and returns the
// lines of the answer.
func (s *Server) run(ctx context.Context, args ...string) ([]string, error) {
	if l := s.current(); l != nil {
		lines, err := l.do(ctx, args)
		var lost *lostError
		if !errors.As(err, &lost) {
			return lines, err
		}
		// What was written to a client that is gone may or may not have been carried out. Only a question
		// is asked again.
		if lost.sent && !question(args[0]) {
			if err := s.listens(); errors.Is(err, ErrNoServer) {
				return nil, err
			}
			return nil, fmt.Errorf("tmux %s: %w", args[0], lost)
		}
	}
	return s.spawn(ctx, args...)
}

func question(command string) bool {
	switch command {
	case "display-message", "list-panes", "list-clients", "capture-pane", "show-options":
		return true
	}
	return false
}

// spawn runs one tmux for one command and returns the lines it printed.
func (s *Server) spawn(ctx context.Context, args ...string) ([]string, error) {
	return s.spawnAll(ctx, nil, args)
}

// spawnAll runs one tmux for several commands; those behind one that fails are left out.
func (s *Server) spawnAll(ctx context.Context, stdin []byte, commands ...[]string) ([]string, error) {
	if err := s.listens(); err != nil {
		return nil, err
	}
	s.kick()
	lines, err := s.exec(ctx, patience, stdin, commands...)
	if err != nil && !errors.Is(err, ErrHung) && !errors.Is(err, ErrNoTmux) && ctx.Err() == nil {
		if gone := s.listens(); errors.Is(gone, ErrNoServer) { // it went meanwhile
			return nil, gone
		}
	}
	return lines, err
}

// exec runs tmux whether a server listens or not.
func (s *Server) exec(ctx context.Context, most time.Duration, stdin []byte, commands ...[]string) ([]string, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, most, ErrHung)
	defer cancel()
	if !s.gate.enter(bounded, 1) {
		return nil, fmt.Errorf("tmux %s: %w", commands[0][0], timeOut(ctx, bounded))
	}
	defer s.gate.leave(1)
	return s.execInside(ctx, most, stdin, commands...)
}

// execInside is exec for who has passed the gate.
func (s *Server) execInside(ctx context.Context, most time.Duration, stdin []byte, commands ...[]string) ([]string, error) {
	bin, err := s.program()
	if err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, most, ErrHung)
	defer cancel()
	argv := s.global()
	for i, args := range commands {
		if i > 0 {
			argv = append(argv, ";")
		}
		for _, a := range args {
			argv = append(argv, spawnArg(a))
		}
	}
	name := commands[0][0]
	cmd := exec.CommandContext(bounded, bin, argv...)
	cmd.Env, cmd.Dir = s.o.Env, "/"
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be our own
	}
	cmd.WaitDelay = 100 * time.Millisecond
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	err = cmd.Run()
	switch {
	case bounded.Err() != nil && err != nil:
		return nil, fmt.Errorf("tmux %s: %w", name, timeOut(ctx, bounded))
	case err != nil:
		if text := strings.TrimSpace(errs.String()); text != "" {
			return nil, &said{name, text}
		}
		return nil, fmt.Errorf("tmux %s: %w", name, err)
	}
	return splitLines(out.String()), nil
}

// timeOut tells why a call was given up: the server hangs, also when it was the caller's time that ran
// out first, or the caller does not want it any more.
func timeOut(ctx, bounded context.Context) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", ErrHung, ctx.Err())
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return context.Cause(bounded)
}

// global returns the arguments before a command. UTF-8 is told, not guessed from the locale: without
// it every tab and every letter of another script would be answered as an underscore.
func (s *Server) global() []string {
	argv := []string{"-u", "-S", s.o.Socket}
	if s.o.Conf != "" {
		argv = append(argv, "-f", s.o.Conf)
	}
	return argv
}

func splitLines(out string) []string {
	out = strings.TrimSuffix(out, "\n")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

// listens asks the socket whether a server is behind it. nil says that one is, be it one that hangs:
// the kernel accepts for it. A socket file that nobody listens on is ErrNoServer.
func (s *Server) listens() error {
	c, err := net.DialTimeout("unix", s.o.Socket, patience)
	switch {
	case err == nil:
		c.Close()
		return nil
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w on %s", ErrNoServer, s.o.Socket)
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, os.ErrDeadlineExceeded):
		return nil // so many wait for it that the kernel takes no more: it is there, and stuck
	}
	return fmt.Errorf("reach tmux server: %w", err)
}

// clientEnv is the environment of a tmux that only talks to a foreign server.
func clientEnv() []string {
	env := []string{}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if name == "PATH" || name == "HOME" || name == "LANG" || strings.HasPrefix(name, "LC_") {
			env = append(env, pair)
		}
	}
	return env
}
