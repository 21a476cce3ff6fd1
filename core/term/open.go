package term

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Opening is a window that was asked for: the command that opens it, of which many end at once.
type Opening struct {
	terminal string
	pid      int
	done     chan struct{}
	err      error // written before done is closed
}

// PID is the process of the opening command. It need not be the terminal's.
func (o *Opening) PID() int { return o.pid }

// Done is closed when the opening command has ended and was reaped. For a terminal that lives in its own
// command that is the end of the window.
func (o *Opening) Done() <-chan struct{} { return o.done }

// Err is nil until Done is closed and when the command ended well. Else it says how it ended, with the last
// lines it wrote to its standard error.
func (o *Opening) Err() error {
	select {
	case <-o.done:
		return o.err
	default:
		return nil
	}
}

// Open starts the command and does not wait for the window. It runs in a session of its own, with the default
// action for a hang-up, and outlives the tower: nothing of it depends on who reads its standard error. The
// context bounds the start alone. A program that is not there is a *core.Refusal "Not started.".
func Open(ctx context.Context, c Command) (*Opening, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open %s: %w", c.Terminal, err)
	}
	if len(c.Argv) == 0 {
		return nil, errors.New("open terminal: the command is empty")
	}
	program, ok := find(c.Argv[0], c.Env)
	if !ok {
		return nil, notStarted(fmt.Sprintf("%s is not installed: there is no program %s.", c.Terminal, c.Argv[0]),
			"Install it, or choose another terminal.")
	}
	if c.Dir != "" {
		if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
			return nil, notStarted(fmt.Sprintf("The folder %s is not there.", c.Dir), "Choose a folder that exists.")
		}
	}
	cmd := &exec.Cmd{Path: program, Args: c.Argv, Dir: c.Dir, Env: c.Env, SysProcAttr: detached()}
	if c.Stdin != "" {
		cmd.Stdin = strings.NewReader(c.Stdin)
	}
	said, err := newTail()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", c.Terminal, err)
	}
	cmd.Stderr = said.child
	err = startDefault(cmd)
	said.child.Close()
	if err != nil {
		said.parent.Close()
		return nil, fmt.Errorf("open %s: %w", c.Terminal, err)
	}
	o := &Opening{terminal: c.Terminal, pid: cmd.Process.Pid, done: make(chan struct{})}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer said.parent.Close()
		said.read()
	}()
	go func() {
		defer close(o.done)
		err := cmd.Wait()
		said.stop()
		<-read
		if err != nil {
			o.err = fmt.Errorf("open %s: %w%s", o.terminal, err, said.lines())
		}
	}()
	return o, nil
}

// find looks for a program in the PATH the command will run with, then in the tower's own.
func find(program string, env []string) (string, bool) {
	if filepath.IsAbs(program) {
		_, err := exec.LookPath(program)
		return program, err == nil
	}
	if runtime.GOOS != "windows" {
		for i := len(env) - 1; i >= 0; i-- {
			list, ok := strings.CutPrefix(env[i], "PATH=")
			if !ok {
				continue
			}
			for _, dir := range filepath.SplitList(list) {
				if !filepath.IsAbs(dir) {
					continue
				}
				p := filepath.Join(dir, program)
				if _, err := exec.LookPath(p); err == nil {
					return p, true
				}
			}
			break
		}
	}
	p, err := exec.LookPath(program)
	return p, err == nil
}

// tailBytes bounds what is kept of a command's standard error.
const tailBytes = 4 << 10

// tail keeps the last of what a command writes.
type tail struct {
	parent, child *os.File
	mu            sync.Mutex
	kept          []byte
}

// read keeps what comes until the command's side is closed or stop is called.
func (t *tail) read() {
	buf := make([]byte, tailBytes)
	for {
		n, err := t.parent.Read(buf)
		t.mu.Lock()
		t.kept = append(t.kept, buf[:n]...)
		if len(t.kept) > tailBytes {
			t.kept = append(t.kept[:0], t.kept[len(t.kept)-tailBytes:]...)
		}
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// lastLines is how many lines of a command's standard error are told.
const lastLines = 5

// lines is the last of what was kept, as the end of a sentence of one line.
func (t *tail) lines() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "?"))
	if text == "" {
		return ""
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return ": " + strings.Join(lines[max(0, len(lines)-lastLines):], " / ")
}
