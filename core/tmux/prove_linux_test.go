package tmux

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tower/core"
	"tower/core/proc"

	"golang.org/x/sys/unix"
)

func TestRdev(t *testing.T) {
	for _, c := range []struct{ major, minor, want uint64 }{
		{136, 3, 34819}, {136, 255, 35071}, {136, 256, 1<<20 | 34816}, {137, 0, 35072}, {5, 0, 1280}, {136, 300, 1<<20 | 34860},
	} {
		if got := kernelDevice(c.major, c.minor); got != c.want || got != kernel(c.major, c.minor) {
			t.Errorf("kernelDevice(%d, %d) = %d, want %d", c.major, c.minor, got, c.want)
		}
	}
	for _, name := range []string{"", "/dev/pts/none", os.TempDir(), "/proc/self/stat"} {
		if n, err := Rdev(name); err == nil {
			t.Errorf("Rdev(%q) = %d, want an error", name, n)
		}
	}
}

// real is a server whose panes are proven on the machine's own process table.
type real struct {
	*server
	reader *proc.Reader
}

func newReal(t *testing.T) *real { return &real{newServer(t), proc.NewReader()} }

func (r *real) process(pid int) core.Process {
	r.t.Helper()
	start, ok := proc.Start(pid)
	if !ok {
		r.t.Fatalf("process %d has no start", pid)
	}
	return core.Process{Boot: proc.Boot(), PID: pid, Start: start}
}

// prove proves as the engine does: the pane first, then the table.
func (r *real) prove(agent core.Process, pane string) error {
	r.t.Helper()
	p, _, err := r.Pane(r.t.Context(), pane)
	if err != nil {
		r.t.Fatal(err)
	}
	var rdev uint64
	if p.TTY != "" && !p.Dead {
		if rdev, err = Rdev(p.TTY); err != nil {
			r.t.Fatal(err)
		}
	}
	table, err := r.reader.Read()
	if err != nil {
		r.t.Fatal(err)
	}
	return Prove("Not delivered.", table, agent, p, rdev, nil)
}

// proven waits for the proof; a program may not have come to the front yet.
func (r *real) proven(what string, agent core.Process, pane string) {
	r.t.Helper()
	var err error
	defer func() {
		if r.t.Failed() {
			r.t.Logf("last: %v", err)
		}
	}()
	eventually(r.t, what+" is proven", func() bool { err = r.prove(agent, pane); return err == nil })
}

func (r *real) refused(what, why string, agent core.Process, pane string) {
	r.t.Helper()
	var err error
	defer func() {
		if r.t.Failed() {
			r.t.Logf("last: %v", err)
		}
	}()
	eventually(r.t, what+" is refused", func() bool {
		err = r.prove(agent, pane)
		var refusal *core.Refusal
		return errors.As(err, &refusal) && strings.Contains(refusal.Why, why)
	})
}

// below waits for a process below another whose arguments hold a word.
func (r *real) below(top int, word string) int {
	r.t.Helper()
	found := 0
	eventually(r.t, word+" runs", func() bool {
		table, err := r.reader.Read()
		if err != nil {
			r.t.Fatal(err)
		}
		table.All(func(p core.Proc) bool {
			args, _ := table.Args(p.PID)
			if len(args) > 0 && args[0] != "script" && !strings.HasSuffix(args[0], "sh") && slices.Contains(args, word) && Below(table, p.PID, top) {
				found = p.PID
			}
			return found == 0
		})
		return found != 0
	})
	return found
}

func TestProveReal(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	plain := r.run1(Start{ID: "plain", Dir: r.dir, Argv: []string{"sleep", "1000"}})
	agent := r.process(plain.PID)
	r.proven("the pane's own program", agent, plain.ID)

	wrapped := r.run1(Start{ID: "wrapped", Dir: r.dir, Argv: []string{"/bin/sh", "-c", "sleep 1001; true"}})
	inner := r.process(r.below(wrapped.PID, "1001"))
	r.proven("a program in a wrapper", inner, wrapped.ID)

	r.refused("another session's pane", "does not run in tmux pane "+wrapped.ID, agent, wrapped.ID)
	r.refused("a pane that is not there", "pane is gone", agent, "%9999")
	old := agent
	old.Start--
	r.refused("a recycled pid", "not the one that was recorded", old, plain.ID)
	old = agent
	old.Boot = "00000000-0000-0000-0000-000000000000"
	r.refused("another boot", "last started", old, plain.ID)

	if _, err := r.run(t.Context(), "copy-mode", "-t", plain.ID); err != nil {
		t.Fatal(err)
	}
	r.refused("copy mode", "copy mode", agent, plain.ID)
	if _, err := r.run(t.Context(), "send-keys", "-t", plain.ID, "-X", "cancel"); err != nil {
		t.Fatal(err)
	}
	r.proven("after copy mode it", agent, plain.ID)

	zombie := r.start("zombie", "zombie")
	r.shows(zombie.ID, "child")
	screen, err := r.Capture(t.Context(), zombie.ID, 5)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`child (\d+)\.`).FindStringSubmatch(screen)
	if m == nil {
		t.Fatalf("the pane shows %q", screen)
	}
	pid, _ := strconv.Atoi(m[1])
	dead := r.process(pid)
	if unix.Kill(pid, 0) != nil {
		t.Fatal("the zombie is cleared away: this shows nothing")
	}
	r.refused("a zombie", "has ended", dead, zombie.ID)

	if _, err := exec.LookPath("script"); err != nil {
		t.Log("script(1) is not installed: no inner terminal is tried")
	} else {
		script := r.run1(Start{ID: "script", Dir: r.dir, Argv: []string{"script", "-qc", "sleep 1002", "/dev/null"}})
		inner := r.process(r.below(script.PID, "1002"))
		t.Cleanup(func() { // both outlive their pane
			for _, p := range []core.Process{r.process(script.PID), inner} {
				signal(t, p.PID, unix.SIGKILL)
			}
		})
		r.refused("a program on an inner terminal", "another terminal", inner, script.ID)
	}

	signal(t, plain.PID, unix.SIGKILL)
	eventually(t, "the end is seen", func() bool { return r.pane(plain.ID).Dead })
	r.refused("a program that was ended", "process "+strconv.Itoa(plain.PID)+" is gone", agent, plain.ID)
	r.refused("a dead pane", "The program in its tmux pane has ended", inner, plain.ID)
}

// TestProveShell proves an agent that a person runs from a shell, while it comes and goes.
func TestProveShell(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed: this test needs a shell with job control")
	}
	r := newReal(t)
	p := r.run1(Start{ID: "shell", Dir: r.dir, Argv: []string{bash, "--norc", "--noprofile", "-i"}})
	typed := func(line string) {
		t.Helper()
		if err := r.Paste(t.Context(), p.ID, line); err != nil {
			t.Fatal(err)
		}
		if err := r.Enter(t.Context(), p.ID); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(r.dir, "out")
	typed("sleep 2001")
	agent := r.process(r.below(p.PID, "2001"))
	r.proven("an agent run from a shell", agent, p.ID)
	if _, err := r.run(t.Context(), "send-keys", "-t", p.ID, "C-z"); err != nil {
		t.Fatal(err)
	}
	r.refused("a suspended agent", "suspended", agent, p.ID)
	typed("bg")
	r.refused("an agent in the background", "Another program is in front in its terminal: bash", agent, p.ID)
	typed("touch " + out) // the shell takes what is typed now, as it would have taken the prompt
	eventually(t, "the shell ran what was typed", func() bool { _, err := os.Stat(out); return err == nil })
	typed("fg")
	r.proven("brought back, it", agent, p.ID)
	signal(t, agent.PID, unix.SIGTERM)
	r.refused("an agent that has left a shell", "is gone", agent, p.ID)
}
