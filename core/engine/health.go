package engine

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"tower/core"
)

// health is what each loop did last. It is safe for concurrent use.
type health struct {
	mu       sync.Mutex
	loops    []core.Loop
	progress core.Progress
	first    bool // the ledger held no source at start
	rows     int64
	bad      int64
	badLines int64
	unknown  map[string]int64
	problems map[string]core.Problem
	agents   []core.AgentState
	turns    map[string]time.Time // when the turn began that a loop is at
	disk     string
}

func newHealth() *health {
	return &health{problems: map[string]core.Problem{}, turns: map[string]time.Time{}}
}

func (h *health) loop(name string) *core.Loop {
	for i := range h.loops {
		if h.loops[i].Name == name {
			return &h.loops[i]
		}
	}
	h.loops = append(h.loops, core.Loop{Name: name})
	return &h.loops[len(h.loops)-1]
}

// begin notes that a loop begins its turn, which ends with tick.
func (h *health) begin(name string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loop(name)
	h.turns[name] = now
}

// busy names the loops that are at their turn.
func (h *health) busy() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(h.turns)), ", ")
}

// longTurn is how long a turn takes that nothing is wrong with. An import tells its progress.
const longTurn = time.Minute

// stuck adds to the loops what those are at that do not come back.
func (h *health) stuck(loops []core.Loop, now time.Time) {
	for i := range loops {
		l := &loops[i]
		if began, ok := h.turns[l.Name]; ok && now.Sub(began) > longTurn && l.Behind == "" && !h.progress.Running {
			l.Behind = "waits for an answer since " + began.UTC().Format(time.RFC3339)
		}
	}
}

// sick returns what is wrong with a loop, or "".
func (h *health) sick(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.loop(name).Error
}

// tick notes how a loop's turn went. It tells whether that is news.
func (h *health) tick(name string, err error, log *slog.Logger) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.turns, name)
	l := h.loop(name)
	was := l.Error
	if err == nil {
		l.LastOK, l.Error, l.Since = core.InstantOf(time.Now()), "", 0
		if was != "" {
			log.Info("loop is well again", "loop", name)
		}
		return was != ""
	}
	l.Error = err.Error()
	if was == "" {
		l.Since = core.InstantOf(time.Now())
	}
	if was != l.Error {
		log.Error("loop is sick", "loop", name, "error", err)
	}
	return was != l.Error
}

func (h *health) behind(name, what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loop(name).Behind = what
}

func (h *health) wrote(rows int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rows += rows
}

func (h *health) written() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rows
}

func (h *health) importing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.progress.Running
}

func (h *health) setProgress(p core.Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.First = h.first
	h.progress = p
}

// badFiles notes how many event files lie in quarantine. It tells whether that is news.
func (h *health) badFiles(n int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	moved := h.bad != n
	h.bad = n
	return moved
}

// importedOnce notes that the ledger holds sources.
func (h *health) importedOnce() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.first = false
}

// totals notes the sums over all sources.
func (h *health) totals(badLines int64, unknown map[string]int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.badLines, h.unknown = badLines, unknown
}

// problem notes something wrong under an id, or with no text that it is gone. It tells whether that
// is news.
func (h *health) problem(id, text, fix string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	old, had := h.problems[id]
	if text == "" {
		delete(h.problems, id)
		return had
	}
	if had && old.Text == text {
		return false
	}
	h.problems[id] = core.Problem{ID: id, Text: text, Fix: fix, Since: core.InstantOf(time.Now())}
	return true
}
