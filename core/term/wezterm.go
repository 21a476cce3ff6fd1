package term

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"tower/core"
)

// wezterm is asked through its own program: its socket speaks a protocol that changes with every version.
const weztermLimit = 2 * time.Second

// weztermCall runs `wezterm cli` against the instance that listens at socket.
func weztermCall(ctx context.Context, socket, stdin string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, weztermLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, wezterm, append([]string{"cli", "--no-auto-start"}, args...)...)
	cmd.Env = append(os.Environ(), "WEZTERM_UNIX_SOCKET="+socket)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.WaitDelay = 100 * time.Millisecond
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("run wezterm cli %s: %w: %s", args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}

// weztermPane is one pane as `cli list` tells it.
type weztermPane struct {
	ID     int    `json:"pane_id"`
	Window int    `json:"window_id"`
	Title  string `json:"title"`
	TTY    string `json:"tty_name"` // "" in versions that do not tell it
}

func weztermPanes(ctx context.Context, socket string) ([]weztermPane, error) {
	out, err := weztermCall(ctx, socket, "", "list", "--format", "json")
	if err != nil {
		return nil, err
	}
	var all []weztermPane
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("read wezterm's list: %w", err)
	}
	return all, nil
}

// findWezterm asks the wezterm the process's environment names. It is believed when it lists a pane with the
// very terminal of p. The window of the desktop around it is then looked for as for any terminal.
func (d *Desk) findWezterm(ctx context.Context, s *sight) (Window, bool) {
	socket := s.environ(s.sameTTY(), "WEZTERM_UNIX_SOCKET")
	if socket == "" || s.tty == "" {
		return Window{}, false
	}
	all, err := weztermPanes(ctx, socket)
	if err != nil {
		d.log.Debug("wezterm does not answer", "error", err)
		return Window{}, false
	}
	i := slices.IndexFunc(all, func(p weztermPane) bool { return p.TTY == s.tty })
	if i < 0 {
		return Window{}, false
	}
	w := Window{Kind: KindWezterm, ID: strconv.Itoa(all[i].ID), Terminal: wezterm, Title: all[i].Title, Socket: socket,
		How: "wezterm's list of terminals", Shared: len(all) > 1}
	if x, err := d.findNative(ctx, s); err == nil && x.Kind == KindX11 {
		w.XID, w.Display, w.XAuthority, w.PID = x.ID, x.Display, x.XAuthority, x.PID
	}
	return w, true
}

func (d *Desk) focusWezterm(ctx context.Context, w Window) error {
	if _, err := weztermCall(ctx, w.Socket, "", "activate-pane", "--pane-id", w.ID); err != nil {
		return fmt.Errorf("focus pane: %w", err)
	}
	if w.XID == "" {
		return &core.Refusal{What: notFocused, Why: "wezterm shows its pane " + w.ID + ", but its window cannot be brought to the front from here.",
			Hint: "Bring wezterm to the front by hand."}
	}
	x := w
	x.Kind, x.ID = KindX11, w.XID
	if err := d.focusNative(ctx, x); err != nil {
		return err
	}
	out, err := weztermCall(ctx, w.Socket, "", "list-clients", "--format", "json")
	if err != nil {
		return fmt.Errorf("see focused pane: %w", err)
	}
	var clients []struct {
		Pane *int `json:"focused_pane_id"`
	}
	if err := json.Unmarshal(out, &clients); err != nil {
		return fmt.Errorf("see focused pane: %w", err)
	}
	for _, c := range clients {
		if c.Pane != nil && strconv.Itoa(*c.Pane) == w.ID {
			return nil
		}
	}
	return &core.Refusal{What: notFocused, Why: "wezterm did not bring its pane " + w.ID + " to the front.", Hint: "Bring it to the front by hand."}
}

func (d *Desk) existsWezterm(ctx context.Context, w Window) (bool, error) {
	all, err := weztermPanes(ctx, w.Socket)
	if err != nil {
		if _, missing := os.Stat(w.Socket); os.IsNotExist(missing) {
			return false, nil
		}
		return false, err
	}
	return slices.ContainsFunc(all, func(p weztermPane) bool { return strconv.Itoa(p.ID) == w.ID }), nil
}

// typeWezterm sends text; wezterm brackets a paste itself when the program asked for it.
func (d *Desk) typeWezterm(ctx context.Context, w Window, text string, paste bool) error {
	args := []string{"send-text", "--pane-id", w.ID}
	if !paste {
		args = append(args, "--no-paste")
	}
	if _, err := weztermCall(ctx, w.Socket, text, args...); err != nil {
		return fmt.Errorf("send text: %w", err)
	}
	return nil
}
