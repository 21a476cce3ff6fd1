//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jezek/xgb/xproto"

	"tower/core"
)

// cell is one way an agent came into a terminal, and what was seen of END and JUMP there.
type cell struct {
	terminal string // by its name, or in words
	by       string // who started it and how
	agent    core.Agent
	open     func(t *testing.T, w *tower) *worker

	worker    *worker
	jump, end string
}

// terminalMatrix opens an agent in every terminal, by the tower and by hand, jumps to each from behind
// the others and ends each, and looks at the display for what came of it.
func terminalMatrix(t *testing.T) {
	w := acting(t)
	d := st.desk
	agents := []core.Agent{claudeAgent, codexAgent}
	var cells []*cell
	add := func(terminal, by string, open func(t *testing.T, w *tower, agent core.Agent) *worker) {
		agent := agents[len(cells)%2]
		cells = append(cells, &cell{terminal: terminal, by: by, agent: agent, open: func(t *testing.T, w *tower) *worker { return open(t, w, agent) }})
	}
	byTower := func(terminal string) func(t *testing.T, w *tower, agent core.Agent) *worker {
		return func(t *testing.T, w *tower, agent core.Agent) *worker {
			return w.launch(t, agent, "--terminal", terminal)
		}
	}
	byHand := func(terminal, how string) func(t *testing.T, w *tower, agent core.Agent) *worker {
		return func(t *testing.T, _ *tower, agent core.Agent) *worker { return d.openHand(t, terminal, how, agent) }
	}
	for _, terminal := range []string{xterm, kitty, alacr, xfce, gnome} {
		add(terminal, "tower", byTower(terminal))
	}
	for _, terminal := range []string{xterm, kitty, remote, alacr, xfce, xfce, gnome} {
		add(terminal, "hand, "+execed, byHand(terminal, execed))
	}
	for _, terminal := range []string{xterm, alacr, xfce, gnome} {
		add(terminal, "hand, "+typed, byHand(terminal, typed))
	}
	for _, how := range []string{execed, typed} {
		add(attached, "hand, "+how, func(t *testing.T, _ *tower, agent core.Agent) *worker { return d.openAttached(t, how, agent) })
		add(detached, "hand, "+how, func(t *testing.T, _ *tower, agent core.Agent) *worker { return d.openPane(t, how, agent) })
	}

	add(elsewhere, "hand, "+execed, func(t *testing.T, _ *tower, agent core.Agent) *worker {
		r := d.openPane(t, execed, agent)
		r.window = d.attach(t, st.openOn(t, r.pane.server, st.dir, "sleep", "86400"))
		return r
	})
	add(own, "tower", func(t *testing.T, w *tower, agent core.Agent) *worker { return w.launchTmux(t, agent) })

	// A window is cheap and an agent is not: they come up together, some at a time.
	for group := range slices.Chunk(cells, 4) {
		for _, c := range group {
			c.worker = c.open(t, w)
		}
		for _, c := range group {
			st.arrived(t, c.worker)
			w.becomes(t, soon, c.agent, c.worker.native, "live in "+c.terminal+" by "+c.by, func(r core.Row) bool {
				return r.Live != nil && r.Live.Proven && r.Live.Proc.PID == c.worker.proc.pid
			})
		}
		for _, c := range group {
			c.jumps(t, w)
		}
		for _, c := range group {
			c.ends(t, w)
		}
	}
	var b strings.Builder
	focused := map[string]bool{}
	for _, c := range cells {
		fmt.Fprintf(&b, "  %-26s %-14s %-7s JUMP %-34s END %s\n", c.terminal, c.by, c.agent, c.jump, c.end)
		focused[c.terminal] = focused[c.terminal] || strings.HasPrefix(c.jump, inFront)
	}
	t.Logf("terminals:\n%s", b.String())
	n := 0
	for _, terminal := range []string{xterm, kitty, alacr, xfce, gnome} {
		if focused[terminal] {
			n++
		}
	}
	if n < 4 {
		t.Errorf("%d terminals were brought to the front, want four at the least", n)
	}
}

// The ways of tmux, and the word for a jump that was seen.
const (
	attached = "tmux attached in xterm"
	detached = "tmux detached"
	// A client on the same server shows another session: it is switched over.
	elsewhere = "tmux, client elsewhere"
	own       = "the tower's tmux"
	inFront   = "in front"
)

// jumps brings the worker's window to the front from behind another one. What has no window is attached
// to first, as the refusal offers.
func (c *cell) jumps(t *testing.T, w *tower) {
	r := c.worker
	if r.window == 0 {
		_, stderr, code := w.run("jump", string(r.id()))
		refused(t, "JUMP to "+c.terminal, stderr, code, "No window to jump to.", "Attach")
		r.window = st.desk.appears(t, "what was attached", func() { w.do(t, "attach", string(r.id()), "--window") })
		c.jump = "refused, attached, "
	}
	took := w.jumpInTime(t, r, st.desk.behind(t))
	if r.pane != nil {
		if shown, err := r.pane.tmux("list-clients", "-F", "#{pane_id}"); err != nil || shown != r.pane.id {
			t.Errorf("after JUMP to %s by %s the client shows the pane %q (%v), want %s", c.terminal, c.by, shown, err, r.pane.id)
		}
	}
	c.jump += fmt.Sprintf("%s after %.0f ms", inFront, took.Seconds()*1000)
}

// ends ends the worker and looks for its window, or its pane.
func (c *cell) ends(t *testing.T, w *tower) {
	r := c.worker
	before := len(st.desk.windows())
	took := w.endAPI(t, r)
	c.end = fmt.Sprintf("%.2f s", took.Seconds())
	if r.window != 0 {
		if after := len(st.desk.windows()); after != before-1 {
			t.Errorf("END in %s by %s: %d windows before, %d after, want one less", c.terminal, c.by, before, after)
		}
		c.end += ", window closed"
	}
	if r.pane != nil {
		if _, alive := r.pane.session(); alive {
			t.Errorf("END in %s by %s left the pane %s", c.terminal, c.by, r.pane.id)
		}
		c.end += ", pane closed"
	}
}

// jumpsAmong has several windows of one terminal and raises each of them, in an order that is not that
// of their opening.
func jumpsAmong(t *testing.T) {
	w := acting(t)
	d := st.desk
	var all []*worker
	for i, terminal := range []string{xfce, xterm, xfce, xterm, remote, gnome, gnome} {
		all = append(all, d.openHand(t, terminal, execed, []core.Agent{claudeAgent, codexAgent}[i%2]))
	}
	for _, r := range all {
		st.arrived(t, r)
		w.becomes(t, soon, r.agent, r.native, "live", status(core.StatusLive))
	}
	if a, b := d.owner(all[0].window), d.owner(all[2].window); a == 0 || a != b {
		t.Fatalf("the two windows of %s belong to the processes %d and %d, want one", xfce, a, b)
	}
	// Each from behind its own sibling, which is the window that a guess would take.
	for _, pair := range [][2]int{{0, 2}, {2, 0}, {3, 1}, {1, 3}, {4, 0}, {5, 6}, {6, 5}} {
		w.jumpInTime(t, all[pair[0]], all[pair[1]].window)
	}
	d.front(t, all[0].window)
	w.do(t, "jump", string(all[2].id()))
	until(t, time.Second, "the window that the command line asked for", func() bool { return d.active() == all[2].window })
	// END takes the right one of them, too.
	w.end(t, all[0])
	if !all[2].proc.alive() || !d.has(all[2].window) {
		t.Errorf("END of one window of %s took its sibling", xfce)
	}
	for _, r := range slices.Delete(all, 0, 1) {
		w.endAPI(t, r)
	}
}

// behind returns a window with nothing in it, which stands in front of the others until one is raised.
func (d *desktop) behind(t testing.TB) xproto.Window {
	t.Helper()
	if d.blank == 0 || !d.has(d.blank) {
		script := filepath.Join(d.stage.dir, "blank.sh")
		if err := os.WriteFile(script, []byte("#!/bin/sh\nexec sleep 86400\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		d.blank = d.appears(t, "nothing", func() { d.start(t, xterm, "-e", script) })
	}
	return d.blank
}
