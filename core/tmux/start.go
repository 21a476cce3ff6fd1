package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tower/core"
)

// Start is a program to run in a session of its own.
type Start struct {
	ID            string // our own id, the session's name: letters, digits, '-', '_'
	Dir           string // whole path of a folder
	Argv          []string
	Width, Height int    // 0 = 200 and 50
	Title         string // of the pane, until the program sets one
	// Ephemeral ties the session to the window that shows it: once a client was attached, the session
	// ends with its last client.
	Ephemeral bool
}

const notLaunched = "Not launched."

// Start runs a program in a new session, starting the server first when there is none, and returns the
// pane once the program was seen in its folder. The program gets the server's environment and what
// tmux adds; it must not leave its folder in its first moments. A pane that is in another folder is
// closed again: tmux takes a folder it cannot enter for no reason to fail. A pane whose program ended
// at once is returned dead.
func (s *Server) Start(ctx context.Context, w Start) (Pane, error) {
	if s.foreign {
		return Pane{}, errors.New("start in tmux: the server is not the tower's own")
	}
	if err := w.check(); err != nil {
		return Pane{}, err
	}
	real, err := folder(w.Dir)
	if err != nil {
		return Pane{}, err
	}
	if err := s.ensure(ctx); err != nil {
		return Pane{}, fmt.Errorf("start %s in tmux: %w", w.ID, err)
	}
	id, err := s.create(ctx, w)
	if err != nil {
		return Pane{}, fmt.Errorf("start %s in tmux: %w", w.ID, err)
	}
	p, err := s.dress(ctx, id, w, real)
	if err != nil {
		// Also when the caller has given up: nothing may run on that nobody knows of.
		if kill := s.Kill(context.WithoutCancel(ctx), id); kill != nil {
			err = errors.Join(err, kill)
		}
		return Pane{}, fmt.Errorf("start %s in tmux: %w", w.ID, err)
	}
	return p, nil
}

func (w *Start) check() error {
	if w.ID == "" || len(w.ID) > 64 || w.ID == keeper || strings.Trim(w.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return fmt.Errorf("start in tmux: %q cannot be the name of a session", w.ID)
	}
	if len(w.Argv) == 0 || w.Argv[0] == "" {
		return errors.New("start in tmux: no program is given")
	}
	for _, text := range append([]string{w.Dir, w.Title}, w.Argv...) {
		if strings.IndexByte(text, 0) >= 0 {
			return errors.New("start in tmux: an argument holds a NUL")
		}
	}
	return nil
}

// folder checks that a program can be started in dir, and returns the path without links.
func folder(dir string) (string, error) {
	refuse := func(why, hint string) error { return &core.Refusal{What: notLaunched, Why: why, Hint: hint} }
	switch {
	case dir == "":
		return "", refuse("No folder is given.", "Name the folder to work in.")
	case strings.HasPrefix(dir, "~"):
		return "", refuse("Only a shell knows what ~ stands for in "+dir+".", "Give the folder's whole path.")
	case !filepath.IsAbs(dir):
		return "", refuse(dir+" is not the whole path of a folder.", "Give one that begins with /.")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", refuse("The folder "+dir+" does not exist.", "Make it, or choose another.")
	case err != nil:
		return "", refuse("The folder "+dir+" cannot be looked at: "+reason(err)+".", "")
	case !info.IsDir():
		return "", refuse(dir+" is not a folder.", "Choose the folder it lies in.")
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("resolve folder: %w", err)
	}
	return real, nil
}

func reason(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// create makes the session and returns its pane's id.
func (s *Server) create(ctx context.Context, w Start) (string, error) {
	width, height := w.Width, w.Height
	if width <= 0 || height <= 0 {
		width, height = 200, 50
	}
	args := []string{"new-session", "-d", "-P", "-F", "#{pane_id}", "-s", w.ID, "-c", literal(w.Dir),
		"-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "--"}
	if len(w.Argv) == 1 {
		// tmux hands a single word to a shell as a command; two and more it runs as they are.
		args = append(args, "/bin/sh", "-c", `exec "$0"`)
	}
	lines, err := s.run(ctx, append(args, w.Argv...)...)
	if err != nil {
		return "", err
	}
	if len(lines) != 1 || !isID(lines[0], '%') {
		return "", fmt.Errorf("tmux named no pane but %.80q", strings.Join(lines, " "))
	}
	return lines[0], nil
}

// dress marks a new pane as ours and waits until its program stands in its folder.
func (s *Server) dress(ctx context.Context, id string, w Start, real string) (Pane, error) {
	if _, err := s.run(ctx, "set-option", "-p", "-t", id, "@tower_id", w.ID); err != nil {
		return Pane{}, err
	}
	if w.Title != "" {
		if _, err := s.run(ctx, "select-pane", "-t", id, "-T", literal(w.Title)); err != nil {
			return Pane{}, err
		}
	}
	p, ok, err := s.Pane(ctx, id)
	if err != nil {
		return Pane{}, err
	}
	if ok && w.Ephemeral {
		// The hook's command is text that tmux parses: it holds an id and nothing a person chose.
		if _, err := s.run(ctx, "set-hook", "-t", p.Session, "client-attached", "set-option -t '"+p.Session+"' destroy-unattached on"); err != nil {
			return Pane{}, err
		}
	}
	var at string
	err = until(ctx, settle, func() (bool, error) {
		var err error
		if p, ok, err = s.Pane(ctx, id); err != nil {
			return false, err
		}
		if !ok {
			return false, errors.New("the pane was gone at once")
		}
		if p.Dead {
			return true, nil
		}
		lines, err := s.run(ctx, "display-message", "-p", "-t", id, "#{pane_current_path}")
		at = strings.Join(lines, "\n")
		return at == real, err
	})
	if errors.Is(err, ErrHung) && ctx.Err() == nil && at != "" && at != real {
		return Pane{}, fmt.Errorf("the program runs in %s and not in %s", at, real)
	}
	return p, err
}
