package codex

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"tower/core"
)

const (
	// askTime is the most a poll gives the daemon for all its answers.
	askTime = 300 * time.Millisecond
	// sulk is how long a daemon that did not answer is left alone.
	sulk = 10 * time.Second
)

// daemon remembers a shared server that did not answer, so that a poll does not wait for it each time.
type daemon struct {
	mu    sync.Mutex
	quiet time.Time
}

func (d *daemon) resting() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Now().Before(d.quiet)
}

func (d *daemon) failed() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.quiet = time.Now().Add(sulk)
}

func (a *Adapter) socket() string {
	return filepath.Join(a.info.Root, "app-server-control", "app-server-control.sock")
}

// status is what the daemon says of a thread.
type status struct {
	Type  string   `json:"type"`
	Flags []string `json:"activeFlags"`
}

// report is the part of a thread's description that is used.
type report struct {
	ID     string  `json:"id"`
	CWD    string  `json:"cwd"`
	Parent *string `json:"parentThreadId"`
	Status status  `json:"status"`
}

// ask completes the sightings at the given places with what the daemon says of them. A daemon that
// does not answer leaves them as their rollouts show them. A thread that it knows as a sub-agent's is
// left out of what is returned: one that has no rollout yet could not be told before.
func (a *Adapter) ask(ctx context.Context, all []core.Sighting, places []int) []core.Sighting {
	if a.daemon.resting() {
		return all
	}
	ids := make([]string, len(places))
	for i, at := range places {
		ids[i] = all[at].Native
	}
	reports, err := ask(ctx, a.socket(), ids)
	if err != nil {
		a.daemon.failed()
	}
	foreign := map[string]bool{}
	for i, at := range places {
		if r := reports[ids[i]]; r != nil {
			r.apply(&all[at])
			foreign[r.ID] = r.Parent != nil && *r.Parent != ""
		}
	}
	return slices.DeleteFunc(all, func(s core.Sighting) bool { return foreign[s.Native] })
}

// apply puts a report into a sighting.
func (r *report) apply(s *core.Sighting) {
	if s.CWD == "" {
		s.CWD = r.CWD
	}
	s.Raw = r.Status.Type
	switch r.Status.Type {
	case "idle":
		s.Pill, s.Final = core.PillIdle, true
	case "active":
		s.Pill, s.Final = core.PillWorking, true
		switch {
		case slices.Contains(r.Status.Flags, "waitingOnApproval"):
			s.Pill, s.Wait, s.Reason = core.PillWaiting, core.WaitPermission, "waitingOnApproval"
		case slices.Contains(r.Status.Flags, "waitingOnUserInput"):
			s.Pill, s.Wait, s.Reason = core.PillWaiting, core.WaitQuestion, "waitingOnUserInput"
		}
	case "notLoaded", "":
		s.Raw = ""
	default:
		s.Pill, s.Final = core.PillOther, true
	}
}

// ask reads the state of threads from the daemon: one connection, all questions at once, closed when
// the last answer is in. It reads only; to resume a thread would make the tower a client that keeps
// it loaded. What was answered is returned even when the rest was not.
func ask(ctx context.Context, path string, ids []string) (map[string]*report, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	s, err := dial(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("ask codex daemon: %w", err)
	}
	defer s.close()
	type call struct {
		ID     int    `json:"id,omitempty"`
		Method string `json:"method"`
		Params any    `json:"params,omitempty"`
	}
	calls := []call{
		{1, "initialize", map[string]any{"clientInfo": map[string]string{"name": "tower", "title": "Tower", "version": "1"}}},
		{0, "initialized", nil},
	}
	const firstRead = 2
	for i, id := range ids {
		calls = append(calls, call{firstRead + i, "thread/read", map[string]string{"threadId": id}})
	}
	for _, c := range calls {
		b, err := json.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("ask codex daemon: %w", err)
		}
		if err := s.write(b); err != nil {
			return nil, fmt.Errorf("ask codex daemon: %w", err)
		}
	}
	reports := map[string]*report{}
	answered := make([]bool, len(ids))
	for left := len(ids); left > 0; {
		b, err := s.read()
		if err != nil {
			return reports, fmt.Errorf("ask codex daemon: %w", err)
		}
		var answer struct {
			ID     json.RawMessage `json:"id"`
			Result struct {
				Thread *report `json:"thread"`
			} `json:"result"`
		}
		if err := json.Unmarshal(b, &answer); err != nil {
			continue // a notification of a shape of its own
		}
		n, err := strconv.Atoi(string(answer.ID))
		if n -= firstRead; err != nil || n < 0 || n >= len(ids) || answered[n] {
			continue
		}
		if t := answer.Result.Thread; t != nil && t.ID == ids[n] {
			reports[t.ID] = t
		}
		answered[n] = true
		left--
	}
	return reports, nil
}
