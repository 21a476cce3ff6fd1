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
				adaptertest.FakeLine{Session: "s1", Type: "reply", At: 3000, Tokens: 42},
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
