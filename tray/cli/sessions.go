package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

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
With --json one object a line. --status takes live, past, or a pill or status
word (working, waiting, idle, shell, ended, lost, killed ...); --since a day
(2026-11-30) or a time back (3h, 7d).`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			after, err := sinceOf(since, time.Now())
			if err != nil {
				return usageError{err}
			}
			p, err := e.look(c.Context(), true)
			if err != nil {
				return err
			}
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
			if !p.running {
				fmt.Fprintf(e.Err, "tower: not running, as of %s; what lives is unknown\n", clock(p.AsOf))
			}
			if len(rows) == 0 {
				fmt.Fprintln(e.Out, empty(p, all))
				return nil
			}
			return list(e.Out, rows, p.running)
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
	if !all && p.Counts.Hidden > 0 {
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

// sinceOf reads a day or a time back.
func sinceOf(s string, now time.Time) (core.Instant, error) {
	if s == "" {
		return 0, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
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

func list(w io.Writer, rows []core.Row, running bool) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "STATE\tAGENT\tTITLE\tFOLDER\tTURNS\tLAST\tID")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", state(r, running), r.Agent, titleOf(r, 44), base(r.CWD), number(r.Turns), age(r.LastSeen), short(r.Native))
	}
	return t.Flush()
}

// state is the word for what a session is doing, with its glyph.
func state(r core.Row, running bool) string {
	if r.Live != nil {
		switch r.Live.Pill {
		case core.PillWorking:
			return "► working"
		case core.PillWaiting:
			return "◆ waits: " + string(r.Live.Wait)
		case core.PillIdle:
			return "○ idle"
		case core.PillShell:
			return "$ shell"
		case core.PillStarting:
			return "◌ starting"
		}
		return "– " + clean(r.Live.Raw, 20)
	}
	if !running && (r.Status == core.StatusLive || r.Status == core.StatusStarting) {
		return "– unknown"
	}
	return "□ ended"
}

// titleOf is what a row is called: its title, else its first message in quotes.
func titleOf(r core.Row, limit int) string {
	if r.TitleText != "" {
		return clean(r.TitleText, limit)
	}
	if r.FirstMessage != "" {
		return "“" + clean(r.FirstMessage, limit-2) + "”"
	}
	return "-"
}

// clean makes foreign text safe for one cell of a terminal: no control characters, one line, cut.
func clean(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "�"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) && r != '\u200d' {
			return -1 // direction marks could turn the line around
		}
		return r
	}, s)
	if r := []rune(s); len(r) > limit {
		return string(r[:max(limit-1, 0)]) + "…"
	}
	return s
}

func base(path string) string {
	path = strings.TrimRight(path, `/\`)
	if i := strings.LastIndexAny(path, `/\`); i >= 0 && i+1 < len(path) {
		path = path[i+1:]
	}
	if path == "" {
		return "-"
	}
	return clean(path, 24)
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}

func age(i core.Instant) string {
	if i == 0 {
		return "-"
	}
	d := time.Since(i.Time())
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return i.Time().Local().Format("2006-01-02")
}

func short(id string) string {
	if len(id) > 13 {
		return id[:13]
	}
	return id
}
