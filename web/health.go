package web

import (
	"net/http"
	"slices"
	"time"

	"tower/core"
)

// health is what is read first when something is wrong. It is made for every call: the times of the
// loops move without a new revision.
type health struct {
	Revision int64         `json:"revision"`
	Run      string        `json:"run"`
	Mode     core.Mode     `json:"mode"`
	Build    string        `json:"build"`
	URL      string        `json:"url"`
	Since    core.Instant  `json:"since"` // of this process
	Now      core.Instant  `json:"now"`
	Zone     string        `json:"timezone"`
	Counts   core.Counts   `json:"counts"`
	Import   core.Progress `json:"import"`
	core.Health
	Doors doors `json:"doors"`
}

type doors struct {
	Browsers int  `json:"browsers"`
	Token    bool `json:"token"`
	Password bool `json:"password"`
}

func (s *Server) getHealth(w http.ResponseWriter, _ *http.Request) error {
	snap := s.engine.Snapshot()
	h := health{
		Revision: snap.Revision, Run: s.run, Mode: snap.Mode, Build: s.build, URL: s.URL(), Since: s.since,
		Now: core.InstantOf(s.now()), Zone: snap.Zone, Counts: snap.Counts, Import: snap.Import, Health: snap.Health,
		Doors: doors{len(s.devices.all()), s.token.isOn(), s.word.isSet()},
	}
	h.Loops, h.Problems, h.Ports = full(h.Loops), full(h.Problems), full(h.Ports)
	if h.UnknownTypes == nil {
		h.UnknownTypes = map[string]int64{}
	}
	return tell(w, h)
}

func (s *Server) getAgents(w http.ResponseWriter, r *http.Request) error {
	snap := s.engine.Snapshot()
	p, err := s.given("agents", snap, func() ([]byte, error) {
		return facts(struct {
			Revision int64             `json:"revision"`
			Agents   []core.AgentState `json:"agents"`
		}{snap.Revision, full(snap.Agents)})
	})
	if err != nil {
		return err
	}
	p.send(w, r)
	return nil
}

// heatmap is one strip an agent: the turns of every day from its first to today. A day before the first
// is not in it, because no data is not zero.
type heatmap struct {
	Revision int64   `json:"revision"`
	Zone     string  `json:"timezone"`
	Today    string  `json:"today"`
	Strips   []strip `json:"agents"`
}

type strip struct {
	Agent   core.Agent `json:"agent"`
	Display string     `json:"display"`
	First   string     `json:"first"` // day of turns[0]
	Total   int        `json:"total"`
	Turns   []int      `json:"turns"`
}

const isoDay = "2006-01-02"

func (s *Server) getHeatmap(w http.ResponseWriter, r *http.Request) error {
	snap := s.engine.Snapshot()
	today := s.now().In(zone(snap.Zone)).Format(isoDay)
	p, err := s.given("heatmap\x00"+today, snap, func() ([]byte, error) {
		return facts(heatmap{snap.Revision, snap.Zone, today, strips(s.engine.Heat(), snap.Agents, today)})
	})
	if err != nil {
		return err
	}
	p.send(w, r)
	return nil
}

// strips lays the turns out by agent, in the order of the configured agents. Days that cannot be read
// are left out.
func strips(heat []core.Heat, agents []core.AgentState, today string) []strip {
	last, err := time.Parse(isoDay, today)
	if err != nil {
		return []strip{}
	}
	days := map[core.Agent][]core.Heat{}
	for _, h := range heat {
		if _, err := time.Parse(isoDay, h.Day); err == nil && h.Turns > 0 {
			days[h.Agent] = append(days[h.Agent], h)
		}
	}
	out := []strip{}
	lay := func(agent core.Agent, display string) {
		list := days[agent]
		if len(list) == 0 {
			return
		}
		delete(days, agent)
		first, end := list[0].Day, today
		for _, h := range list {
			first, end = min(first, h.Day), max(end, h.Day) // a clock set back leaves turns in the future
		}
		from, _ := time.Parse(isoDay, first)
		to := last
		if end > today {
			to, _ = time.Parse(isoDay, end)
		}
		v := strip{Agent: agent, Display: display, First: first, Turns: make([]int, int(to.Sub(from).Hours()/24)+1)}
		for _, h := range list {
			day, _ := time.Parse(isoDay, h.Day)
			v.Turns[int(day.Sub(from).Hours()/24)] += h.Turns
			v.Total += h.Turns
		}
		out = append(out, v)
	}
	for _, a := range agents {
		lay(a.Agent, a.Display)
	}
	var rest []core.Agent // no longer configured; their past stays
	for a := range days {
		rest = append(rest, a)
	}
	slices.Sort(rest)
	for _, a := range rest {
		lay(a, string(a))
	}
	return out
}

// zone returns the named zone, else the machine's.
func zone(name string) *time.Location {
	if name != "" {
		if l, err := time.LoadLocation(name); err == nil {
			return l
		}
	}
	return time.Local
}
