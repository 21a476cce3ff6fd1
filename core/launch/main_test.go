package launch

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tower/core/proc"
)

// The roles of the test program, told by its first argument: every variable but the order's own is
// the launcher's to remove.
const (
	asLauncher = "be-launcher"
	asAgent    = "be-agent"
)

// seen is what an agent finds when it starts.
type seen struct {
	PID   int
	Start uint64
	Argv  []string
	Env   []string
	Dir   string
	Input string // its first bytes of standard input
	Open  []string
	Umask int
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case asLauncher:
			os.Exit(beLauncher(os.Args[2]))
		case asAgent:
			os.Exit(beAgent(os.Args[2]))
		}
	}
	home, err := os.MkdirTemp("", "launch-home-")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"} {
		os.Setenv(name, home)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

func beLauncher(path string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := Exec(ctx, path, os.Stderr)
	var x Exit
	if errors.As(err, &x) {
		return int(x)
	}
	return 1
}

func beAgent(to string) int {
	s := seen{PID: os.Getpid(), Argv: os.Args, Env: os.Environ(), Umask: umask()}
	s.Start, _ = proc.Start(s.PID)
	s.Dir, _ = os.Getwd()
	in := make([]byte, 64)
	n, err := os.Stdin.Read(in)
	if s.Input = string(in[:n]); err == io.EOF && n == 0 {
		s.Input = "EOF"
	}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		// The runtime of this program opens some itself.
		if err == nil && len(e.Name()) == 1 && e.Name() > "2" && !strings.Contains(target, "anon_inode") && !strings.HasPrefix(target, "/sys/fs/cgroup/") {
			s.Open = append(s.Open, e.Name()+" "+target)
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return 3
	}
	tmp := to + ".tmp"
	if os.WriteFile(tmp, text, 0o600) != nil || os.Rename(tmp, to) != nil {
		return 3
	}
	return 7
}

// program is this test program under a path of its own.
func program(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// place is a home with blanks and umlauts in its path, and a folder to work in.
type place struct{ root, launches, inbox, work, socket string }

func newPlace(t *testing.T) place {
	t.Helper()
	root := filepath.Join(t.TempDir(), "Türme & 'Höhen' 東京")
	short, err := os.MkdirTemp("", "tw") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	p := place{root: root, launches: filepath.Join(root, "launches"), inbox: filepath.Join(root, "inbox"),
		work: filepath.Join(root, "my #{pane_id} \"work\" $(x)"), socket: filepath.Join(short, "tower.sock")}
	if err := os.MkdirAll(p.work, 0o700); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p place) order(token string, argv ...string) Order {
	return Order{Token: token, Agent: "fake", Argv: argv, PromptAt: -1, Dir: p.work, Socket: p.socket, Inbox: p.inbox}
}

func write(t *testing.T, p place, o Order, prompt string) string {
	t.Helper()
	path, err := Write(p.launches, o, prompt)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
