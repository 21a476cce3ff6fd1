package adaptertest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"tower/adapters/adaptertest"
	"tower/core"
)

// TestFake holds the fake agent to the contract it is to teach.
func TestFake(t *testing.T) {
	hooks := t.TempDir()
	for event, h := range map[string]adaptertest.FakeHook{
		"start": {Session: "s1", Source: "startup"}, "prompt": {Session: "s1", Text: "do it"}, "stop": {Session: "s1", Text: "done"},
		"wait": {Session: "s1", Wait: core.WaitQuestion, Ask: "Which?"}, "resolve": {Session: "s1"}, "end": {Session: "s1", Reason: "quit"},
		"stop.inside": {Session: "s1", AgentID: "a"}, "other": {Session: "s2"},
	} {
		b, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if event == "stop.inside" {
			continue
		}
		if err := os.WriteFile(filepath.Join(hooks, event+".json"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	row := func(pid, ppid int, exe string, args ...string) adaptertest.RecordedProc {
		return adaptertest.RecordedProc{Proc: core.Proc{PID: pid, PPID: ppid, Start: uint64(pid) * 10}, Exe: exe, Args: args}
	}
	adaptertest.Suite{
		Info:  adaptertest.FakeInfo(""),
		New:   func(info core.AgentInfo) core.Adapter { return adaptertest.NewFake(info.Root).Facts(info) },
		Hooks: hooks,
		Fill: func(t *testing.T, root string) {
			f := adaptertest.NewFake(root)
			if err := f.Write(
				adaptertest.FakeLine{Session: "s1", Type: "open", At: 1000, CWD: "/p", Model: "m"},
				adaptertest.FakeLine{Session: "s1", Type: "prompt", At: 2000, UID: "u1", Text: "one"},
				adaptertest.FakeLine{Session: "s2", Type: "open", At: 2500, CWD: "/q", Fork: "s1"},
				adaptertest.FakeLine{Session: "s2", Type: "prompt", At: 2600, UID: "u1", Text: "one"},
				adaptertest.FakeLine{Session: "s1", Type: "reply", At: 3000, Text: "done", Tokens: 42},
				adaptertest.FakeLine{Session: "s2", Type: "midturn", At: 3100, UID: "u2", Text: "two"},
				adaptertest.FakeLine{Session: "s2", Type: "skill", Name: "closeout"},
				adaptertest.FakeLine{Session: "s3", Type: "odd"},
			); err != nil {
				t.Fatal(err)
			}
		},
		Evidence: []adaptertest.EvidenceCase{{
			Name: "a pair and a shared process",
			Table: adaptertest.NewTable("boot", row(100, 1, "/opt/fake-agent", "fake-agent"), row(101, 100, "/opt/worker", "worker"),
				row(200, 1, "/opt/fake-agent", "fake-agent", "serve"), row(300, 1, "/opt/fake-agent", "fake-agent")),
			Fill: func(t *testing.T, root string, _ *adaptertest.RecordedTable) {
				f := adaptertest.NewFake(root)
				for name, r := range map[string]adaptertest.FakeRecord{
					"pair":   {PID: 100, Start: 1000, Worker: 101, WorkerAt: 1010, Threads: []adaptertest.FakeThread{{Session: "s1", State: "working"}}},
					"shared": {PID: 200, Start: 2000, Shared: true, Threads: []adaptertest.FakeThread{{Session: "s2", State: "idle"}, {Session: "s3", State: "pondering"}}},
					"stale":  {PID: 300, Start: 2999, Threads: []adaptertest.FakeThread{{Session: "s4", State: "idle"}}},
				} {
					if err := f.Register(name, r); err != nil {
						t.Fatal(err)
					}
				}
			},
			Spoil: func(t *testing.T, root string, _ *adaptertest.RecordedTable) {
				if err := os.WriteFile(filepath.Join(root, "registry", "torn.json"), []byte(`{"pid": 1`), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			Want: []string{"s1", "s2", "s3"},
		}},
		Session:   core.Session{Native: "s1", CWD: "/p"},
		Malformed: []string{"!"},
		Contents:  []string{"on start: \"mine\"\n", "x"},
	}.Run(t)
}

// TestFakeActs shows both sources of the fake's answers: its records, and what a test set.
func TestFakeActs(t *testing.T) {
	f := adaptertest.NewFake(t.TempDir())
	if err := f.Write(
		adaptertest.FakeLine{Session: "s1", Type: "open", At: 1000, CWD: "/p"},
		adaptertest.FakeLine{Session: "s1", Type: "prompt", At: 2000, UID: "u1", Text: "one"},
		adaptertest.FakeLine{Session: "s1", Type: "reply", At: 3000, Text: "first"},
		adaptertest.FakeLine{Session: "s1", Type: "reply", At: 4000, Text: "last"},
	); err != nil {
		t.Fatal(err)
	}
	ctx, s := t.Context(), core.Session{Native: "s1", Transcript: f.Store()}
	if err := f.Holds(ctx, s); err != nil {
		t.Error(err)
	}
	if text, err := f.LastMessage(ctx, s); text != "last" || err != nil {
		t.Errorf("LastMessage = %q, %v", text, err)
	}
	if got, err := f.Typed(ctx, s, "one ", 2000); !got || err != nil {
		t.Errorf("Typed = %v, %v", got, err)
	}
	if got, err := f.Delivered(ctx, s, "one", 2001); got || err != nil {
		t.Errorf("Delivered later = %v, %v", got, err)
	}
	if got, err := f.Begun(ctx, "/p", 1000); len(got) != 1 || err != nil {
		t.Errorf("Begun = %v, %v", got, err)
	}
	for tail, want := range map[string]core.Screen{"x\n? Which one?\n\n": {Dialog: "Which one?"}, "x\n> typed": {Input: true}, ">": {Input: true}, "x": {}} {
		if got := f.Screen("", tail); got != want {
			t.Errorf("Screen(%q) = %+v, want %+v", tail, got, want)
		}
	}
	if err := os.WriteFile(filepath.Join(f.Agent().Root, "dialogs.txt"), []byte("whether it may\nhow\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := f.Dialogs("/p"); len(got) != 2 || got[0] != "whether it may" {
		t.Errorf("Dialogs = %q", got)
	}
	if err := os.MkdirAll(filepath.Join(f.Agent().Root, "skills", "closeout"), 0o700); err != nil {
		t.Fatal(err)
	}
	if prompt, ok := f.Skill("closeout", "/p"); prompt != "/closeout" || !ok {
		t.Errorf("Skill = %q, %v", prompt, ok)
	}
	if _, ok := f.Stop(s, core.Sighting{}); ok {
		t.Error("it stops what nobody told it to stop")
	}
	stop := core.Launch{Argv: []string{"fake-agent", "stop", "s1"}, Dir: "/"}
	f.Can = adaptertest.FakeActs{
		Holds:       func(core.Session) error { return &core.Refusal{What: "Not resumed."} },
		LastMessage: func(core.Session) (string, error) { return "told", nil },
		Dialogs:     func(string) []string { return nil },
		Deliver:     func(core.Session, core.Sighting, string) (core.Launch, bool) { return stop, true },
		Typed:       func(core.Session, string, core.Instant) (bool, error) { return true, nil },
		Stop:        func(core.Session, core.Sighting) (core.Launch, bool) { return stop, true },
		Attach:      func(core.Session, core.Sighting) (core.Launch, bool) { return stop, true },
		Begun:       func(string, core.Instant) ([]core.Begun, error) { return nil, nil },
		Screen:      func(string, string) core.Screen { return core.Screen{Input: true} },
		Skill:       func(string, string) (string, bool) { return "run it", true },
		WithPrompt:  func(l core.Launch, prompt string) core.Launch { return core.Launch{Argv: []string{prompt}} },
	}
	_, delivers := f.Deliver(s, core.Sighting{}, "x")
	_, stops := f.Stop(s, core.Sighting{})
	_, attaches := f.Attach(s, core.Sighting{})
	delivered, err := f.Delivered(ctx, s, "never", 0) // falls back on Typed
	last, _ := f.LastMessage(ctx, s)
	begun, _ := f.Begun(ctx, "/p", 0)
	prompt, _ := f.Skill("x", "")
	if !delivers || !stops || !attaches || !delivered || err != nil || f.Holds(ctx, s) == nil || last != "told" || begun != nil ||
		prompt != "run it" || !f.Screen("", "").Input || f.Dialogs("/p") != nil || len(f.WithPrompt(core.Launch{}, "x").Argv) != 1 {
		t.Error("an answer that was set is not given")
	}
}
