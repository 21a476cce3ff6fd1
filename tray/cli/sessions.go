package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tower/core"
)

func (e *Env) sessions() *cobra.Command {
	var all bool
	var agent, project, status, since string
	c := &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"ls"},
		Short:   "List the sessions",
		Long: `List the sessions: who waits for you first, then what runs, then what was.
With --json one object a line, null where unknown. --status takes live or past,
what a session is doing (waiting, working, idle, shell, starting, other), what it
waits for (permission, question, dialog, gate) or how it ended (ended, lost,
killed); --since a day (2026-11-30) or a time back (3h, 7d).`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := e.Open(); err != nil {
				return err
			}
			after, err := sinceOf(since, time.Now().In(e.zone))
			if err != nil {
				return usageError{err}
			}
			if status != "" && !slices.Contains(states, status) {
				return usageError{fmt.Errorf("there is no state %q; known: %s", status, strings.Join(states, ", "))}
			}
			if agent != "" {
				if _, err := e.agent(agent); err != nil {
					return err
				}
			}
			p, err := e.look(c.Context(), true)
			if err != nil {
				return err
			}
			e.asOf(p)
			var rows []core.Row
			for _, r := range p.Rows {
				if (all || r.Hidden == "") && (agent == "" || string(r.Agent) == agent) && r.LastSeen >= after &&
					(project == "" || strings.Contains(r.CWD, project) || r.Project == project) && fits(r, status) {
					rows = append(rows, r)
				}
			}
			if e.JSON {
				for _, r := range rows {
					if err := e.print(r); err != nil {
						return err
					}
				}
				return nil
			}
			if len(rows) == 0 {
				fmt.Fprintln(e.Out, empty(p, all))
				return nil
			}
			return e.list(rows, p.running)
		},
	}
	f := c.Flags()
	f.BoolVar(&all, "all", false, "hidden ones too")
	f.StringVar(&agent, "agent", "", "only of this agent")
	f.StringVar(&project, "project", "", "only in folders that contain this")
	f.StringVar(&status, "status", "", "only in this state")
	f.StringVar(&since, "since", "", "only active since then")
	return c
}

func empty(p picture, all bool) string {
	if p.Counts.All == 0 {
		return "No session is known yet. Start an agent in any terminal: it appears within 5 seconds."
	}
	switch {
	case all || p.Counts.Hidden == 0:
	case p.Counts.Hidden == 1:
		return "No session fits. 1 is hidden: --all shows it."
	default:
		return fmt.Sprintf("No session fits. %d are hidden: --all shows them.", p.Counts.Hidden)
	}
	return "No session fits."
}

func fits(r core.Row, status string) bool {
	switch status {
	case "":
		return true
	case "live":
		return r.Live != nil || r.Status == core.StatusLive
	case "past":
		return r.Status.Over()
	}
	return string(r.Status) == status || r.Live != nil && (string(r.Live.Pill) == status || string(r.Live.Wait) == status)
}

// states are the words --status takes.
var states = []string{
	"live", "past", string(core.PillWaiting), string(core.PillWorking), string(core.PillIdle), string(core.PillShell), string(core.PillOther),
	string(core.WaitPermission), string(core.WaitQuestion), string(core.WaitDialog), string(core.WaitGate),
	string(core.StatusStarting), string(core.StatusEnded), string(core.StatusLost), string(core.StatusKilled),
}

// sinceOf reads a day, in the zone of now, or a time back.
func sinceOf(s string, now time.Time) (core.Instant, error) {
	if s == "" {
		return 0, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return core.InstantOf(t), nil
	}
	var n int
	var unit rune
	if _, err := fmt.Sscanf(s, "%d%c", &n, &unit); err == nil && n >= 0 && fmt.Sprintf("%d%c", n, unit) == s {
		if d, ok := map[rune]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[unit]; ok {
			return core.InstantOf(now.Add(-time.Duration(n) * d)), nil
		}
	}
	return 0, fmt.Errorf("--since %q is neither a day (2026-11-30) nor a time back (30m, 3h, 7d, 2w)", s)
}

func (e *Env) list(rows []core.Row, running bool) error {
	t := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "STATE\tAGENT\tTITLE\tFOLDER\tTURNS\tLAST\tID")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", state(r, running), r.Agent, titleOf(r, 44), base(r.CWD), number(r.Turns), e.age(r.LastSeen), clean(short(r.Native), shown))
	}
	return t.Flush()
}
