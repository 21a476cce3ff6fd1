//go:build unix

package tmux

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test program is also what runs in the panes: "PROGRAM tower-test ROLE ...".
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "tower-test" {
		if err := role(os.Args[2], os.Args[3:]); err != nil {
			fmt.Println("role failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// Whatever a test starts must not take the terminal multiplexer around the test for its own.
	os.Unsetenv("TMUX")
	os.Unsetenv("TMUX_PANE")
	os.Exit(m.Run())
}

func role(name string, args []string) error {
	switch name {
	case "environ": // writes its environment and waits
		if err := os.WriteFile(args[0]+".part", []byte(strings.Join(os.Environ(), "\n")), 0o600); err != nil {
			return err
		}
		if err := os.Rename(args[0]+".part", args[0]); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	case "argv": // writes its arguments and waits
		if err := os.WriteFile(args[0]+".part", []byte(strings.Join(args[1:], "\x00")), 0o600); err != nil {
			return err
		}
		if err := os.Rename(args[0]+".part", args[0]); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	case "sink": // FILE [bracketed]: records every byte it is sent
		return sink(args)
	case "box": // FILE: an input box that has no ear for Enter just after a paste
		return box(args[0])
	case "zombie": // leaves a dead child behind and tells its pid
		child := exec.Command("/bin/true")
		if err := child.Start(); err != nil {
			return err
		}
		fmt.Printf("child %d.\n", child.Process.Pid)
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	return fmt.Errorf("no role %q", name)
}

func raw() error {
	state, err := unix.IoctlGetTermios(0, ioctlGetTermios)
	if err != nil {
		return err
	}
	state.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	state.Oflag &^= unix.OPOST
	state.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	state.Cc[unix.VMIN], state.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(0, ioctlSetTermios, state)
}

func sink(args []string) error {
	out, err := os.Create(args[0])
	if err != nil {
		return err
	}
	if err := raw(); err != nil {
		return err
	}
	if len(args) > 1 {
		os.Stdout.WriteString("\x1b[?2004h")
	}
	os.Stdout.WriteString("READY\r\n")
	_, err = io.Copy(out, os.Stdin)
	return err
}

const pasteBegin, pasteEnd = "\x1b[200~", "\x1b[201~"

// box collects text like an agent's input box: a bracketed paste is put in, Enter submits what is in
// the box, but for 200 ms after a paste Enter is not heard. Every submission becomes a line.
func box(file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	heard, err := os.Create(file + ".heard") // a line for each Enter
	if err != nil {
		return err
	}
	if err := raw(); err != nil {
		return err
	}
	os.Stdout.WriteString("\x1b[?2004hREADY\r\n")
	var text, pending []byte
	pasting := false
	var deaf time.Time
	buf := make([]byte, 4096)
	for {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return err
		}
		pending = append(pending, buf[:n]...)
		for len(pending) > 0 {
			if i := bytes.IndexByte(pending, 0x1b); i == 0 {
				if len(pending) < len(pasteBegin) {
					break
				}
				switch string(pending[:len(pasteBegin)]) {
				case pasteBegin:
					pasting = true
				case pasteEnd:
					pasting, deaf = false, time.Now().Add(200*time.Millisecond)
				}
				pending = pending[len(pasteBegin):]
				continue
			}
			c := pending[0]
			pending = pending[1:]
			switch {
			case pasting || c != '\r':
				text = append(text, c)
			case time.Now().Before(deaf):
				heard.WriteString("swallowed\n")
			default:
				fmt.Fprintf(out, "%q\n", text)
				heard.WriteString("submitted\n")
				text = nil
			}
		}
	}
}

// server is a private server of a test.
type server struct {
	*Server
	t   testing.TB
	dir string
}

func needTmux(t testing.TB) string {
	t.Helper()
	bin, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed: this test runs a real one")
	}
	return bin
}

func testEnv() []string {
	return []string{"PATH=/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8", "TOWER_TEST_ENV=curated"}
}

// newServer returns a server that has not been started; whatever comes to listen on its socket is
// ended with the test.
func newServer(t testing.TB) *server {
	t.Helper()
	bin := needTmux(t)
	// The folder of a long test name would not fit into a socket's address.
	dir, err := os.MkdirTemp("", "tmux")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: dir, Server: New(Options{Bin: bin, Socket: filepath.Join(dir, "s"), Conf: filepath.Join(dir, "tmux.conf"),
		Env: testEnv(), Log: slog.New(slog.NewTextHandler(testLog{t}, &slog.HandlerOptions{Level: slog.LevelDebug}))})}
	t.Cleanup(func() {
		if err := s.End(context.Background()); err != nil {
			t.Errorf("End = %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
		os.RemoveAll(dir)
	})
	return s
}

// wrapper returns a tmux that does something for each of its arguments, $a, before it is one.
func (s *server) wrapper(does string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, "tmux-"+strconv.Itoa(len(does)))
	script := "#!/bin/sh\nn=$#\nfor a; do " + does + "; set -- \"$@\" \"$a\"; done\nshift $n\nexec " + needTmux(s.t) + " \"$@\"\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		s.t.Fatal(err)
	}
	return path
}

type testLog struct{ t testing.TB }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

// linked waits for the control client.
func (s *server) linked() *server {
	s.t.Helper()
	eventually(s.t, "the control client attaches", func() bool {
		s.kick()
		return s.current() != nil
	})
	return s
}

// start runs a role of the test program.
func (s *server) start(id string, args ...string) Pane {
	s.t.Helper()
	return s.run1(Start{ID: id, Dir: s.dir, Argv: self(s.t, args...)})
}

func (s *server) run1(w Start) Pane {
	s.t.Helper()
	p, err := s.Start(s.t.Context(), w)
	if err != nil {
		s.t.Fatalf("Start(%s) = %v", w.ID, err)
	}
	return p
}

func self(t testing.TB, args ...string) []string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{program, "tower-test"}, args...)
}

// shows waits until a pane shows a text.
func (s *server) shows(id, text string) {
	s.t.Helper()
	var last string
	eventually(s.t, fmt.Sprintf("pane %s shows %q", id, text), func() bool {
		last, _ = s.Capture(s.t.Context(), id, 50)
		return strings.Contains(last, text)
	})
}

// pane returns a pane that must be there.
func (s *server) pane(id string) Pane {
	s.t.Helper()
	p, ok, err := s.Pane(s.t.Context(), id)
	if err != nil || !ok {
		s.t.Fatalf("Pane(%s) = %v, %v", id, ok, err)
	}
	return p
}

func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("did not happen within 15 s: %s", what)
		}
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// signal sends a signal to a process the test has started.
func signal(t testing.TB, pid int, sig unix.Signal) {
	t.Helper()
	if pid <= 1 {
		t.Fatalf("no process to signal: %s", strconv.Itoa(pid))
	}
	if err := unix.Kill(pid, sig); err != nil {
		t.Fatalf("signal %d: %v", pid, err)
	}
}
