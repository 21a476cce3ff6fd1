package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tower/core"
	"tower/core/home"
	"tower/installer"
)

func (e *Env) hooks() *cobra.Command {
	c := &cobra.Command{
		Use:   "hooks",
		Short: "Install, check and remove the hooks that tell Tower what agents do",
		Long: `Install, check and remove the hooks that tell Tower what agents do.

A hook is one entry for each event in the agent's own settings; it runs a small
program that writes one file and never gets in the agent's way. Entries of
others are left as they are, and a copy of the file is kept. Status works without
hooks too, from the agents' own records, but questions and ends show later.`,
		RunE: func(*cobra.Command, []string) error {
			return usageError{errors.New("say what: install, status, uninstall or canary")}
		},
	}
	install := e.hooksEach("install [AGENT...]", "Add the hook entries", (*installer.Hooks).Install)
	install.Long = `Add the hook entries, of every installed agent when none is named. What is there
already is left as it is. Claude Code runs them at once; Codex asks you at its
next start whether to trust them. See whether they arrive with: tower hooks canary`
	uninstall := e.hooksEach("uninstall [AGENT...]", "Take the hook entries away, to the byte", (*installer.Hooks).Uninstall)
	uninstall.Long = `Take the hook entries away, of every agent when none is named. A file that nobody
changed since is then byte for byte what it was; one that held nothing else goes.`
	c.AddCommand(install, uninstall, e.hooksStatus(), e.hooksCanary())
	return c
}

// installer returns the installer of this home.
func (e *Env) installer() *installer.Hooks {
	return &installer.Hooks{
		Adapters: e.Adapters, Binary: e.Home.HookBinary(), Backup: e.Home.Backup(), HookLog: e.Home.HookLog(), Path: e.Getenv("PATH"),
	}
}

// chosen returns the agents named, or all.
func (e *Env) chosen(names []string) ([]core.Agent, error) {
	var out []core.Agent
	for _, n := range names {
		if _, err := e.agent(n); err != nil {
			return nil, err
		}
		out = append(out, core.Agent(n))
	}
	if len(names) > 0 {
		return out, nil
	}
	for _, a := range e.Adapters {
		if _, ok := a.(core.HookInstaller); ok {
			out = append(out, a.Agent().Agent)
		}
	}
	return out, nil
}

// placeHook puts the hook program where the entries name it, so that hooks can be installed before
// the tower first runs.
func (e *Env) placeHook() error {
	if err := e.checkPlace(); err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	beside := filepath.Join(filepath.Dir(exe), e.HookName)
	if _, err := os.Stat(beside); err != nil {
		if _, err := os.Stat(e.Home.HookBinary()); err == nil {
			return nil
		}
		return hinted{fmt.Errorf("the hook program is missing: %w", err), "build both programs with: make build"}
	}
	if err := e.withoutRuntime().Make(); err != nil {
		return err
	}
	if _, err := installer.InstallHookBinary(beside, e.Home.HookBinary()); err != nil {
		return err
	}
	return installer.Prepare(e.Home, e.Adapters)
}

func (e *Env) hooksEach(use, short string, do func(*installer.Hooks, core.Agent) (installer.HookResult, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args(0, -1),
		RunE: func(c *cobra.Command, names []string) error {
			if err := e.Open(); err != nil {
				return err
			}
			agents, err := e.chosen(names)
			if err != nil {
				return err
			}
			if strings.HasPrefix(use, "install") {
				if err := e.placeHook(); err != nil {
					return err
				}
			}
			h, done := e.installer(), 0
			var last error
			for _, a := range agents {
				r, err := do(h, a)
				var refused *core.Refusal
				if errors.As(err, &refused) && len(names) == 0 {
					fmt.Fprintf(e.Err, "tower: %s: %v\n", a, err)
					last = err
					continue
				}
				if err != nil {
					return err
				}
				done++
				if e.JSON {
					err = e.print(r)
				} else {
					_, err = fmt.Fprintf(e.Out, "%s: %s\n", a, r.Said)
				}
				if err != nil {
					return err
				}
			}
			if done == 0 && last != nil {
				return quiet(ExitRefused)
			}
			return nil
		},
	}
}

func (e *Env) hooksStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status [AGENT...]", Short: "Say how the hook entries stand", Long: "Say how the hook entries stand: of every agent when none is named.", Args: args(0, -1),
		RunE: func(c *cobra.Command, names []string) error {
			if err := e.Open(); err != nil {
				return err
			}
			agents, err := e.chosen(names)
			if err != nil {
				return err
			}
			for _, a := range agents {
				s, err := e.installer().Status(a)
				if err != nil {
					return err
				}
				if e.JSON {
					err = e.print(struct {
						Agent core.Agent      `json:"agent"`
						Hooks core.HookStatus `json:"hooks"`
					}{a, s})
				} else {
					line := fmt.Sprintf("%s: %s", a, s.State)
					if s.Reason != "" {
						line += ". " + s.Reason
					}
					if len(s.Missing) > 0 && len(s.Events) > 0 {
						line += " Missing: " + strings.Join(s.Missing, ", ") + "."
					}
					_, err = fmt.Fprintln(e.Out, line)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (e *Env) hooksCanary() *cobra.Command {
	return &cobra.Command{
		Use:   "canary [AGENT...]",
		Short: "Run the agent once for one word and see whether its hooks arrive",
		Long: `Run the agent once, for one word, and see whether its hooks arrive. This costs
one short turn of the agent's plan. It tells apart hooks that are not installed,
not trusted, an agent that did not run, and one that ran without an event.`,
		Args: args(0, -1),
		RunE: func(c *cobra.Command, names []string) error {
			if err := e.Open(); err != nil {
				return err
			}
			agents, err := e.chosen(names)
			if err != nil {
				return err
			}
			var bad error
			for _, a := range agents {
				r, err := e.installer().Canary(c.Context(), a, e.landed)
				if err != nil {
					return err
				}
				if r.Verdict != installer.CanaryOK {
					bad = quiet(ExitError)
				}
				if e.JSON {
					err = e.print(r)
				} else {
					_, err = fmt.Fprintf(e.Out, "%s: %s. %s\n", a, r.Verdict, r.Said)
					if r.Output != "" {
						fmt.Fprintf(e.Out, "  it said: %s\n", strings.ReplaceAll(strings.TrimSpace(r.Output), "\n", "\n           "))
					}
				}
				if err != nil {
					return err
				}
			}
			return bad
		},
	}
}

// maxEvent bounds what is read of an event file.
const maxEvent = 8 << 20

// landed tells whether an event of an agent came in since a time: in the inbox, or drained already.
func (e *Env) landed(since time.Time, agent core.Agent) (bool, error) {
	dirs := []string{e.Home.Inbox()}
	for _, day := range []time.Time{since, time.Now()} {
		dirs = append(dirs, filepath.Join(e.Home.Processed(), day.UTC().Format(time.DateOnly)))
	}
	for _, dir := range dirs {
		list, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		for _, f := range list {
			// A name begins with the milliseconds at which it was written: older ones need no reading.
			ms, _, _ := strings.Cut(f.Name(), "-")
			if n, err := strconv.ParseInt(ms, 10, 64); err != nil || core.Instant(n) < core.InstantOf(since) {
				continue
			}
			var env core.Envelope
			text, err := home.ReadFile(filepath.Join(dir, f.Name()), maxEvent)
			if err == nil && json.Unmarshal(text, &env) == nil && env.Agent == agent {
				return true, nil
			}
		}
	}
	return false, nil
}
