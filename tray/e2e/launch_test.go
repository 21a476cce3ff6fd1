//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"tower/core"
)

// launch asks for a session in a window by the command line, waits until it is live within what is
// promised, and holds what the tower says of it against the agent's own records.
func (w *tower) launch(t testing.TB, agent core.Agent, args ...string) *worker {
	t.Helper()
	r := &worker{agent: agent, dir: w.stage.freshFolder(t)}
	w.launched(t, r, func() core.Result {
		return w.do(t, append([]string{"launch", "--agent", string(agent), "--cwd", r.dir}, args...)...)
	})
	return r
}

// launchAPI is launch as the page asks for it.
func (w *tower) launchAPI(t testing.TB, agent core.Agent, fields map[string]any) *worker {
	t.Helper()
	r := &worker{agent: agent, dir: w.stage.freshFolder(t)}
	body := map[string]any{"agent": agent, "cwd": r.dir}
	for k, v := range fields {
		body[k] = v
	}
	w.launched(t, r, func() core.Result {
		res, _ := w.asked(t, "/api/launch", body)
		return res
	})
	return r
}

// launched fills in the worker from what ask started: its window, its process, its session.
func (w *tower) launched(t testing.TB, r *worker, ask func() core.Result) core.Result {
	t.Helper()
	began := time.Now()
	var res core.Result
	r.window = w.stage.desk.appears(t, "a launch", func() { res = ask() })
	if res.Launch == nil || res.Launch.Token == "" || res.Launch.Proc.PID == 0 {
		t.Fatalf("a launch that names no token or process: %+v", res.Launch)
	}
	started := process{res.Launch.Proc.PID, res.Launch.Proc.Start}
	if !started.alive() {
		t.Fatalf("the launch named process %d, which does not live\n%s", started.pid, describe())
	}
	w.liveInTime(t, r, began)
	// npm starts Codex through node, so that there the process that was started is the parent.
	if parent, _ := parentOf(r.proc.pid); started != r.proc && started.pid != parent {
		t.Errorf("the launch named process %d, and the session is driven by %d", started.pid, r.proc.pid)
	}
	runs := w.detail(t, r.id()).Runs
	if last := runs[len(runs)-1]; last.LaunchToken != res.Launch.Token || last.Proc.PID != r.proc.pid || last.Proc.Start != r.proc.start {
		t.Errorf("the session's run is %+v, want process %d under the token %s", last, r.proc.pid, res.Launch.Token)
	}
	w.stage.arrived(t, r)
	return res
}

// liveInTime waits until the session that the agent's own records name in the worker's folder is live, and
// holds the time since began against what is promised. How long the agent takes from its process to its
// record is its own affair and that of a busy machine; beyond what it takes on a quiet one it is not counted.
func (w *tower) liveInTime(t testing.TB, r *worker, began time.Time) {
	t.Helper()
	var own, theirs time.Duration
	until(t, 30*time.Second, fmt.Sprintf("%s launched into a live session", r.agent), func() bool {
		r.native, r.proc = w.stage.sessionIn(r.agent, r.dir)
		if r.native == "" {
			return false
		}
		if own == 0 {
			own, theirs = time.Since(began), age(r.proc)
		}
		row, ok := w.row(t, r.agent, r.native)
		return ok && row.Status == core.StatusLive
	})
	took := time.Since(began)
	t.Logf("%s live %.2f s after it was asked for, %.2f s after its own records named it", r.agent, took.Seconds(), (took - own).Seconds())
	if theirs > agentStarts {
		t.Logf("%s itself took %.2f s to come up", r.agent, theirs.Seconds())
		took -= theirs - agentStarts
	}
	if took > promisedLaunch {
		t.Errorf("%s was live only after %.2f s, promised are %.0f s", r.agent, took.Seconds(), promisedLaunch.Seconds())
	}
}

// agentStarts is how long an agent takes on a quiet machine from its process to its own record.
const agentStarts = 2 * time.Second

// age is how long a process has lived, by the kernel's own clock.
func age(p process) time.Duration {
	var up float64
	b, _ := os.ReadFile("/proc/uptime")
	fmt.Sscan(string(b), &up)
	const ticks = 100 // a second, on every Linux that runs these agents
	return time.Duration((up - float64(p.start)/ticks) * float64(time.Second))
}

// parentOf returns a living process's parent.
func parentOf(pid int) (int, bool) {
	fields, ok := stat(pid)
	if !ok {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil
}

// argv is what a process was started with.
func argv(p process) []string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// modelGiven tells which model a process was told to use, "" for none.
func modelGiven(p process) string {
	list := argv(p)
	for i, a := range list {
		if m, ok := strings.CutPrefix(a, "--model="); ok {
			return m
		}
		if (a == "--model" || a == "-m") && i+1 < len(list) {
			return list[i+1]
		}
	}
	return ""
}
