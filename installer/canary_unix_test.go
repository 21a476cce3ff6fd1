//go:build !windows

package installer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tower/adapters/adaptertest"
	"tower/core"
)

// shot makes the fake agent run a shell script.
func shot(t *testing.T, fake *adaptertest.Fake, script string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "fake-agent")
	store(t, file, "#!/bin/sh\n"+script+"\n", 0o700)
	fake.Shot = []string{file}
}

func TestCanary(t *testing.T) {
	type arrange struct {
		script  string
		prepare func(t *testing.T, h *Hooks, fake *adaptertest.Fake)
		verdict CanaryVerdict
		said    string
		output  string
	}
	logLine := func(h *Hooks, agent string, at time.Time, what string) string {
		return fmt.Sprintf("echo '%s %s start e1 1.00ms %s' >> '%s'", core.InstantOf(at), agent, what, h.HookLog)
	}
	later := time.Now().Add(time.Hour)
	for name, c := range map[string]arrange{
		"works": {
			script:  `read line && exit 9; touch "$MARK"`,
			verdict: CanaryOK, said: "The hooks of Fake Agent work: an event arrived.",
		},
		"works although the agent fails": {
			script:  `touch "$MARK"; exit 1`,
			verdict: CanaryOK, said: "an event arrived",
		},
		"not installed": {
			prepare: func(t *testing.T, h *Hooks, fake *adaptertest.Fake) {
				if _, err := h.Uninstall(adaptertest.FakeName); err != nil {
					t.Fatal(err)
				}
			},
			script: `touch "$MARK"`, verdict: CanaryNotInstalled, said: "The hooks of Fake Agent are not installed.",
		},
		"unreadable": {
			prepare: func(t *testing.T, h *Hooks, fake *adaptertest.Fake) { store(t, fake.HookFile(), "!", 0o600) },
			script:  `touch "$MARK"`, verdict: CanaryNotInstalled, said: `are not installed. The file begins with "!".`,
		},
		"not trusted": {
			prepare: func(t *testing.T, h *Hooks, fake *adaptertest.Fake) {
				store(t, filepath.Join(fake.Agent().Root, "untrusted"), "", 0o600)
			},
			script: `touch "$MARK"`, verdict: CanaryNotTrusted, said: "The hooks of Fake Agent are installed and not trusted. The fake agent has to be told.",
		},
		"did not run": {
			script:  "echo starting; echo 'no licence' >&2; printf '\\033[1mgiving up\\n\\n'; exit 3",
			verdict: CanaryDidNotRun, said: "Fake Agent did not run: exit status 3.", output: "starting\nno licence\n[1mgiving up",
		},
		"no command": {
			prepare: func(t *testing.T, h *Hooks, fake *adaptertest.Fake) { fake.Shot = []string{"no-such-agent-anywhere"} },
			verdict: CanaryDidNotRun, said: `Fake Agent did not run: there is no command "no-such-agent-anywhere" in PATH.`,
		},
		"hook called, no file": {
			prepare: func(t *testing.T, h *Hooks, fake *adaptertest.Fake) {
				shot(t, fake, logLine(h, "fake", later, "failed: no space left")+"\n"+logLine(h, "other", later, "written"))
			},
			verdict: CanaryNoFile, said: "Fake Agent called the hook, and no event arrived. The hook's log says: start e1 1.00ms failed: no space left",
		},
		"hook not called": {
			prepare: func(t *testing.T, h *Hooks, fake *adaptertest.Fake) {
				shot(t, fake, logLine(h, "fake", time.Now().Add(-time.Hour), "written")+"\n"+logLine(h, "other", later, "written"))
			},
			verdict: CanaryNoFile, said: "Fake Agent ran and did not call the hook.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, fake := house(t)
			h.landing = time.Millisecond
			if _, err := h.Install(adaptertest.FakeName); err != nil {
				t.Fatal(err)
			}
			mark := filepath.Join(t.TempDir(), "mark")
			t.Setenv("MARK", mark)
			if c.script != "" {
				shot(t, fake, c.script)
			}
			if c.prepare != nil {
				c.prepare(t, h, fake)
			}
			began := time.Now()
			r, err := h.Canary(t.Context(), adaptertest.FakeName, func(since time.Time, agent core.Agent) (bool, error) {
				if since.Before(began) || agent != adaptertest.FakeName {
					t.Errorf("landed was asked for %s since %v", agent, since)
				}
				_, err := os.Stat(mark)
				return err == nil, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != c.verdict || !strings.Contains(r.Said, c.said) || r.Output != c.output {
				t.Errorf("Canary = %+v, want %s, %q, %q", r, c.verdict, c.said, c.output)
			}
			if _, err := os.Stat(mark); err == nil && c.verdict != CanaryOK {
				t.Error("the agent was run")
			}
		})
	}
}

// TestCanaryDeadline ends an agent that does not end, with what it started.
func TestCanaryDeadline(t *testing.T) {
	h, fake := house(t)
	h.landing, h.deadline = time.Millisecond, 300*time.Millisecond
	if _, err := h.Install(adaptertest.FakeName); err != nil {
		t.Fatal(err)
	}
	pids := filepath.Join(t.TempDir(), "pids")
	shot(t, fake, "sleep 600 & echo $! > "+pids+"; echo thinking; wait")
	r, err := h.Canary(t.Context(), adaptertest.FakeName, func(time.Time, core.Agent) (bool, error) { return false, nil })
	if err != nil || r.Verdict != CanaryDidNotRun || !strings.Contains(r.Said, "had not ended after 300ms") || r.Output != "thinking" {
		t.Errorf("Canary = %+v, %v", r, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(load(t, pids)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); ; {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(b), ") Z ") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the child %d of the agent still runs", pid)
		}
	}
}

func TestCanaryErrors(t *testing.T) {
	h, fake := house(t)
	if _, err := h.Install(adaptertest.FakeName); err != nil {
		t.Fatal(err)
	}
	shot(t, fake, "exit 0")
	broken := errors.New("the inbox cannot be read")
	if _, err := h.Canary(t.Context(), adaptertest.FakeName, func(time.Time, core.Agent) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("Canary = %v, want what landed said", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Canary(ctx, adaptertest.FakeName, func(time.Time, core.Agent) (bool, error) { return true, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Canary in a context that is over = %v", err)
	}
	_, err := h.Canary(t.Context(), "nobody", nil)
	refusal(t, err, "There is no agent")
}

func TestEnviron(t *testing.T) {
	got := environ([]string{"A=1", "CLAUDE_X=2", "CLAUDECODE=1", "AI=3", "AI_AGENT=4", "B=5", "odd"},
		core.Launch{Set: map[string]string{"B": "6"}, Unset: []string{"CLAUDE*", "AI_AGENT"}})
	if s := strings.Join(got, " "); s != "A=1 AI=3 odd B=6" {
		t.Errorf("environ = %s", s)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var x tail
	for i := range 5000 {
		fmt.Fprintf(&x, "line %d\n", i)
	}
	if got := x.lines(); got != "line 4995\nline 4996\nline 4997\nline 4998\nline 4999" {
		t.Errorf("lines = %q", got)
	}
	if len(x.end) > 2*tailSize {
		t.Errorf("tail holds %d bytes", len(x.end))
	}
}
