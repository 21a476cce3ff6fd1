package launch

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestExecTowerDown goes on without a tower, with a note, and starts the agent all the same.
func TestExecTowerDown(t *testing.T) {
	for name, c := range map[string]struct {
		tower func(*testing.T, place)
		note  string
	}{
		"it does not know the launch": {func(t *testing.T, p place) { p.tower(t, gone) }, "There is no such launch"},
		"it answers nonsense": {func(t *testing.T, p place) {
			p.tower(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") })
		}, "its answer cannot be read"},
		"it has nothing to say": {func(t *testing.T, p place) { p.tower(t, says()) }, "its answer is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			c.tower(t, p)
			got := run(t, write(t, p, p.agent(t, "t"), ""), func(cmd *exec.Cmd) {
				cmd.Env = append(cmd.Env, "MINE=1", "CLAUDECODE=1")
			})
			if got.code != 7 {
				t.Fatalf("%+v", got)
			}
			s := p.seen(t)
			slices.Sort(s.Env)
			want := []string{"HOME=/nowhere", "MINE=1", "PATH=/usr/bin:/bin", "PWD=" + p.work, "TOWER_LAUNCH=t"}
			if d := cmp.Diff(want, s.Env); d != "" {
				t.Errorf("the environment (-want +got):\n%s", d)
			}
			r, _ := p.report(t, EventExec)
			if !strings.Contains(r.Note, c.note) || !strings.Contains(r.Note, "the terminal's own is used") {
				t.Errorf("the note is %q, want %q in it", r.Note, c.note)
			}
		})
	}
}

// TestAsk: how long the tower is waited for, with a shorter patience.
func TestAsk(t *testing.T) {
	asker := func(p place) *launcher {
		return &launcher{order: p.order("t", "a"), patience: time.Second, each: 200 * time.Millisecond}
	}
	t.Run("no socket", func(t *testing.T) {
		began := time.Now()
		_, err := asker(newPlace(t)).ask(t.Context())
		if took := time.Since(began); took < time.Second || took > 3*time.Second {
			t.Errorf("it took %v, want its patience", took)
		}
		if got := cause(err).Error(); got != "the tower did not answer: no such file or directory" {
			t.Errorf("ask = %q", got)
		}
	})
	t.Run("one that hangs", func(t *testing.T) {
		p := newPlace(t)
		release := make(chan struct{})
		p.tower(t, func(http.ResponseWriter, *http.Request) { <-release })
		defer close(release)
		_, err := asker(p).ask(t.Context())
		if got := cause(err).Error(); got != "the tower did not answer in time" {
			t.Errorf("ask = %q", got)
		}
	})
	t.Run("one that restarts", func(t *testing.T) {
		p := newPlace(t)
		l := asker(p)
		l.patience, l.each = 10*time.Second, 3*time.Second
		got := make(chan []string, 1)
		go func() {
			env, err := l.ask(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- env
		}()
		select {
		case env := <-got:
			t.Fatalf("ask = %q without a tower", env)
		case <-time.After(50 * time.Millisecond):
		}
		first := true
		p.tower(t, func(w http.ResponseWriter, r *http.Request) {
			if first {
				first = false
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			says("A=1")(w, r)
		})
		if env := <-got; !slices.Equal(env, []string{"A=1"}) {
			t.Errorf("ask = %q", env)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		l := asker(newPlace(t))
		l.patience = time.Minute
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		began := time.Now()
		if _, err := l.ask(ctx); err == nil || time.Since(began) > 5*time.Second {
			t.Errorf("ask = %v after %v", err, time.Since(began))
		}
	})
}
