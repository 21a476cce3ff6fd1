package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tower/core"
	"tower/core/config"
)

// finish gives the tree of commands what holds for all of it: shells complete what an argument can be
// and nothing else, and the commands that cobra brings along answer a mistake as the others do.
func (e *Env) finish(root *cobra.Command) {
	root.Version = e.Version
	root.SetVersionTemplate("tower {{.Version}}\n")
	root.SetHelpCommandGroupID("set")
	root.SetCompletionCommandGroupID("set")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		e.completes(c)
		switch c.Name() {
		case "help":
			c.Run = nil
			c.RunE = func(c *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return usageError{fmt.Errorf("there is no command %q", strings.Join(args, " "))}
				}
				about.InitDefaultHelpFlag()
				return about.Help()
			}
		case "completion":
			c.Args = cobra.ArbitraryArgs
			c.RunE = func(*cobra.Command, []string) error {
				return usageError{errors.New("say which shell: bash, zsh, fish or powershell")}
			}
		}
	}
}

// completes chooses by the usage line what the arguments of c and its own commands are completed to.
func (e *Env) completes(c *cobra.Command) {
	for _, sub := range c.Commands() {
		e.completes(sub)
	}
	if c.ValidArgsFunction == nil {
		switch _, takes, _ := strings.Cut(c.Use, " "); {
		case strings.HasPrefix(takes, "FILE"):
		case strings.HasPrefix(takes, "SESSION"):
			c.ValidArgsFunction = e.sessionIDs
		case takes == "[AGENT...]":
			c.ValidArgsFunction = e.agentNames
		case takes == "on|off":
			c.ValidArgsFunction = words("on", "off")
		default:
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	for flag, of := range map[string]cobra.CompletionFunc{
		"agent": e.agentNames, "with": e.agentNames, "terminal": words(append(config.Terminals, "tmux")...), "status": words(states...), "since": cobra.NoFileCompletions,
	} {
		if c.Flags().Lookup(flag) != nil {
			// Its only errors are a flag that is none and one completed twice.
			_ = c.RegisterFlagCompletionFunc(flag, of)
		}
	}
}

func words(list ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

func (e *Env) agentNames(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
	if e.Open() == nil {
		for _, a := range e.Adapters {
			names = append(names, string(a.Agent().Agent))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completed is how many sessions a shell offers.
const completed = 50

// sessionIDs offers the sessions one sees, by the ids that a list shows, with their titles.
func (e *Env) sessionIDs(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	p, err := e.look(c.Context(), true)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, r := range p.Rows {
		if len(out) < completed && (r.Hidden == "" || c.Name() == "unhide" && r.Hidden == core.HiddenByHand) {
			out = append(out, cobra.CompletionWithDesc(short(r.Native), titleOf(r, 44)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
