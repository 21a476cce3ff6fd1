package launch

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"

	"tower/core"
	"tower/core/inbox"
	"tower/core/proc"
)

// The names of the launcher's own events in the inbox.
const (
	EventExec   = "tower.exec"        // the process named becomes the agent now
	EventFailed = "tower.exec.failed" // nothing was started; Error says why
)

// Report is what the launcher tells the tower, the payload of its event.
type Report struct {
	Token     string            `json:"token"`
	Proc      core.Process      `json:"process"`
	TTY       string            `json:"tty"`        // /dev/pts/3; "" without a terminal
	TTYDevice uint64            `json:"tty_device"` // as core.Proc.TTY has it
	Window    string            `json:"window"`     // WINDOWID
	Env       map[string]string `json:"env"`        // what the terminal says of itself, see hints
	Note      string            `json:"note"`       // what was not as it should be, one sentence, or ""
	Error     string            `json:"error"`      // failed: why, one sentence
}

// hints are the only variables that a report holds: by them a window or a pane is found again.
var hints = []string{
	"WINDOWID", "KITTY_WINDOW_ID", "KITTY_LISTEN_ON", "WEZTERM_PANE", "WEZTERM_UNIX_SOCKET", "GNOME_TERMINAL_SCREEN",
	"TERM_SESSION_ID", "ITERM_SESSION_ID", "WT_SESSION", "TMUX", "TMUX_PANE", "DISPLAY", "WAYLAND_DISPLAY",
}

// Bounds of what is believed of a report, in bytes.
const (
	maxReport   = 64 << 10
	maxHint     = 1024
	maxSentence = 1000
	maxAncestry = 8
)

// ReportOf reads the launcher's report out of an envelope; false when it is none, or none that can be
// used. Its words are bounded, of one line and without what a terminal obeys, its Env has no names
// but those the launcher reports.
func ReportOf(e core.Envelope) (Report, bool) {
	if e.Event != EventExec && e.Event != EventFailed || len(e.Payload) > maxReport {
		return Report{}, false
	}
	var r Report
	if json.Unmarshal(e.Payload, &r) != nil || !isToken(r.Token) || e.LaunchToken != nil && *e.LaunchToken != r.Token {
		return Report{}, false
	}
	if len(r.Proc.Boot) > 64 || r.Proc.PID < 0 || e.Event == EventExec && !r.Proc.Known() {
		return Report{}, false
	}
	if !strings.HasPrefix(r.TTY, "/dev/") || tidy(r.TTY, maxHint) != r.TTY {
		r.TTY = ""
	}
	env := map[string]string{}
	for _, name := range hints {
		if value := r.Env[name]; value != "" && tidy(value, maxHint) == value {
			env[name] = value
		}
	}
	r.Env, r.Window = env, env["WINDOWID"]
	r.Note, r.Error = tidy(r.Note, maxSentence), tidy(r.Error, maxSentence)
	if e.Event == EventFailed && r.Error == "" {
		r.Error = "The launcher did not say why."
	}
	return r, true
}

// tidy makes one bounded line of text that a terminal obeys nothing in.
func tidy(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most-len("…")], "") + "…"
	}
	return strings.TrimSpace(s)
}

// tell writes the report of process p into the inbox.
func (l *launcher) tell(event string, p core.Process, sentence string) error {
	r := Report{Token: l.order.Token, Proc: p, Env: map[string]string{}, Note: tidy(l.note, maxSentence), Error: tidy(sentence, maxSentence)}
	if row, ok := proc.Row(os.Getpid()); ok && row.TTY != 0 {
		r.TTYDevice, r.TTY = row.TTY, ttyName(row.TTY)
	}
	for _, name := range hints {
		if value, _ := lookup(l.own, name); value != "" && len(value) <= maxHint {
			r.Env[name] = value
		}
	}
	r.Window = r.Env["WINDOWID"]
	payload, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	// What is told later is drained later, also within one millisecond.
	l.told = max(core.InstantOf(time.Now()), l.told+1)
	e := core.Envelope{
		V: core.EnvelopeVersion, EventID: core.UUID4(), Agent: l.order.Agent, Event: event, TS: l.told,
		LaunchToken: &l.order.Token, Ancestors: proc.Ancestors(os.Getpid(), maxAncestry), Payload: payload,
	}
	if p.Known() {
		e.BootID, e.AgentPID, e.AgentProcStart = &p.Boot, &p.PID, &p.Start
	}
	if l.order.Dir != "" {
		e.CWD = &l.order.Dir
	}
	if _, err := inbox.Write(l.order.Inbox, &e); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
