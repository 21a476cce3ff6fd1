package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"

	"tower/adapters/jsonl"
	"tower/core"
	"tower/core/sweep"
)

// scanned is the object scan prints: what one pass over a file tells, null where unknown.
type scanned struct {
	Path          string           `json:"path"`
	Agent         *string          `json:"agent"`
	Native        *string          `json:"agent_session_id"`
	Kind          string           `json:"kind"`
	Parent        *string          `json:"parent_id"`
	ForkedFrom    *string          `json:"forked_from"`
	CWD           *string          `json:"cwd"`
	Title         *string          `json:"title"`
	First         *string          `json:"first_message"`
	Version       *string          `json:"version"`
	Typed         *int64           `json:"typed_prompts"`
	Slash         *int64           `json:"slash_to_model"`
	MidTurn       *int64           `json:"typed_mid_turn"`
	Copied        *int64           `json:"copied"`
	Turns         *int64           `json:"turns"`
	PerDay        map[string]int64 `json:"turns_per_day"`
	Model         *string          `json:"model"`
	Models        map[string]int64 `json:"models"`
	ContextTokens *int64           `json:"context_tokens"`
	ContextWindow *int64           `json:"context_window"`
	Skills        map[string]int64 `json:"skills"`
	Closeout      *string          `json:"closeout"`
	Folders       map[string]int64 `json:"folders"`
	FirstAt       core.Instant     `json:"first_ts"`
	LastAt        core.Instant     `json:"last_ts"`
	Bytes         int64            `json:"bytes"`
	Lines         *int64           `json:"lines"`
	Bad           *int64           `json:"bad_lines"`
	Unknown       map[string]int64 `json:"unknown_types"`
}

func (e *Env) scan() *cobra.Command {
	var agent string
	c := &cobra.Command{
		Use:   "scan FILE...",
		Short: "Read transcripts and print what they tell, without the ledger",
		Long: `Read the given transcripts in one pass each and print one JSON object a file:
what Tower would keep of it. Nothing is written and no tower is needed. Days are
UTC days. A file that cannot be read is told on standard error; the others are
printed and the exit code is 1.`,
		Args: args(1, -1),
		RunE: func(c *cobra.Command, files []string) error {
			if err := e.Open(); err != nil {
				return err
			}
			brief()
			var failed error
			for _, f := range files {
				s, err := e.scanFile(c.Context(), core.Agent(agent), f)
				if err != nil {
					fmt.Fprintf(e.Err, "tower: error: %v\n", err)
					failed = quiet(ExitError)
					var u usageError
					if errors.As(err, &u) {
						failed = quiet(ExitUsage)
					}
					continue
				}
				if err := e.print(s); err != nil {
					return err
				}
			}
			return failed
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "the agent that wrote them (default: told by the file)")
	return c
}

// brief tells the collector that this process reads files and ends: what it leaves behind is small and
// soon gone, and a tenth of its time would go into looking for it.
func brief() { debug.SetGCPercent(800) }

func (e *Env) scanFile(ctx context.Context, agent core.Agent, file string) (scanned, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return scanned{}, err
	}
	f, err := sweep.Stat(path)
	if err != nil {
		return scanned{}, fmt.Errorf("scan: %w", err)
	}
	out := scanned{Path: file, Kind: string(core.ClassNone), Bytes: f.Size}
	a, err := e.adapterOf(agent, path)
	if err != nil || a == nil {
		return out, err
	}
	name := string(a.Agent().Agent)
	out.Agent = &name
	scan, err := a.Scan(ctx, core.Source{Agent: a.Agent().Agent, Path: path, Fingerprint: f}, core.Cursor{})
	if err != nil {
		return out, err
	}
	if len(scan.Deltas) > 0 {
		out.fill(&scan.Deltas[0])
	}
	return out, nil
}

// adapterOf returns the adapter of the named agent, or of the agent that recognizes the file; nil when
// none does.
func (e *Env) adapterOf(agent core.Agent, path string) (core.Adapter, error) {
	if agent != "" {
		return e.agent(string(agent))
	}
	f, err := jsonl.Open(path)
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	defer f.Close()
	head, err := headOf(f)
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	for _, a := range e.Adapters {
		if r, ok := a.(core.Recognizer); ok && r.Recognizes(path, head) {
			return a, nil
		}
	}
	return nil, nil
}

// headOf reads the first lines of a file, and all of a long first line: instructions or a pasted
// prompt in it may hide the member that tells whose it is.
func headOf(f io.Reader) ([]byte, error) {
	const usual, most = 64 << 10, 16 << 20
	head, err := io.ReadAll(io.LimitReader(f, usual))
	if err != nil || len(head) < usual || bytes.IndexByte(head, '\n') >= 0 {
		return head, err
	}
	rest, err := bufio.NewReader(io.LimitReader(f, most)).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return append(head, rest...), err
}

func (s *scanned) fill(d *core.Delta) {
	f := &d.Facts
	text := func(v string) *string {
		if v == "" {
			return nil
		}
		return &v
	}
	s.Native, s.Parent, s.ForkedFrom = text(f.Native), text(f.Parent), text(f.ForkedFrom)
	if f.Class != "" {
		s.Kind = string(f.Class)
	}
	title := f.Name
	if title == "" {
		title = f.AgentTitle
	}
	s.CWD, s.Title, s.First, s.Version, s.Model = text(f.CWD), text(title), text(f.First), text(f.Version), text(f.Model)
	s.Typed, s.Slash, s.MidTurn, s.Copied, s.Turns = &f.Typed, &f.Slash, &f.MidTurn, &f.Copied, &f.Turns
	s.PerDay = map[string]int64{}
	for _, t := range d.Turns {
		if t.At != 0 {
			s.PerDay[t.At.String()[:10]]++
		}
	}
	known := func(m map[string]int64) map[string]int64 {
		if m == nil {
			return map[string]int64{}
		}
		return m
	}
	s.Models, s.Skills, s.Folders, s.Unknown = known(f.Models), known(f.Skills), known(f.Folders), known(f.Unknown)
	s.ContextTokens, s.ContextWindow, s.Closeout = f.ContextTokens, f.ContextWindow, text(string(f.Closeout))
	s.FirstAt, s.LastAt = f.FirstAt, f.LastAt
	s.Lines, s.Bad = &f.Lines, &f.Bad
}
