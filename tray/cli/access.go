package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tower/core"
)

func (e *Env) token() *cobra.Command {
	return &cobra.Command{
		Use:   "token on|off",
		Short: "Let scripts use the API over TCP, or stop letting them",
		Long: `Let scripts use the API over TCP with a bearer token, or stop letting them. It is
off until it is turned on. On prints a new token, once; the former one is void.`,
		Args: args(1, 1),
		RunE: func(c *cobra.Command, a []string) error {
			if a[0] != "on" && a[0] != "off" {
				return usageError{fmt.Errorf("say on or off, not %q", a[0])}
			}
			var r struct {
				Token string `json:"token"`
			}
			if err := e.post(c, "/api/token", map[string]bool{"on": a[0] == "on"}, &r); err != nil {
				return err
			}
			if a[0] == "off" {
				return e.say(core.Result{Said: "Scripts are not let in any more."})
			}
			if e.JSON {
				return e.print(r)
			}
			fmt.Fprintln(e.Out, r.Token)
			return nil
		},
	}
}

func (e *Env) password() *cobra.Command {
	return &cobra.Command{
		Use:   "password",
		Short: "Set a password for the page; an empty one takes it away",
		Long: `Set a password for the page; an empty one takes it away. It is asked for without
showing it, or read as one line from standard input when that is no terminal.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := e.Open(); err != nil {
				return err
			}
			if _, err := e.client(); err != nil {
				return err
			}
			word, err := e.askPassword()
			if err != nil {
				return err
			}
			var r core.Result
			if err := e.post(c, "/api/password", map[string]string{"password": word}, &r); err != nil {
				return err
			}
			return e.say(r)
		},
	}
}

func (e *Env) askPassword() (string, error) {
	in := int(os.Stdin.Fd())
	if !term.IsTerminal(in) {
		line, err := bufio.NewReader(io.LimitReader(os.Stdin, 4096)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read password: %w", err)
		}
		return strings.TrimRight(line, "\r\n"), nil
	}
	var twice [2]string
	for i, prompt := range []string{"New password: ", "Again: "} {
		fmt.Fprint(e.Err, prompt)
		b, err := term.ReadPassword(in)
		fmt.Fprintln(e.Err)
		if err != nil {
			return "", fmt.Errorf("read password: %w", err)
		}
		twice[i] = string(b)
	}
	if twice[0] != twice[1] {
		return "", errors.New("the two differ; nothing was changed")
	}
	return twice[0], nil
}

// post sends a request to the running tower.
func (e *Env) post(c *cobra.Command, path string, in, out any) error {
	if err := e.Open(); err != nil {
		return err
	}
	cl, err := e.client()
	if err != nil {
		return err
	}
	return cl.call(c.Context(), http.MethodPost, path, in, out)
}
