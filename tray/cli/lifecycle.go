package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"tower/core"
	"tower/core/proc"
)

func (e *Env) serve() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run the tower without an icon, in the foreground",
		Long:  "Run the tower without an icon, in the foreground, until it is interrupted or stopped by: tower stop",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return e.Serve(c.Context(), e, false) },
	}
}

func (e *Env) stop() *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the running tower; agents go on",
		Long:  "Stop the running tower. Agents go on; what they do meanwhile is recorded and read at the next start.",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := e.ask(c.Context(), "/api/stop")
			if err != nil {
				return err
			}
			if err := waitUntil(c.Context(), 15*time.Second, func() bool {
				start, ok := proc.Start(p.PID)
				return !ok || start != p.Start || e.gone(p)
			}); err != nil {
				return fmt.Errorf("process %d did not stop within 15 s", p.PID)
			}
			return e.say(core.Result{Said: "Stopped."})
		},
	}
}

func (e *Env) restart() *cobra.Command {
	return &cobra.Command{
		Use:   "restart",
		Short: "Restart the running tower, with the program now on disk",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := e.ask(c.Context(), "/api/restart")
			if err != nil {
				return err
			}
			if err := waitUntil(c.Context(), 20*time.Second, func() bool {
				q, err := e.endpoint()
				return err == nil && q.Since > p.Since
			}); err != nil {
				return errors.New("the tower did not come back within 20 s; its log says why: " + e.Home.Log())
			}
			return e.say(core.Result{Said: "Restarted."})
		},
	}
}

// ask sends a request without content to the running tower.
func (e *Env) ask(ctx context.Context, path string) (Endpoint, error) {
	if err := e.Open(); err != nil {
		return Endpoint{}, err
	}
	c, err := e.client()
	if err != nil {
		return Endpoint{}, err
	}
	return c.Endpoint, c.call(ctx, http.MethodPost, path, struct{}{}, nil)
}

// gone tells whether the endpoint a tower left is no longer its own.
func (e *Env) gone(p Endpoint) bool {
	q, err := e.endpoint()
	return err != nil || q.Since != p.Since
}

func waitUntil(ctx context.Context, limit time.Duration, done func() bool) error {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	for !done() {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (e *Env) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if e.JSON {
				return e.print(map[string]string{"version": e.Version})
			}
			fmt.Fprintln(e.Out, "tower "+e.Version)
			return nil
		},
	}
}
