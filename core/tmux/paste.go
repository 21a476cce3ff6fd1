package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"

	"tower/core"
)

const notDelivered = "Not delivered."

// pastes numbers the buffers of this process. Their names also hold its pid: two towers may type into
// one person's server.
var pastes atomic.Uint64

// Paste types text into a pane as one paste, exactly as it is given: see [Clean]. A program that asked
// for it gets the marks of a bracketed paste around it, so that a line end in it submits nothing. The
// caller has just proven the pane; what changed since then and would let the text go astray is refused.
// The text is with the program's terminal when Paste returns, though the program may not have read it.
func (s *Server) Paste(ctx context.Context, id, text string) error {
	if text == "" {
		return errors.New("paste into tmux pane: there is no text")
	}
	if err := s.open(ctx, id); err != nil {
		return err
	}
	buffer := "tower-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(pastes.Add(1), 10)
	_, err := s.spawnAll(ctx, []byte(text),
		[]string{"load-buffer", "-b", buffer, "-"},
		[]string{"paste-buffer", "-p", "-r", "-d", "-b", buffer, "-t", id})
	if err == nil {
		return nil
	}
	if refused(err) { // the pane went between the two commands, and the buffer stayed
		_, _ = s.spawn(context.WithoutCancel(ctx), "delete-buffer", "-b", buffer)
	}
	return fmt.Errorf("paste into tmux pane %s: %w", id, err)
}

// Enter presses Enter in a pane, under the same conditions as Paste.
func (s *Server) Enter(ctx context.Context, id string) error {
	if err := s.open(ctx, id); err != nil {
		return err
	}
	if _, err := s.run(ctx, "send-keys", "-t", id, "Enter"); err != nil {
		return fmt.Errorf("press enter in tmux pane %s: %w", id, err)
	}
	return nil
}

// open looks once more whether keys sent to a pane reach its program. It is also what a server that
// hangs is found out by before anything is handed to it.
func (s *Server) open(ctx context.Context, id string) error {
	p, ok, err := s.Pane(ctx, id)
	if err != nil {
		return err
	}
	if !ok {
		return gonePane.refuse(notDelivered)
	}
	if c := p.closed(); c != nil {
		return c.refuse(notDelivered)
	}
	return nil
}

// obstacle is why keys would not reach a program, and the way on.
type obstacle struct{ why, hint string }

func (o *obstacle) refuse(what string) error {
	return &core.Refusal{What: what, Why: o.why, Hint: o.hint}
}

var (
	gonePane     = &obstacle{"Its tmux pane is gone.", "Resume it, or end it."}
	deadPane     = &obstacle{"The program in its tmux pane has ended.", "Resume it."}
	inputOff     = &obstacle{"Input to its tmux pane is switched off.", "Switch it on there."}
	synchronized = &obstacle{"Its tmux window passes what is typed on to all its panes.", "Switch synchronize-panes off there."}
	inMode       = &obstacle{"Its tmux pane is in copy mode, which would take the keys.", "Leave copy mode with q, then send again."}
)

// closed tells what stands between keys and the program of a pane, or nil.
func (p *Pane) closed() *obstacle {
	switch {
	case p.Dead:
		return deadPane
	case p.InputOff:
		return inputOff
	case p.Synchronized:
		return synchronized
	case p.InMode:
		return inMode
	}
	return nil
}
