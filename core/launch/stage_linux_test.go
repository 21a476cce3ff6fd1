package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"tower/core"
)

// tower answers the launcher's question at the place's socket.
func (p place) tower(t *testing.T, answer http.HandlerFunc) {
	t.Helper()
	l, err := net.Listen("unix", p.socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: answer}
	done := make(chan struct{})
	go func() { s.Serve(l); close(done) }()
	t.Cleanup(func() { s.Close(); <-done })
}

// says answers with a login environment.
func says(env ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string][]string{"env": env})
	}
}

// gone answers as if there were no tower, at once.
func gone(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprintln(w, `{"error":"There is no such launch."}`)
}

// launched is how one run of the launcher went.
type launched struct {
	pid    int
	code   int
	stderr string
}

func run(t *testing.T, path string, prepare func(*exec.Cmd)) launched {
	t.Helper()
	return runWhile(t, path, prepare, nil)
}

// runWhile does something else while the launcher runs.
func runWhile(t *testing.T, path string, prepare func(*exec.Cmd), meanwhile func(pid int)) launched {
	t.Helper()
	cmd := exec.Command(program(t), asLauncher, path)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nowhere"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if prepare != nil {
		prepare(cmd)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if meanwhile != nil {
		meanwhile(cmd.Process.Pid)
	}
	late := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer late.Stop()
	err := cmd.Wait()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return launched{cmd.Process.Pid, cmd.ProcessState.ExitCode(), stderr.String()}
}

// reports reads what the launcher left in the inbox.
func (p place) reports(t *testing.T) (list []core.Envelope) {
	t.Helper()
	entries, err := os.ReadDir(p.inbox)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(p.inbox, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var env core.Envelope
		if err := json.Unmarshal(text, &env); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		list = append(list, env)
	}
	return list
}

func (p place) report(t *testing.T, event string) (Report, core.Envelope) {
	t.Helper()
	list := p.reports(t)
	if len(list) != 1 || list[0].Event != event {
		t.Fatalf("the inbox has %d events, %+v, want one %s", len(list), list, event)
	}
	r, ok := ReportOf(list[0])
	if !ok {
		t.Fatalf("ReportOf(%s) is no report", list[0].Payload)
	}
	return r, list[0]
}

func (p place) seen(t *testing.T) (s seen) {
	t.Helper()
	text, err := os.ReadFile(p.out())
	if err != nil {
		t.Fatalf("the agent was not started: %v", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (p place) out() string { return filepath.Join(p.root, "seen.json") }

// agent is an order for the test program as an agent.
func (p place) agent(t *testing.T, token string, more ...string) Order {
	return p.order(token, append([]string{program(t), asAgent, p.out()}, more...)...)
}
