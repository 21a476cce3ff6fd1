package adaptertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tower/core"
)

// FakeName is the short name of the fake agent.
const FakeName core.Agent = "fake"

// Fake is the adapter of an agent that does not exist, and the hard cases of those that do: one
// source holds many sessions, a session is a wrapper and a worker, and a shared process may serve
// several sessions. Its folder:
//
//	registry/NAME.json   what runs, see [FakeRecord]
//	store.jsonl          every transcript, a line an item, see [FakeLine]
//	hooks.txt            a line an installed event: "on EVENT: COMMAND fake EVENT"
//	untrusted            exists while the agent would not run its hooks
//	dialogs.txt          a line a dialog that stands before every session
//	skills/NAME          a skill that is installed
//
// Its hooks send the object of [FakeHook].
type Fake struct {
	info core.AgentInfo
	// Shot is the command [Fake.OneShot] names; nil stands for `fake-agent once`.
	Shot []string
	// Can are its answers when it is acted on.
	Can FakeActs
}

var (
	_ core.Adapter       = (*Fake)(nil)
	_ core.HookInstaller = (*Fake)(nil)
	_ core.RuleWriter    = (*Fake)(nil)
	_ core.Watched       = (*Fake)(nil)
	_ core.Finder        = (*Fake)(nil)
)

// FakeInfo are the facts of the fake agent whose folder is root.
func FakeInfo(root string) core.AgentInfo {
	return core.AgentInfo{
		Agent: FakeName, Display: "Fake Agent", Code: "FK", Tag: "fake",
		Install:     "Nothing installs the fake agent.",
		Exe:         []string{"*/fake-agent"},
		Argv:        []string{"*/fake-agent.js"},
		Helpers:     []string{"*fake-agent serve*"},
		Root:        root,
		Transcripts: []string{"store.jsonl"},
		HookFile:    "hooks.txt",
		Closeout:    "closeout",
	}
}

// NewFake returns the fake agent whose folder is root, which need not exist.
func NewFake(root string) *Fake { return &Fake{info: FakeInfo(root)} }

// Facts replaces the facts, for a test that narrows them, and returns f.
func (f *Fake) Facts(info core.AgentInfo) *Fake {
	f.info = info
	return f
}

// Agent returns the facts.
func (f *Fake) Agent() core.AgentInfo { return f.info }

// FakeHook is what a hook of the fake agent is handed. Event names are those of [core.EventKind]:
// start, prompt, stop, wait, resolve, end, note.
type FakeHook struct {
	Session string    `json:"session_id"`
	AgentID string    `json:"agent_id,omitempty"` // inside a sub-agent
	Source  string    `json:"source,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Text    string    `json:"text,omitempty"` // what was typed, or the last output
	Wait    core.Wait `json:"wait,omitempty"`
	Ask     string    `json:"ask,omitempty"`
	CWD     string    `json:"cwd,omitempty"`
	Model   string    `json:"model,omitempty"`
}

// Envelope returns a hook call as tower-hook would record it. Ancestors are the caller's to add.
func (f *Fake) Envelope(event string, at core.Instant, h FakeHook) core.Envelope {
	payload, err := json.Marshal(h)
	if err != nil {
		panic(err) // a struct of texts always encodes
	}
	e := core.Envelope{V: core.EnvelopeVersion, EventID: core.UUID4(), Agent: FakeName, Event: event, TS: at, Payload: payload}
	if h.Session != "" {
		id := core.NewSessionID(FakeName, h.Session)
		e.ASMID, e.AgentSessionID = &id, &h.Session
	}
	if h.CWD != "" {
		e.CWD = &h.CWD
	}
	return e
}

// Decode turns a hook call into an event.
func (f *Fake) Decode(env core.Envelope) (core.Event, error) {
	var h FakeHook
	_ = json.Unmarshal(env.Payload, &h) // what is no hook of ours has no session either
	if env.AgentSessionID != nil && *env.AgentSessionID != "" {
		h.Session = *env.AgentSessionID
	}
	if h.Session == "" {
		return core.Event{}, errors.New("the hook call names no session")
	}
	e := core.Event{
		ID: env.EventID, Kind: core.EventNote, At: env.TS, Agent: FakeName, Native: h.Session, Name: env.Event,
		Raw: env.Payload, CWD: h.CWD, Model: h.Model,
	}
	if env.CWD != nil {
		e.CWD = *env.CWD
	}
	if env.LaunchToken != nil {
		e.LaunchToken = *env.LaunchToken
	}
	if h.AgentID != "" {
		return e, nil
	}
	switch kind := core.EventKind(env.Event); kind {
	case core.EventStart:
		e.Kind, e.Source = kind, h.Source
	case core.EventPrompt:
		e.Kind, e.Prompt = kind, h.Text
	case core.EventStop:
		e.Kind, e.Message = kind, h.Text
	case core.EventWait:
		e.Kind, e.Wait, e.Ask = kind, h.Wait, h.Ask
	case core.EventResolve:
		e.Kind = kind
	case core.EventEnd:
		e.Kind, e.Reason = kind, h.Reason
	}
	return e, nil
}

// FakeRecord is a file of the fake agent's registry: a process, perhaps with a worker below it, and
// the sessions it drives.
type FakeRecord struct {
	PID      int          `json:"pid"`
	Start    uint64       `json:"start"`
	Worker   int          `json:"worker,omitempty"` // pid of the worker, which is the session's process
	WorkerAt uint64       `json:"worker_start,omitempty"`
	Shared   bool         `json:"shared,omitempty"`
	Final    bool         `json:"final,omitempty"` // its states beat what hooks told
	Threads  []FakeThread `json:"threads"`
}

// FakeThread is one session of a [FakeRecord].
type FakeThread struct {
	Session string       `json:"id"`
	State   string       `json:"state"` // a pill's word; any other is shown as it stands
	Wait    core.Wait    `json:"wait,omitempty"`
	Ask     string       `json:"ask,omitempty"`
	Mark    int64        `json:"mark,omitempty"`
	Since   core.Instant `json:"since,omitempty"`
	Name    string       `json:"name,omitempty"`
	CWD     string       `json:"cwd,omitempty"`
	Class   core.Class   `json:"class,omitempty"`
}

// Register writes a file of the registry.
func (f *Fake) Register(name string, r FakeRecord) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	dir := filepath.Join(f.info.Root, "registry")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".json"), b, 0o600)
}

// Unregister takes a file of the registry away.
func (f *Fake) Unregister(name string) error {
	return os.Remove(filepath.Join(f.info.Root, "registry", name+".json"))
}

// Watch returns the registry.
func (f *Fake) Watch() []string { return []string{filepath.Join(f.info.Root, "registry")} }

// Evidence returns what the registry says of processes the table confirms.
func (f *Fake) Evidence(ctx context.Context, t core.Table) ([]core.Sighting, error) {
	dir := f.Watch()[0]
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read registry: %w", err)
	}
	var seen []core.Sighting
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var r FakeRecord
		b, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil || json.Unmarshal(b, &r) != nil {
			continue
		}
		seen = append(seen, f.judge(t, r)...)
	}
	return seen, nil
}

func (f *Fake) judge(t core.Table, r FakeRecord) []core.Sighting {
	group := []core.Process{{Boot: t.Boot(), PID: r.PID, Start: r.Start}}
	proc := group[0]
	if r.Worker != 0 {
		proc = core.Process{Boot: t.Boot(), PID: r.Worker, Start: r.WorkerAt}
		group = append(group, proc)
	}
	exe, _ := t.Exe(r.PID)
	args, _ := t.Args(r.PID)
	row, _ := t.Proc(proc.PID)
	if !core.Alive(t, group[0]) || !core.Alive(t, proc) || !f.info.MatchExe(exe, args) || f.info.IsHelper(args) && !r.Shared {
		return nil
	}
	var seen []core.Sighting
	for _, th := range r.Threads {
		s := core.Sighting{
			Agent: FakeName, Native: th.Session, Proc: proc, Signal: group[:1], MustGo: group, Grade: core.GradeRecord,
			Pill: core.PillOther, Raw: th.State, Wait: th.Wait, Reason: th.Ask, Final: r.Final, Mark: th.Mark, At: th.Since,
			Class: th.Class, CWD: th.CWD, Name: th.Name, TTY: row.TTY,
		}
		switch p := core.Pill(th.State); p {
		case core.PillWorking, core.PillWaiting, core.PillIdle, core.PillShell, core.PillStarting, "":
			s.Pill = p
		}
		if r.Shared {
			s.Shared, s.Grade, s.Signal, s.MustGo = true, core.GradeShared, nil, nil
			s.Caution = "Its process serves other sessions as well."
		}
		seen = append(seen, s)
	}
	return seen
}

// Launch starts a session whose id the fake agent is told.
func (f *Fake) Launch(spec core.LaunchSpec) (core.Launch, error) {
	l := core.Launch{Dir: spec.CWD, Unset: []string{"FAKE_*"}, Preset: core.UUID4()}
	l.Argv = append([]string{"fake-agent", "--id", l.Preset}, spec.Args...)
	if spec.Model != "" {
		l.Argv = append(l.Argv, "--model", spec.Model)
	}
	if spec.Prompt != "" {
		l.Argv = append(l.Argv, "--", spec.Prompt)
	}
	return l, nil
}

// Resume takes a session up again.
func (f *Fake) Resume(s core.Session, model string) (core.Launch, error) {
	if s.Native == "" || s.CWD == "" {
		return core.Launch{}, &core.Refusal{What: "Not resumed.", Why: "Nobody recorded its folder."}
	}
	l := core.Launch{Argv: []string{"fake-agent", "--resume", s.Native}, Dir: s.CWD, Unset: []string{"FAKE_*"}, Preset: s.Native}
	if model != "" {
		l.Argv = append(l.Argv, "--model", model)
	}
	return l, nil
}

// OneShot names Shot.
func (f *Fake) OneShot(dir string) (core.Launch, error) {
	argv := f.Shot
	if argv == nil {
		argv = []string{"fake-agent", "once"}
	}
	return core.Launch{Argv: argv, Dir: dir, NullIn: true}, nil
}

// Find says that the agent is there when its folder is.
func (f *Fake) Find(string) (string, string) {
	if _, err := os.Stat(f.info.Root); err != nil {
		return "", f.info.Root
	}
	return "fake-agent", ""
}

// RuleOutput puts a line above the text.
func (f *Fake) RuleOutput(text string) []byte { return []byte("RULES\n" + text) }

// HookFile returns hooks.txt.
func (f *Fake) HookFile() string { return filepath.Join(f.info.Root, f.info.HookFile) }

// FakeEvents are the events the fake agent's installer asks for.
var FakeEvents = []string{"start", "prompt", "stop", "end"}

func hookLine(command, event string) string {
	return fmt.Sprintf("on %s: %q fake %s\n", event, command, event)
}

// InstallHooks adds the missing lines at the end.
func (f *Fake) InstallHooks(content []byte, command string) ([]byte, error) {
	if bytes.HasPrefix(content, []byte("!")) {
		return nil, errors.New(`the file begins with "!"`)
	}
	out := bytes.Clone(content)
	for _, e := range FakeEvents {
		if !strings.Contains(string(out), hookLine(command, e)) {
			out = append(out, hookLine(command, e)...)
		}
	}
	return out, nil
}

// UninstallHooks takes the lines away; a file of nothing else goes.
func (f *Fake) UninstallHooks(content []byte, command string) ([]byte, error) {
	out := string(content)
	for _, e := range FakeEvents {
		out = strings.Replace(out, hookLine(command, e), "", 1)
	}
	if out == "" && len(content) > 0 {
		return nil, nil
	}
	return []byte(out), nil
}

// HookStatus counts the lines.
func (f *Fake) HookStatus(content []byte, command string) core.HookStatus {
	s := core.HookStatus{State: core.HooksPartial, Events: []string{}, Missing: []string{}}
	if bytes.HasPrefix(content, []byte("!")) {
		return core.HookStatus{State: core.HooksUnreadable, Reason: `The file begins with "!".`}
	}
	for _, e := range FakeEvents {
		if strings.Contains(string(content), hookLine(command, e)) {
			s.Events = append(s.Events, e)
		} else {
			s.Missing = append(s.Missing, e)
		}
	}
	switch len(s.Missing) {
	case 0:
		s.State = core.HooksInstalled
		if _, err := os.Stat(filepath.Join(f.info.Root, "untrusted")); err == nil {
			s.State, s.Reason = core.HooksNeedTrust, "The fake agent has to be told."
		}
	case len(FakeEvents):
		s.State = core.HooksNotInstalled
	}
	return s
}
