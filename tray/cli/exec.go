package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"tower/core/launch"
)

// execCommand is the launcher in a terminal that the tower opened. Everything it needs stands in the
// file it is given: neither the settings nor the ledger nor any variable of the terminal has a say.
func (e *Env) execCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "exec PATH",
		Short:  "Become the agent that a launch file asks for",
		Hidden: true,
		Args:   args(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			err := launch.Exec(c.Context(), args[0], e.Err)
			var x launch.Exit
			if errors.As(err, &x) {
				return quiet(x)
			}
			return quiet(ExitError) // told already
		},
	}
}
