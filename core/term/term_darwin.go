package term

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"tower/core"
)

// findNative asks Terminal and iTerm2 for the tty of the process.
func (d *Desk) findNative(ctx context.Context, s *sight) (Window, error) {
	if s.tty == "" {
		return Window{}, s.refuse("and nothing tells where it shows.", "Bring its window to the front by hand, or end it.")
	}
	for _, kind := range []string{KindITerm2, KindTerminal} {
		shows, err := desktopTold(ctx, kind, s.tty)
		if err != nil {
			d.log.Debug("terminal does not answer", "terminal", kind, "error", err)
			continue
		}
		if shows {
			return Window{Kind: kind, ID: s.tty, Terminal: kind, How: "tty", Shared: true}, nil
		}
	}
	return Window{}, s.refuse("but neither Terminal nor iTerm2 shows that terminal.", "Bring its window to the front by hand, or end it.")
}

func (d *Desk) focusNative(ctx context.Context, w Window) error {
	text, ok := focusScript(w.Kind)
	if !ok {
		return &core.Refusal{What: notFocused, Why: fmt.Sprintf("%s cannot be brought to the front from here.", w.name()), Hint: "Bring it to the front by hand."}
	}
	front, err := osascript(ctx, text, w.ID)
	switch {
	case err != nil:
		return err
	case front == "":
		return gone(w, noWindow)
	case front != w.ID:
		return &core.Refusal{What: notFocused, Why: fmt.Sprintf("%s has %s in front, not %s.", w.name(), front, w.ID), Hint: "Bring it to the front by hand."}
	}
	return nil
}

func (d *Desk) existsNative(ctx context.Context, w Window) (bool, error) {
	return desktopTold(ctx, w.Kind, w.ID)
}

func (d *Desk) activeNative(ctx context.Context) (Window, error) {
	out, err := osascript(ctx, frontmost)
	if err != nil {
		return Window{}, err
	}
	return readFront(out)
}

func (d *Desk) windowsNative(ctx context.Context) ([]Window, error) {
	var all []Window
	for _, kind := range []string{KindITerm2, KindTerminal} {
		text, _ := listScript(kind)
		out, err := osascript(ctx, text)
		if err != nil {
			return nil, err
		}
		all = append(all, readTTYs(kind, out)...)
	}
	return all, nil
}

// displayOf is unknown: windows of macOS have no ids of X.
func (d *Desk) displayOf(*sight, int) (name, authority string) { return "", "" }

// ttyPath is the path of a terminal by its device number: the major number is above 24 bits of minor.
func ttyPath(device uint64) string {
	const terminals = 16
	if device>>24&0xff != terminals {
		return ""
	}
	return fmt.Sprintf("/dev/ttys%03d", device&0xffffff)
}

// scriptLimit bounds one run: an application that shows a dialog answers nobody.
const scriptLimit = 2 * time.Second

// osascript runs a script and returns what it answered.
func osascript(ctx context.Context, text string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, scriptLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "osascript", append([]string{"-"}, args...)...)
	cmd.Stdin = strings.NewReader(text)
	cmd.WaitDelay = 100 * time.Millisecond
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run osascript: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// desktopTold asks a terminal whether it shows a tty.
func desktopTold(ctx context.Context, kind, tty string) (bool, error) {
	text, ok := listScript(kind)
	if !ok {
		return false, &core.Refusal{What: noWindow, Why: fmt.Sprintf("%s tells nothing of its windows.", kind)}
	}
	out, err := osascript(ctx, text)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(readTTYs(kind, out), func(w Window) bool { return w.ID == tty }), nil
}
