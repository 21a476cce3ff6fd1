package tmux

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// lostError is the end of the control client before an answer came.
type lostError struct{ sent bool }

func (e *lostError) Error() string { return "the tmux control client was lost" }

// link is one running control client. Lines are written to its input in order and answered in order.
// Behind each command goes a question for a word that nobody else can know: its answer closes the
// command's. So the two sides stay in step though some commands answer more than once, and though a
// program may put on the screen, into its name, anywhere, what looks like the end of an answer.
type link struct {
	cmd      *exec.Cmd
	in       *os.File // we write
	inFar    *os.File // the other end, which the server reads; kept to take back what it has not read
	out      *os.File
	ready    chan struct{} // closed once the client is attached; a line before that finds no client
	gone     chan struct{} // closed by drop
	finished chan struct{} // closed when the reader has ended
	notice   func(name string)
	mark     string // beginning of the words that close an answer

	mu      sync.Mutex
	count   int
	waiting []*waiter
	cause   error // why it is gone
}

type waiter struct {
	mark string
	got  *answer // the first one
	done chan struct{}
}

// current returns the control client, or nil.
func (s *Server) current() *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link
}

// kick sees to it that keep runs. It is called when a server was seen.
func (s *Server) kick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.foreign || s.life.Err() != nil || s.link != nil {
		return
	}
	s.kicked = true
	if s.keeping == nil {
		s.keeping = make(chan struct{})
		go s.keep(s.keeping)
	}
}

// keep holds one control client as long as a server listens.
func (s *Server) keep(done chan struct{}) {
	defer close(done)
	const shortest, longest = 50 * time.Millisecond, 10 * time.Second
	pause := shortest
	for {
		s.mu.Lock()
		s.kicked = false
		s.mu.Unlock()
		l, err := s.connect()
		if err == nil {
			s.hold(l)
			s.o.Log.Info("tmux control client is attached", "pid", l.cmd.Process.Pid)
			s.wake()
			select {
			case <-l.gone:
				s.o.Log.Info("tmux control client is gone", "cause", l.cause)
			case <-s.life.Done():
				l.drop(&lostError{})
			}
			s.hold(nil)
			l.wait()
			s.wake()
			pause = shortest
		} else if s.life.Err() == nil {
			s.o.Log.Debug("tmux control client did not attach", "error", err)
		}
		if s.life.Err() != nil {
			return
		}
		if errors.Is(s.listens(), ErrNoServer) && s.rest() {
			return
		}
		select {
		case <-s.life.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, longest)
	}
}

func (s *Server) hold(l *link) {
	s.mu.Lock()
	s.link = l
	s.mu.Unlock()
}

// rest ends keep until the next kick, unless one came meanwhile.
func (s *Server) rest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kicked {
		return false
	}
	s.keeping = nil
	return true
}

// watched is what the one subscription looks at. Titles are left out: agents animate theirs.
var watched = "all::#{S:#{W:#{P:#{pane_id} #{pane_pid} #{pane_dead}:#{pane_dead_status}:#{pane_dead_signal} #{pane_in_mode} #{session_attached} " +
	plain("pane_current_command") + ";}}}"

// connect starts a control client and returns once it answers.
func (s *Server) connect() (*link, error) {
	bin, err := s.program()
	if err != nil {
		return nil, err
	}
	l := &link{ready: make(chan struct{}), gone: make(chan struct{}), finished: make(chan struct{}), mark: "tower-" + rand.Text() + "-"}
	l.notice = func(name string) {
		switch name {
		case "%subscription-changed", "%sessions-changed", "%unlinked-window-add", "%unlinked-window-close", "%window-close":
			s.wake()
		}
	}
	// -N: a server that went in this moment is not started again by a mere look.
	argv := append(s.global(), "-N", "-C", "attach-session", "-t", "="+keeper, "-f", "no-output,ignore-size")
	l.cmd = exec.Command(bin, argv...)
	l.cmd.Env, l.cmd.Dir = s.o.Env, "/"
	if !s.gate.enter(s.life, places) {
		return nil, fmt.Errorf("start tmux control client: %w", context.Cause(s.life))
	}
	defer s.gate.leave(places)
	// A server that hangs is to find no control client waiting when it wakes up, among all else it has
	// to catch up with: see gate.
	if _, err := s.execInside(s.life, patience, nil, []string{"display-message", "-p", "up"}); err != nil {
		return nil, fmt.Errorf("start tmux control client: %w", err)
	}
	// From here to the end of the introduction the client is not given up when the tower ends: one that
	// goes in between can take the server with it as well.
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(s.life), patience, ErrHung)
	defer cancel()
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("start tmux control client: %w", err)
	}
	select {
	case <-l.ready:
	case <-l.gone:
	case <-ctx.Done():
		l.drop(context.Cause(ctx))
	}
	if _, err := l.do(ctx, []string{"refresh-client", "-B", watched}); err != nil {
		l.drop(err)
		l.wait()
		return nil, fmt.Errorf("attach tmux control client: %w", err)
	}
	return l, nil
}

// open starts the process and the reader.
func (l *link) open() error {
	var err error
	var outFar *os.File
	if l.inFar, l.in, err = os.Pipe(); err != nil {
		return err
	}
	if l.out, outFar, err = os.Pipe(); err != nil {
		l.inFar.Close()
		l.in.Close()
		return err
	}
	l.cmd.Stdin, l.cmd.Stdout = l.inFar, outFar
	err = l.cmd.Start()
	outFar.Close()
	if err != nil {
		l.inFar.Close()
		l.in.Close()
		l.out.Close()
		return err
	}
	go l.read()
	return nil
}

// read hands answers to who waits for them until the client ends.
func (l *link) read() {
	defer close(l.finished)
	defer l.drop(&lostError{})
	from := bufio.NewReaderSize(l.out, 64<<10)
	var f frames
	for attached := false; ; {
		text, err := from.ReadString('\n')
		if err != nil {
			return
		}
		a, notice := f.line(strings.TrimSuffix(text, "\n"))
		switch {
		case a != nil && a.own:
			l.deliver(a)
		case notice == "%session-changed" && !attached:
			attached = true
			close(l.ready)
		case notice != "":
			l.notice(notice)
		}
	}
}

func (l *link) deliver(a *answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		return
	}
	w := l.waiting[0]
	if len(a.lines) == 1 && a.lines[0] == w.mark {
		l.waiting = l.waiting[1:]
		close(w.done)
		return
	}
	if w.got == nil {
		w.got = a
	}
}

// do writes one command and waits for its answer. When the server does not answer in time the client
// is given up, and with it whatever the server has not read yet: a key that was to be pressed then is
// not pressed minutes later.
func (l *link) do(ctx context.Context, args []string) ([]string, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, patience, ErrHung)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("tmux %s: %w", args[0], timeOut(ctx, bounded))
	}
	w := &waiter{done: make(chan struct{})}
	if err := l.send(w, args); err != nil {
		return nil, err
	}
	select {
	case <-w.done:
		switch {
		case w.got == nil:
			return nil, fmt.Errorf("tmux %s: no answer", args[0])
		case w.got.failed:
			return nil, &said{args[0], strings.Join(w.got.lines, " ")}
		}
		return w.got.lines, nil
	case <-l.gone:
		return nil, l.why()
	case <-bounded.Done():
		err := timeOut(ctx, bounded)
		if errors.Is(err, ErrHung) {
			l.drop(ErrHung)
		}
		return nil, fmt.Errorf("tmux %s: %w", args[0], err)
	}
}

// send writes a command and its closing question.
func (l *link) send(w *waiter, args []string) error {
	l.mu.Lock()
	if l.cause != nil {
		l.mu.Unlock()
		return &lostError{} // also when it was given up because the server hung: that was then
	}
	l.count++
	w.mark = l.mark + strconv.Itoa(l.count)
	l.waiting = append(l.waiting, w)
	l.in.SetWriteDeadline(time.Now().Add(patience))
	_, err := l.in.WriteString(commandLine(args) + commandLine([]string{"display-message", "-p", w.mark}))
	l.mu.Unlock()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		l.drop(ErrHung)
	default:
		l.drop(&lostError{})
	}
	return l.why()
}

// why tells who waits for an answer why there will be none.
func (l *link) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lost *lostError
	if errors.As(l.cause, &lost) {
		return &lostError{sent: true}
	}
	return l.cause
}

// drop gives the client up. The process is ended because a client of a server that hangs would not
// see that its input was closed; the server holds both pipes as well, so our ends are closed too.
func (l *link) drop(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause != nil {
		return
	}
	l.cause = cause
	takeBack(l.inFar)
	l.in.Close()
	l.inFar.Close()
	l.cmd.Process.Kill()
	l.out.Close()
	close(l.gone)
}

// wait returns when process and reader have ended.
func (l *link) wait() {
	l.cmd.Wait()
	<-l.finished
}
