package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// change sends one change of a session to the running tower and says what came of it.
func (e *Env) change(c *cobra.Command, which, action string, body any) error {
	r, err := e.act(c, which, action, body)
	if err != nil {
		return err
	}
	return e.say(r)
}

const which = `
SESSION is the agent's id or Tower's, its first characters (4 at least), or the
exact title.
Needs a running tower.`

func (e *Env) rename() *cobra.Command {
	return &cobra.Command{
		Use: "rename SESSION NAME", Short: "Give a session a name; an empty one takes it away", Long: "Give a session a name; an empty one takes it away." + which,
		Args: args(2, -1),
		RunE: func(c *cobra.Command, a []string) error {
			return e.change(c, a[0], "rename", map[string]string{"name": strings.Join(a[1:], " ")})
		},
	}
}

func (e *Env) describe() *cobra.Command {
	return &cobra.Command{
		Use: "describe SESSION TEXT", Short: "Describe a session in your words", Long: "Describe a session in your words." + which,
		Args: args(2, -1),
		RunE: func(c *cobra.Command, a []string) error {
			return e.change(c, a[0], "describe", map[string]string{"description": strings.Join(a[1:], " ")})
		},
	}
}

func (e *Env) tag() *cobra.Command {
	return &cobra.Command{
		Use: "tag SESSION [TAG...]", Short: "Set the tags of a session; none takes them away", Long: "Set the tags of a session; none takes them away." + which,
		Args: args(1, -1),
		RunE: func(c *cobra.Command, a []string) error {
			return e.change(c, a[0], "tag", map[string][]string{"tags": a[1:]})
		},
	}
}

func (e *Env) hide() *cobra.Command {
	return &cobra.Command{
		Use: "hide SESSION", Short: "Leave a session out of lists and counts", Long: "Leave a session out of lists and counts. Nothing is deleted; --all shows it." + which,
		Args: args(1, 1),
		RunE: func(c *cobra.Command, a []string) error { return e.change(c, a[0], "hide", struct{}{}) },
	}
}

func (e *Env) unhide() *cobra.Command {
	return &cobra.Command{
		Use: "unhide SESSION", Short: "Show a session again that was hidden by hand", Long: "Show a session again that was hidden by hand." + which,
		Args: args(1, 1),
		RunE: func(c *cobra.Command, a []string) error { return e.change(c, a[0], "unhide", struct{}{}) },
	}
}
