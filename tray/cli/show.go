package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tower/core"
	"tower/core/engine"
)

func (e *Env) show() *cobra.Command {
	return &cobra.Command{
		Use:   "show SESSION",
		Short: "Show everything known of one session",
		Long: `Show everything known of one session: its state and the proof of it, its runs,
and the sessions it hangs together with.

SESSION is the agent's id or Tower's, its first characters (4 at least), or the
exact title.`,
		Args: args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			p, err := e.look(c.Context(), true)
			if err != nil {
				return err
			}
			row, err := find(p.Rows, a[0], nil)
			if err != nil {
				return err
			}
			var d core.Detail
			if p.running {
				cl, err := e.client()
				if err != nil {
					return err
				}
				if err := cl.call(c.Context(), http.MethodGet, "/api/sessions/"+url.PathEscape(string(row.ID)), nil, &d); err != nil {
					return err
				}
			} else if d, err = engine.StillDetail(c.Context(), e.EngineOptions(slog.New(slog.DiscardHandler)), p.Snapshot, row.ID); err != nil {
				return err
			}
			if d.Session == nil {
				return errors.New("the tower answered without a session")
			}
			e.asOf(p)
			if e.JSON {
				return e.print(d)
			}
			e.printDetail(&d, p.running)
			return nil
		},
	}
}

func (e *Env) printDetail(d *core.Detail, running bool) {
	w := e.Out
	fact := func(name, value string) {
		if value = clean(value, 1000); value == "" {
			value = "-"
		}
		fmt.Fprintf(w, "%-13s %s\n", name, value)
	}
	fmt.Fprintln(w, titleOf(d.Row, 100))
	st := state(d.Row, running)
	if how := ended(d.Session); how != "" {
		st += "  (" + how + ")"
	}
	fact("State", st)
	if l := d.Live; l != nil {
		if l.Ask != "" {
			fact("Asks", clean(l.Ask, 300))
		}
		proof := "not proven"
		if l.Proven {
			proof = "start proven, by " + string(l.Grade)
		}
		if l.Proc.Known() {
			fact("Process", fmt.Sprintf("pid %d, %s", l.Proc.PID, proof))
		}
		if l.Caution != "" {
			fact("Note", l.Caution)
		}
		if l.NoEnd != "" && l.NoEnd != l.Caution {
			fact("END", l.NoEnd)
		}
		if l.Said != nil {
			fact("Last output", strings.TrimSpace(string(l.Said.Class)+"  "+clean(l.Said.Line, 300)))
		}
	}
	if d.Hidden != "" {
		fact("Hidden", d.Hidden)
	}
	fact("Agent", strings.TrimSpace(string(d.Agent)+" "+d.Version))
	fact("Session", d.Native)
	fact("Tower id", string(d.ID))
	fact("Folder", clean(d.CWD, 300))
	fact("Model", clean(d.Model, 80))
	context := "no reading"
	if d.ContextTokens != nil {
		context = fmt.Sprintf("%d tokens", *d.ContextTokens)
		if d.ContextWindow != nil {
			context += fmt.Sprintf(" of %d", *d.ContextWindow)
		}
		if d.ContextStale {
			context += ", stale: compacted since"
		}
	}
	fact("Context", context)
	fact("Turns", number(d.Turns))
	fact("Started", e.clock(d.StartedAt))
	fact("Last activity", e.clock(d.LastSeen))
	if d.Status.Over() {
		fact("Ended", e.clock(d.EndedAt))
	}
	if d.FirstMessage != "" {
		fact("First message", clean(d.FirstMessage, 300))
	}
	if d.Description != "" {
		fact("Description", clean(d.Description, 1000))
	}
	if len(d.Tags) > 0 {
		fact("Tags", clean(strings.Join(d.Tags, ", "), 300))
	}
	fact("Transcript", clean(d.Transcript, 400))
	for _, r := range d.Runs {
		end := "open"
		if r.EndedAt != 0 {
			end = e.clock(r.EndedAt)
		}
		fact("Run", fmt.Sprintf("pid %d, %s to %s %s", r.Proc.PID, e.clock(r.StartedAt), end, r.StartSource))
	}
	for _, l := range d.Chain {
		fact(l.How, string(l.ID)+"  "+clean(l.Title, 80))
	}
	for _, m := range []struct {
		name string
		m    map[string]int64
	}{{"Skill", d.Skills}, {"Touched", d.Folders}} {
		for _, k := range slices.Sorted(maps.Keys(m.m)) {
			fact(m.name, fmt.Sprintf("%s ×%d", clean(k, 200), m.m[k]))
		}
	}
}
