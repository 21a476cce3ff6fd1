package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tower/core"
)

func (e *Env) status() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Say what runs, what waits and whether all is well",
		Long: `Say what runs, what waits for you and whether all is well.
Exits with 4 when no tower is running; the counts are then those of the ledger.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := e.look(c.Context(), false)
			if err != nil {
				return err
			}
			if e.JSON {
				if err := e.print(p.Snapshot); err != nil {
					return err
				}
			} else {
				e.printStatus(p)
			}
			if !p.running {
				return quiet(ExitNotRunning)
			}
			return nil
		},
	}
}

func (e *Env) printStatus(p picture) {
	w := e.Out
	if !p.running {
		fmt.Fprintf(w, "Not running. As of %s:\n", e.clock(p.AsOf))
	}
	fmt.Fprintln(w, headline(p.Snapshot, p.running))
	if p.running {
		fmt.Fprintf(w, "Page %s, mode %s\n", p.URL, p.Mode)
	}
	if i := p.Import; i.Running {
		fmt.Fprintf(w, "Importing: %d of %d transcripts\n", i.Done, i.Total)
	}
	for _, l := range p.Launches {
		printLaunch(w, l)
	}
	installed := 0
	for _, a := range p.Agents {
		if a.Installed {
			installed++
			fmt.Fprintf(w, "%-12s %s, %d live; %s\n", a.Display, some(a.Counts.Visible, "session"), a.Counts.Live, hooksWord(a.Hooks.State))
			if a.Hooks.State == core.HooksNotInstalled {
				e.hint(fmt.Sprintf("tower hooks install %s   tells Tower of starts and questions the moment they happen", a.Agent))
			}
		}
	}
	if installed == 0 {
		fmt.Fprintln(w, "No agent is installed.")
		for _, a := range p.Agents {
			fmt.Fprintf(w, "  %s: %s\n", a.Display, a.Install)
		}
	}
	for _, l := range p.Health.Loops {
		if l.Error != "" {
			fmt.Fprintf(w, "Sick: %s since %s: %s\n", l.Name, e.clock(l.Since), clean(firstLine(l.Error), 400))
		}
	}
	for _, x := range p.Health.Problems {
		fmt.Fprintf(w, "Problem: %s\n", clean(x.Text, 2000))
	}
	if p.Health.DiskBuild != "" {
		fmt.Fprintln(w, "The program on disk is another build than the one running: tower restart")
	}
}

// printLaunch tells of a launch whose session is not known.
func printLaunch(w io.Writer, l core.Launching) {
	what := string(l.Agent)
	if l.Name != "" {
		what += " " + clean(l.Name, 60)
	}
	fmt.Fprintf(w, "Launch of %s in %s: %s", what, clean(l.CWD, 200), launchWord(l.State))
	if l.Text != "" {
		fmt.Fprint(w, ". ", clean(l.Text, 400))
	}
	fmt.Fprintln(w)
	for _, line := range l.Lines {
		fmt.Fprintf(w, "    %s\n", clean(line, 200))
	}
}

func launchWord(s core.LaunchState) string {
	switch s {
	case core.LaunchOpening:
		return "its window is being opened"
	case core.LaunchStarted:
		return "it runs, its session is not known yet"
	case core.LaunchBlocked:
		return "it is blocked in a dialog"
	}
	return "it failed"
}

// headline says the counts in one line, as every face does.
func headline(s *core.Snapshot, running bool) string {
	c := s.Counts
	if !running {
		return fmt.Sprintf("%s, %d hidden; what lives is unknown", some(c.Visible, "session"), c.Hidden)
	}
	var parts []string
	for _, x := range []struct {
		n    int
		word string
	}{{c.Waiting, "wait for you"}, {c.Working, "working"}, {c.Shell, "shell"}, {c.Idle, "idle"}, {c.Starting, "starting"}, {c.Other, "other"}} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", x.n, x.word))
		}
	}
	if len(parts) == 0 {
		parts = []string{"Nothing runs", "nothing waits"}
	}
	return fmt.Sprintf("%s; %d live, %d in all, %d hidden", strings.Join(parts, " · "), c.Live, c.Visible, c.Hidden)
}
