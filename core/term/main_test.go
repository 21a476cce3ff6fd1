package term

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/term"
)

// report is what a child tells of itself.
type report struct {
	PID  int
	PPID int
	Args []string
	Dir  string
	Env  []string
}

// TestMain turns the test program into the programs that tests show in windows.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case "show": // tells of itself in a file, then waits for the end of its terminal
			tell(os.Args[2], os.Args[3:])
			signal.Ignore(syscall.SIGINT)
			io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		case "sink": // the same, and writes down what it is sent, as an agent's input box would ask for it
			old, err := term.MakeRaw(0)
			if err != nil {
				os.Exit(4)
			}
			defer term.Restore(0, old)
			os.Stdout.WriteString("\x1b[?2004h")
			f, err := os.OpenFile(os.Args[2]+".typed", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			if err != nil {
				os.Exit(5)
			}
			tell(os.Args[2], os.Args[3:])
			io.Copy(f, os.Stdin)
			os.Exit(0)
		case "open": // opens a command and ends at once
			o, err := Open(context.Background(), Command{Terminal: "test", Argv: os.Args[2:], Env: os.Environ()})
			if err != nil {
				os.Stderr.WriteString(err.Error())
				os.Exit(6)
			}
			json.NewEncoder(os.Stdout).Encode(o.PID())
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func tell(file string, args []string) {
	dir, _ := os.Getwd()
	b, err := json.Marshal(report{PID: os.Getpid(), PPID: os.Getppid(), Args: args, Dir: dir, Env: os.Environ()})
	if err == nil {
		err = os.WriteFile(file+".part", b, 0o600)
	}
	if err == nil {
		err = os.Rename(file+".part", file)
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(3)
	}
}

func (r report) env(name string) string {
	for _, e := range r.Env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// self is the test program.
func self(t testing.TB) string {
	t.Helper()
	p, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// needs skips a test whose programs are not here.
func needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}
