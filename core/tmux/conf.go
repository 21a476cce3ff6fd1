package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// keeper is the session the control client lives in. It runs a program that does nothing, and keeps
// the server alive between two agents.
const keeper = "tower-keeper"

// ended is what stands below the last output of a program that has ended, for who looks at it. Capture
// leaves it out.
const ended = "Ended. Close this window."

// conf is the configuration of the private server. Options a version does not know are passed over.
//
// A person who looks at an agent is to see the agent and not tmux: no status line, and no prefix key,
// because agents have uses for each. Of a person's own environment only what leads to the desktop is
// taken over at the start of a session, and never the id of a window, which would be that of whoever
// looked last.
const conf = `# Written by tower at each start of its tmux server. Changes are lost.
set-option -sq exit-empty on
set-option -sq exit-unattached off
set-option -sq escape-time 10
set-option -sq focus-events on
set-option -sq extended-keys on
set-option -sq set-clipboard on
set-option -sq default-terminal tmux-256color
set-option -gq default-size 200x50
set-option -gq history-limit 10000
set-option -gq destroy-unattached off
set-option -gq detach-on-destroy on
set-option -gq update-environment "DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR SSH_AUTH_SOCK"
set-option -gq status off
set-option -gq prefix None
set-option -gq prefix2 None
set-option -gq mouse on
set-option -gq set-titles on
set-option -gq set-titles-string "#{pane_title}"
set-option -gwq remain-on-exit on
set-option -gwq remain-on-exit-format "` + ended + `"
set-option -gwq automatic-rename off
set-option -gwq allow-rename off
set-option -gwq allow-passthrough off
set-option -gwq synchronize-panes off
`

// ensure starts the private server when none listens, and brings the settings of an older tower up to
// date when one does.
func (s *Server) ensure(ctx context.Context) error {
	s.starting.Lock()
	defer s.starting.Unlock()
	fresh, err := s.writeConf()
	if err != nil {
		return fmt.Errorf("write tmux configuration: %w", err)
	}
	switch err := s.listens(); {
	case err == nil:
		if fresh {
			if _, err := s.run(ctx, "source-file", s.o.Conf); err != nil {
				return err
			}
		}
		if _, err := s.run(ctx, "has-session", "-t", "="+keeper); err == nil || !refused(err) {
			return err
		}
	case !errors.Is(err, ErrNoServer):
		return err
	}
	// A machine under load takes a while for the first process of a server.
	if _, err := s.exec(ctx, 3*patience, nil, []string{"new-session", "-d", "-s", keeper, "-x", "80", "-y", "24", "-c", "/", "--", "cat", "-u"}); err != nil {
		return fmt.Errorf("start tmux server: %w", err)
	}
	s.o.Log.Info("tmux server is started", "socket", s.o.Socket)
	s.kick()
	return nil
}

// writeConf writes the configuration when it is not there as it should be, whole or not at all, and
// tells whether it did.
func (s *Server) writeConf() (bool, error) {
	if old, err := os.ReadFile(s.o.Conf); err == nil && bytes.Equal(old, []byte(conf)) {
		return false, nil
	}
	f, err := os.CreateTemp(filepath.Dir(s.o.Conf), ".tmux-*") // 0600
	if err != nil {
		return false, err
	}
	_, err = f.WriteString(conf)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), s.o.Conf)
	}
	if err != nil {
		os.Remove(f.Name())
		return false, err
	}
	return true, nil
}

// settle is how long the first program of a pane may take to stand in its folder.
const settle = 1500 * time.Millisecond
