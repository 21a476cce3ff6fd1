package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"tower/core"
	"tower/core/home"
	"tower/web"
)

// ticketPage is the name of the page that signs a browser in. It is written anew each time; its
// ticket works once and for 30 seconds, so one name is enough.
const ticketPage = "open.html"

func (e *Env) url() *cobra.Command {
	var ticket bool
	c := &cobra.Command{
		Use:   "url",
		Short: "Print the address of the page",
		Long: `Print the address of the page. With --ticket, print that of a local file that
signs a browser in: open it within 30 seconds, it works once.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := e.Open(); err != nil {
				return err
			}
			cl, err := e.client()
			if err != nil {
				return err
			}
			at := cl.URL
			if ticket {
				if at, err = e.writeTicket(c.Context(), cl, "/"); err != nil {
					return err
				}
			}
			if e.JSON {
				return e.print(map[string]string{"url": at})
			}
			fmt.Fprintln(e.Out, at)
			return nil
		},
	}
	c.Flags().BoolVar(&ticket, "ticket", false, "sign in: works once, for 30 seconds")
	return c
}

// writeTicket writes the page that signs a browser in and returns its address.
func (e *Env) writeTicket(ctx context.Context, cl *client, path string) (string, error) {
	var t struct{ Ticket, URL string }
	if err := cl.call(ctx, http.MethodPost, "/api/tickets", map[string]string{"path": path}, &t); err != nil {
		return "", err
	}
	file := filepath.Join(e.Home.Runtime, ticketPage)
	if err := home.Write(file, web.TicketPage(t.URL, t.Ticket)); err != nil {
		return "", err
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String(), nil
}

// OpenPage opens the running tower's page in the person's browser, signed in. It returns a sentence
// that says what was done.
func (e *Env) OpenPage(ctx context.Context, path string) (string, error) {
	cl, err := e.client()
	if err != nil {
		return "", err
	}
	page, err := e.writeTicket(ctx, cl, path)
	if err != nil {
		return "", err
	}
	if err := browse(ctx, page); err != nil {
		return "", &core.Refusal{What: "No window opened:", Why: err.Error() + ".", Hint: "Open this in a browser within 30 seconds: " + page}
	}
	return "Its page is open in the browser.", nil
}

// browse hands an address to the desktop. What opens it may stay, so only its quick failure counts.
func browse(ctx context.Context, address string) error {
	var tries [][]string
	switch runtime.GOOS {
	case "darwin":
		tries = [][]string{{"open", address}}
	case "windows":
		tries = [][]string{{"rundll32", "url.dll,FileProtocolHandler", address}}
	default:
		tries = [][]string{{"xdg-open", address}, {"x-www-browser", address}, {"www-browser", address}, {"sensible-browser", address}}
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("there is no display")
		}
	}
	for _, t := range tries {
		bin, err := exec.LookPath(t[0])
		if err != nil {
			continue
		}
		cmd := exec.Command(bin, t[1:]...)
		if err := cmd.Start(); err != nil {
			continue
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case err := <-done:
			if err == nil {
				return nil
			}
		case <-time.After(2 * time.Second):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("no browser was found that opens it")
}
