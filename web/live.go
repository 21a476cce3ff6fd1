package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"tower/core"
)

// live is what a page asks for all the time: the counts, who runs, and the revision.
type live struct {
	Revision int64             `json:"revision"`
	Run      string            `json:"run"` // of the tower's process; revisions of another run mean nothing
	At       core.Instant      `json:"at"`
	AsOf     core.Instant      `json:"as_of"`
	Mode     core.Mode         `json:"mode"`
	Name     string            `json:"name"`
	Accent   string            `json:"accent"`
	Build    string            `json:"build"`
	Disk     string            `json:"disk_build"`
	Zone     string            `json:"timezone"`
	Counts   core.Counts       `json:"counts"`
	Agents   []core.AgentState `json:"agents"`
	Launches []core.Launching  `json:"launches"` // under way or failed, oldest first
	Import   core.Progress     `json:"import"`
	Problems int               `json:"problems"` // sick loops and problems
	Status   []status          `json:"status"`   // of everything that runs
}

type status struct {
	ID      core.SessionID `json:"asm_id"`
	Pill    core.Pill      `json:"pill"`
	Raw     string         `json:"raw"`
	Wait    core.Wait      `json:"wait"`
	Ask     string         `json:"ask"`
	Since   core.Instant   `json:"since"`
	Context *int64         `json:"context_tokens"`
	Window  *int64         `json:"context_window"`
	Stale   bool           `json:"context_stale"`
	Busy    string         `json:"busy"`
	NoEnd   string         `json:"no_end"`
	Said    *core.Said     `json:"said"`
}

// getLive answers at once, or with ?since=R&wait=S when the revision moves past R, S seconds at most.
// A revision of another run, or one that was never published, is answered at once.
func (s *Server) getLive(w http.ResponseWriter, r *http.Request) error {
	since, err := number(r, "since", -1, 1<<62)
	if err != nil {
		return err
	}
	seconds, err := number(r, "wait", 0, int64(longestWait/time.Second))
	if err != nil {
		return err
	}
	snap := s.engine.Snapshot()
	run := r.URL.Query().Get("run")
	if seconds > 0 && since >= 0 && snap.Revision == since && (run == "" || run == s.run) {
		select {
		case s.waiting <- struct{}{}:
			ctx, cancel := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
			snap = s.engine.Wait(ctx, since)
			cancel()
			<-s.waiting
		default:
			return fault{code: http.StatusTooManyRequests, wait: 5 * time.Second, Text: "Too many pages wait at a time."}
		}
	}
	p, err := s.given("live", snap, func() ([]byte, error) { return facts(s.live(snap)) })
	if err != nil {
		return err
	}
	p.send(w, r)
	return nil
}

func (s *Server) live(snap *core.Snapshot) live {
	l := live{
		Revision: snap.Revision, Run: s.run, At: snap.At, AsOf: snap.AsOf, Mode: snap.Mode, Name: snap.Name,
		Accent: snap.Accent, Build: snap.Build, Disk: snap.Health.DiskBuild, Zone: snap.Zone, Counts: snap.Counts,
		Agents: full(snap.Agents), Launches: launches(snap), Import: snap.Import, Problems: len(snap.Health.Problems), Status: []status{},
	}
	for _, o := range snap.Health.Loops {
		if o.Error != "" {
			l.Problems++
		}
	}
	for i := range snap.Rows {
		r := &snap.Rows[i]
		if r.Live == nil {
			continue
		}
		l.Status = append(l.Status, status{r.ID, r.Live.Pill, r.Live.Raw, r.Live.Wait, r.Live.Ask, r.Live.Since,
			r.ContextTokens, r.ContextWindow, r.ContextStale, r.Busy, r.Live.NoEnd, r.Live.Said})
	}
	return l
}

// launches returns the launches of a picture, no list missing.
func launches(snap *core.Snapshot) []core.Launching {
	list := slices.Clone(full(snap.Launches))
	for i := range list {
		list[i].Lines = full(list[i].Lines)
	}
	return list
}

// given returns the answer to what is asked at the snapshot's revision, encoding it the first time.
func (s *Server) given(asked string, snap *core.Snapshot, build func() ([]byte, error)) (*packed, error) {
	s.list.mu.Lock()
	defer s.list.mu.Unlock()
	s.list.take(snap)
	current := s.list.snap == snap
	if p, ok := s.list.answers[asked]; ok && current {
		return p, nil
	}
	raw, err := build()
	if err != nil {
		return nil, err
	}
	p := pack(s.tagOf(snap.Revision, asked), raw)
	if current {
		s.list.keep(asked, p)
	}
	return p, nil
}

// number reads a query field. A field that is not there is -1 for a lowest of -1, else lowest.
func number(r *http.Request, name string, lowest, highest int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return lowest, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, bad("%s has to be a whole number.", name)
	}
	return min(n, highest), nil
}

// full makes an empty list of a missing one, so that JSON shows [] rather than null.
func full[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
