package adaptertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tower/core"
)

// FakeActs are the answers of a [Fake] that is acted on. A nil one leaves the answer to the fake's own
// records, which each method tells. Set them before anything runs: they are called from any goroutine.
// A test for an agent that lacks an ability hides it: struct{ core.Adapter }{fake}.
type FakeActs struct {
	Holds       func(s core.Session) error
	LastMessage func(s core.Session) (string, error)
	Dialogs     func(dir string) []string
	Deliver     func(s core.Session, x core.Sighting, text string) (core.Launch, bool)
	Delivered   func(s core.Session, text string, since core.Instant) (bool, error)
	Typed       func(s core.Session, text string, since core.Instant) (bool, error)
	Stop        func(s core.Session, x core.Sighting) (core.Launch, bool)
	Attach      func(s core.Session, x core.Sighting) (core.Launch, bool)
	Begun       func(dir string, since core.Instant) ([]core.Begun, error)
	Screen      func(title, tail string) core.Screen
	Skill       func(name, dir string) (string, bool)
	WithPrompt  func(l core.Launch, prompt string) core.Launch
}

var (
	_ core.Keeper     = (*Fake)(nil)
	_ core.Teller     = (*Fake)(nil)
	_ core.Doorkeeper = (*Fake)(nil)
	_ core.Deliverer  = (*Fake)(nil)
	_ core.Confirmer  = (*Fake)(nil)
	_ core.Stopper    = (*Fake)(nil)
	_ core.Attacher   = (*Fake)(nil)
	_ core.Adopter    = (*Fake)(nil)
	_ core.Screener   = (*Fake)(nil)
	_ core.Skiller    = (*Fake)(nil)
	_ core.Prompter   = (*Fake)(nil)
)

// lines returns the lines of a session in the store, of every session when it is "".
func (f *Fake) lines(session string) ([]FakeLine, error) {
	b, err := os.ReadFile(f.Store())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []FakeLine
	for raw := range bytes.Lines(b) {
		var l FakeLine
		if json.Unmarshal(raw, &l) == nil && l.Session != "" && (session == "" || l.Session == session) {
			all = append(all, l)
		}
	}
	return all, nil
}

// Holds looks for a line of the session in the store. A session without a recorded transcript cannot be
// proven and passes.
func (f *Fake) Holds(_ context.Context, s core.Session) error {
	if f.Can.Holds != nil {
		return f.Can.Holds(s)
	}
	if s.Transcript == "" {
		return nil
	}
	lines, err := f.lines(s.Native)
	if err != nil || len(lines) == 0 || s.Native == "" || s.Transcript != f.Store() {
		return &core.Refusal{What: "Not resumed.", Why: "Its transcript holds no line of this session."}
	}
	return nil
}

// LastMessage returns the text of the session's last reply.
func (f *Fake) LastMessage(_ context.Context, s core.Session) (string, error) {
	if f.Can.LastMessage != nil {
		return f.Can.LastMessage(s)
	}
	lines, err := f.lines(s.Native)
	text := ""
	for _, l := range lines {
		if l.Type == "reply" && l.Text != "" {
			text = l.Text
		}
	}
	return text, err
}

// Dialogs returns the lines of dialogs.txt.
func (f *Fake) Dialogs(dir string) []string {
	if f.Can.Dialogs != nil {
		return f.Can.Dialogs(dir)
	}
	b, err := os.ReadFile(filepath.Join(f.info.Root, "dialogs.txt"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(b), "\n"), "\n")
}

// Deliver delivers nothing.
func (f *Fake) Deliver(s core.Session, x core.Sighting, text string) (core.Launch, bool) {
	if f.Can.Deliver != nil {
		return f.Can.Deliver(s, x, text)
	}
	return core.Launch{}, false
}

// Delivered is Typed.
func (f *Fake) Delivered(ctx context.Context, s core.Session, text string, since core.Instant) (bool, error) {
	if f.Can.Delivered != nil {
		return f.Can.Delivered(s, text, since)
	}
	return f.Typed(ctx, s, text, since)
}

// Typed looks for the text among the session's prompts.
func (f *Fake) Typed(_ context.Context, s core.Session, text string, since core.Instant) (bool, error) {
	if f.Can.Typed != nil {
		return f.Can.Typed(s, text, since)
	}
	lines, err := f.lines(s.Native)
	for _, l := range lines {
		if (l.Type == "prompt" || l.Type == "slash" || l.Type == "midturn") && l.At >= since && strings.TrimSpace(l.Text) == strings.TrimSpace(text) {
			return true, nil
		}
	}
	return false, err
}

// Stop knows no command.
func (f *Fake) Stop(s core.Session, x core.Sighting) (core.Launch, bool) {
	if f.Can.Stop != nil {
		return f.Can.Stop(s, x)
	}
	return core.Launch{}, false
}

// Attach knows no command.
func (f *Fake) Attach(s core.Session, x core.Sighting) (core.Launch, bool) {
	if f.Can.Attach != nil {
		return f.Can.Attach(s, x)
	}
	return core.Launch{}, false
}

// Begun returns the sessions that the store says were opened.
func (f *Fake) Begun(_ context.Context, dir string, since core.Instant) ([]core.Begun, error) {
	if f.Can.Begun != nil {
		return f.Can.Begun(dir, since)
	}
	lines, err := f.lines("")
	var all []core.Begun
	for _, l := range lines {
		if l.Type == "open" && l.CWD == dir && l.At >= since {
			all = append(all, core.Begun{Native: l.Session, CWD: l.CWD, At: l.At})
		}
	}
	return all, err
}

// Screen takes a last line "? QUESTION" for a dialog, and one that begins with "> " for the input box.
func (f *Fake) Screen(title, tail string) core.Screen {
	if f.Can.Screen != nil {
		return f.Can.Screen(title, tail)
	}
	tail = strings.TrimRight(tail, " \t\r\n")
	line := tail[strings.LastIndexByte(tail, '\n')+1:]
	if question, ok := strings.CutPrefix(line, "? "); ok {
		return core.Screen{Dialog: strings.TrimSpace(question)}
	}
	return core.Screen{Input: line == ">" || strings.HasPrefix(line, "> ")}
}

// Skill looks for skills/NAME below the root.
func (f *Fake) Skill(name, dir string) (string, bool) {
	if f.Can.Skill != nil {
		return f.Can.Skill(name, dir)
	}
	_, err := os.Stat(filepath.Join(f.info.Root, "skills", filepath.Base(name)))
	return "/" + name, err == nil && name == filepath.Base(name) && filepath.IsLocal(name)
}

// WithPrompt puts the prompt last.
func (f *Fake) WithPrompt(l core.Launch, prompt string) core.Launch {
	if f.Can.WithPrompt != nil {
		return f.Can.WithPrompt(l, prompt)
	}
	l.Argv = append(append([]string{}, l.Argv...), "--", prompt)
	return l
}
