package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"runtime"
	"strings"
	"time"

	"tower/adapters"
	"tower/core"
	"tower/core/config"
	"tower/core/engine"
	"tower/core/home"
	"tower/core/ledger"
	"tower/core/proc"
)

// Env is one call of the program: what it was given and what it found.
type Env struct {
	Program
	JSON bool
	// Bare is standard error as it is, for a line that rewrites itself.
	Bare io.Writer

	Home     home.Home
	Config   core.Config
	Origins  config.Origins
	Adapters []core.Adapter
	opened   bool
	zone     *time.Location // of everything a person reads
	lock     os.FileInfo    // of the home, once taken
}

// Open finds the home and reads the settings. Every command that touches Tower's files begins with it.
func (e *Env) Open() error {
	if e.opened {
		return nil
	}
	h, err := home.Resolve(e.Getenv, runtime.GOOS)
	if err != nil {
		return err
	}
	e.Home = h
	folder, err := userHome()
	if err != nil {
		return err
	}
	if info, err := os.Stat(h.Config); err == nil && !info.IsDir() {
		return hinted{fmt.Errorf("%s is a file, and Tower's settings need a folder there", h.Config), "Move it away, or set TOWER_HOME to a folder."}
	}
	e.Config, e.Origins, err = config.Load(config.Options{
		ConfigFile: h.ConfigFile(), AgentsFile: h.AgentsFile(), Agents: adapters.Defaults,
		Getenv: e.Getenv, UserHome: folder, Data: h.Data, Temp: os.TempDir(),
	})
	if err != nil {
		return err
	}
	e.zone = time.Local
	if e.Config.Timezone != "" {
		if e.zone, err = time.LoadLocation(e.Config.Timezone); err != nil {
			return fmt.Errorf("load zone %q: %w", e.Config.Timezone, err)
		}
	}
	e.Adapters = adapters.All(e.Config.Agents)
	e.opened = true
	return nil
}

// userHome returns the folder below which the agents keep their records. They find it without HOME,
// too: so does Tower, which TOWER_HOME has told where its own files lie.
func userHome() (string, error) {
	dir, err := os.UserHomeDir()
	if err == nil {
		return dir, nil
	}
	if u, no := user.Current(); no == nil && u.HomeDir != "" {
		return u.HomeDir, nil
	}
	return "", fmt.Errorf("nothing tells which folder is yours: %w", err)
}

// EngineOptions are the options of an engine over this home.
func (e *Env) EngineOptions(log *slog.Logger) engine.Options {
	reader := proc.NewReader()
	return engine.Options{
		Home: e.Home, Config: e.Config, Adapters: e.Adapters, Log: log, Path: e.Getenv("PATH"),
		Table: func() (core.Table, error) { return reader.Read() },
	}
}

// picture is the Snapshot to show: the running tower's, or what the ledger says without one.
type picture struct {
	*core.Snapshot
	heat    []core.Heat
	running bool
}

// look fetches the picture; a caller that needs no sessions says so.
func (e *Env) look(ctx context.Context, rows bool) (picture, error) {
	if err := e.Open(); err != nil {
		return picture{}, err
	}
	c, err := e.client()
	if err == nil {
		s, err := c.snapshot(ctx, rows)
		return picture{Snapshot: s, running: true}, err
	}
	if !errors.Is(err, errNotRunning) {
		return picture{}, err
	}
	s, heat, err := engine.Still(ctx, e.EngineOptions(slog.New(slog.DiscardHandler)))
	if errors.Is(err, ledger.ErrNoLedger) {
		return picture{}, fmt.Errorf("%w, and there is no ledger in %s yet", errNotRunning, e.Home.Data)
	}
	return picture{Snapshot: s, heat: heat}, err
}

// asOf tells, beside the answer, that it is the ledger's.
func (e *Env) asOf(p picture) {
	if !p.running {
		fmt.Fprintf(e.Err, "tower: not running, as of %s; what lives is unknown\n", e.clock(p.AsOf))
	}
}

// print writes one JSON value on a line. An empty text is one that is not known, and that is null. The
// two quotes behind a colon are always such a value: inside a text no quote stands bare. Texts are those
// of the facts to the byte; what a terminal obeys is written as an escape.
func (e *Env) print(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	line := strings.ReplaceAll(b.String(), `:""`, `:null`)
	_, err := io.WriteString(e.Out, harmless(line, escape))
	return err
}

// say tells what was done.
func (e *Env) say(r core.Result) error {
	if e.JSON {
		return e.print(r)
	}
	_, err := fmt.Fprintln(e.Out, r.Said)
	return err
}

// agent returns the adapter of an agent a person named.
func (e *Env) agent(name string) (core.Adapter, error) {
	var known []core.Agent
	for _, a := range e.Adapters {
		if string(a.Agent().Agent) == name {
			return a, nil
		}
		known = append(known, a.Agent().Agent)
	}
	return nil, usageError{fmt.Errorf("there is no agent %q; known: %v", name, known)}
}
