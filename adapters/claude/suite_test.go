package claude

import (
	"os"
	"path/filepath"
	"testing"

	"tower/adapters/adaptertest"
	"tower/core"
)

// skillSession is the id inside one of the recordings.
const skillSession = "aaaaaaaa-0001-4000-8000-000000000001"

// TestSuite holds the adapter to the contract all adapters share.
func TestSuite(t *testing.T) {
	mixed := t.TempDir()
	table := adaptertest.NewTable("boot",
		register(t, mixed, "interactive-cli-busy"), register(t, mixed, "interactive-sdk-cli-nostatus"), register(t, mixed, "bg-cli-idle"))
	adaptertest.Suite{
		Info:  testInfo(""),
		New:   func(info core.AgentInfo) core.Adapter { return New(info) },
		Hooks: "testdata/hooks",
		Fill: func(t *testing.T, root string) {
			if err := os.CopyFS(filepath.Join(root, "projects", "-home-dev-proj"), os.DirFS("testdata/transcripts")); err != nil {
				t.Fatal(err)
			}
			// The recordings bear names that tell what is in them; one bears its own again.
			b, err := os.ReadFile("testdata/transcripts/skill.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			lay(t, filepath.Join(root, "projects", "-home-dev-proj2", skillSession+suffix), string(b))
		},
		Evidence: []adaptertest.EvidenceCase{{
			Name:  "a window, a one-shot and a background session",
			Table: table,
			Fill: func(t *testing.T, root string, _ *adaptertest.RecordedTable) {
				if err := os.CopyFS(root, os.DirFS(mixed)); err != nil {
					t.Fatal(err)
				}
			},
			Spoil: func(t *testing.T, root string, table *adaptertest.RecordedTable) {
				write(t, root, 4, []byte(`{"pid": 4, "sess`))
				write(t, root, 5, nil)
				table.Put(adaptertest.RecordedProc{Proc: core.Proc{PID: 4, Start: 1}, Exe: testExe}, adaptertest.RecordedProc{Proc: core.Proc{PID: 5, Start: 1}, Exe: testExe})
			},
			Want: []string{"75ee2d1b-f2b7-4471-bd52-b4a0c28aa2a0", "11111111-2222-4333-8444-555555555555", "84b1a8ef-8a0e-4a61-8b69-c2464254dfd6"},
		}},
		Session:   core.Session{Native: "75ee2d1b-f2b7-4471-bd52-b4a0c28aa2a0", CWD: "/home/dev/proj"},
		Malformed: []string{"{", "// mine\n{}", "[]", `{"hooks": []}`, `{"hooks": {"Stop": {}}}`},
		Contents:  []string{"", "{}", "{}\n", "{\n  \"model\": \"opus\"\n}\n", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`},
	}.Run(t)
}
