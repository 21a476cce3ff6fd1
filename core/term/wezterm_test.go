//go:build linux

package term

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// weztermSays puts a program of that name on the PATH that answers as the documentation shows, and writes down
// what it was asked. The real one is not among the terminals of the machines this was made on.
func weztermSays(t *testing.T, tty string) (log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "asked")
	script := `#!/bin/sh
printf '%s|' "$@" "$WEZTERM_UNIX_SOCKET" >> '` + log + `'
case $3 in
list) echo '[{"window_id":0,"tab_id":0,"pane_id":0,"title":"other","tty_name":"/dev/pts/none"},{"window_id":0,"tab_id":1,"pane_id":4,"title":"mine","tty_name":"` + tty + `"}]' ;;
list-clients) echo '[{"username":"a","pid":7,"focused_pane_id":4}]' ;;
send-text) cat >> '` + log + `' ;;
activate-pane) ;;
*) echo "no such command" >&2; exit 2 ;;
esac
`
	if err := os.WriteFile(filepath.Join(dir, "wezterm"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return log
}

func TestWezterm(t *testing.T) {
	log := weztermSays(t, "/dev/pts/5")
	d := NewDesk(func() []string { return nil }, nil)
	f := nested()
	f.env[6] = map[string]string{"WEZTERM_UNIX_SOCKET": "/run/wez", "WEZTERM_PANE": "0"}
	s := &sight{t: f, proc: f.rows[6], tty: "/dev/pts/5"}
	for _, pid := range []int{6, 5, 4, 3, 2} {
		s.line = append(s.line, f.rows[pid])
	}
	w, ok := d.findWezterm(t.Context(), s)
	if !ok || w.Kind != KindWezterm || w.ID != "4" || w.Title != "mine" || w.Socket != "/run/wez" || !w.CanType() {
		t.Fatalf("found %+v, %v", w, ok)
	}
	s.tty = "/dev/pts/6" // the pane its environment names shows another terminal
	if w, ok := d.findWezterm(t.Context(), s); ok {
		t.Errorf("found %+v", w)
	}
	if there, err := d.Exists(t.Context(), w); err != nil || !there {
		t.Errorf("Exists = %v, %v", there, err)
	}
	if err := d.SendText(t.Context(), w, "say é `id`\n-x"); err != nil {
		t.Error(err)
	}
	if err := d.SendEnter(t.Context(), w); err != nil {
		t.Error(err)
	}
	if r := refusal(t, d.Focus(t.Context(), w)); r.What != notFocused || !strings.Contains(r.Why, "pane 4") {
		t.Errorf("Focus without a window of the desktop = %v", r)
	}
	if _, err := d.Text(t.Context(), w); refusal(t, err).What != "Not read." {
		t.Errorf("Text = %v", err)
	}
	asked, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"cli|--no-auto-start|list|--format|json|/run/wez|",
		"cli|--no-auto-start|send-text|--pane-id|4|/run/wez|say é `id`\n-x",
		"cli|--no-auto-start|send-text|--pane-id|4|--no-paste|/run/wez|\r",
		"cli|--no-auto-start|activate-pane|--pane-id|4|/run/wez|",
	} {
		if !strings.Contains(string(asked), want) {
			t.Errorf("%q was not asked in:\n%s", want, asked)
		}
	}
	w.ID = "9"
	if there, err := d.Exists(t.Context(), w); err != nil || there {
		t.Errorf("Exists of a closed pane = %v, %v", there, err)
	}
}
