package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tower/core"
	"tower/core/engine"
	"tower/core/home"
)

func (e *Env) importCommand() *cobra.Command {
	var full bool
	c := &cobra.Command{
		Use:   "import",
		Short: "Read all transcripts that changed, now",
		Long: `Read all transcripts that changed since they were last read, now. The running
tower does it when there is one; otherwise it is done here, into the same ledger.
--full reads every transcript from its start.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := e.Open(); err != nil {
				return err
			}
			r, err := e.runImport(c.Context(), full)
			if err != nil {
				return err
			}
			if e.JSON {
				return e.print(r)
			}
			fmt.Fprintf(e.Out, "%s, %d read (%.1f MB), %s written, %.1f s\n", some(int(r.Sources), "transcript"), r.Opened, float64(r.BytesRead)/1e6, some(int(r.RowsWritten), "row"), r.Seconds)
			if r.Failed > 0 {
				fmt.Fprintf(e.Out, "%d could not be read: tower doctor\n", r.Failed)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&full, "full", false, "read everything again from its start")
	return c
}

func (e *Env) runImport(ctx context.Context, full bool) (core.ImportResult, error) {
	cl, err := e.client()
	if err == nil {
		var r core.Result
		err := cl.call(ctx, http.MethodPost, "/api/import", map[string]bool{"full": full}, &r)
		if err == nil && r.Import == nil {
			err = errors.New("the tower answered without figures")
		}
		if err != nil {
			return core.ImportResult{}, err
		}
		return *r.Import, nil
	}
	if !errors.Is(err, errNotRunning) {
		return core.ImportResult{}, err
	}
	unlock, err := e.TakeHome()
	if err != nil {
		return core.ImportResult{}, err
	}
	defer unlock()
	brief()
	o := e.EngineOptions(slog.New(slog.DiscardHandler))
	if !e.JSON && term.IsTerminal(int(os.Stderr.Fd())) {
		var last time.Time
		o.Progress = func(p core.Progress) {
			if p.Running && (time.Since(last) > 100*time.Millisecond || p.Done == p.Total) {
				last = time.Now()
				fmt.Fprintf(e.Bare, "\rImporting: %d of %d transcripts ", p.Done, p.Total)
			}
		}
		defer fmt.Fprintln(e.Err)
	}
	return engine.ImportOnce(ctx, o, full)
}

// TakeHome makes the home's folders and takes its lock, so that one process writes the ledger. The
// function returned takes the runtime folder away, unless somebody else's files lie there, and releases
// the lock; so does, without the former, the end of the process.
func (e *Env) TakeHome() (func(), error) {
	if err := e.checkPlace(); err != nil {
		return nil, err
	}
	if err := e.withoutRuntime().Make(); err != nil {
		return nil, err
	}
	l := flock.New(e.Home.Lock(), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", e.Home.Lock(), err)
	}
	if !ok {
		return nil, ErrHeld
	}
	if e.lock, err = os.Stat(e.Home.Lock()); err != nil {
		l.Unlock()
		return nil, fmt.Errorf("lock %q: %w", e.Home.Lock(), err)
	}
	// Only now: who held the lock before took the folder along.
	if err := e.Home.Make(); err != nil {
		l.Unlock()
		return nil, err
	}
	return func() {
		if !e.Lost() {
			os.Remove(filepath.Join(e.Home.Runtime, ticketPage)) // void with the tower that gave it
			os.Remove(e.Home.Runtime)
		}
		l.Unlock()
	}, nil
}

func (e *Env) withoutRuntime() home.Home {
	h := e.Home
	h.Runtime = ""
	return h
}

// Lost tells whether the home that was taken is another's by now: its folder was removed and made anew,
// and the lock in it is not ours.
func (e *Env) Lost() bool {
	now, err := os.Stat(e.Home.Lock())
	return err == nil && !os.SameFile(now, e.lock)
}

// checkPlace tells, before any file is written, when the home's place cannot keep a ledger safe.
func (e *Env) checkPlace() error {
	err := home.CheckPlace(e.Home)
	var refused *core.Refusal
	if errors.As(err, &refused) {
		// Nothing a person asked for is refused here: the program cannot work in this place.
		err = hinted{errors.New(refused.Why), refused.Hint}
	}
	return err
}

// ErrHeld says that another process holds the home's lock.
var ErrHeld = errors.New("another tower holds this home")
