package codex

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/adapters/adaptertest"
	"tower/adapters/jsonl"
	"tower/core"
)

// TestSuite holds the adapter to the contract all adapters share.
func TestSuite(t *testing.T) {
	const exe = "/home/dev/npm/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
	lock := func(t *testing.T, root, id string, pid int, table *adaptertest.RecordedTable) {
		t.Helper()
		file := filepath.Join(root, "thread-writer-locks", id+".lock")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		print, ok := jsonl.Fingerprint(file)
		if !ok {
			t.Fatal("no fingerprint of " + file)
		}
		if pid != 0 {
			table.Lock(core.Lock{PID: pid, Device: print.Device, Inode: print.Inode})
		}
	}
	const window, ide1, ide2, left = "01a22d78-4adb-76e2-811e-3f453ff66974", "01a22d79-ce13-7ea0-b34f-9f4c45d970ad", "01a22d7a-bece-79c2-b864-0307f7d3b016", "01a22d7b-0000-7000-8000-000000000001"
	row := func(pid, ppid int, exe string, args ...string) adaptertest.RecordedProc {
		return adaptertest.RecordedProc{Proc: core.Proc{PID: pid, PPID: ppid, Start: uint64(pid) * 10, TTY: 34816}, Exe: exe, Args: args, Cwd: "/home/dev/proj"}
	}
	adaptertest.Suite{
		Info: core.AgentInfo{
			Agent: Name, Display: "Codex", Code: "CX", Tag: "codex", Install: "npm", HookFile: "hooks.json", Closeout: "closeout",
			Exe: []string{"*/codex"}, Argv: []string{"*/bin/codex"}, Helpers: []string{"codex app-server*"}, Shared: true,
			Transcripts: []string{"sessions", "archived_sessions"},
		},
		New:   func(info core.AgentInfo) core.Adapter { return New(info) },
		Hooks: "testdata/hooks",
		Fill:  fillSessions,
		Evidence: []adaptertest.EvidenceCase{{
			Name: "a window behind its wrapper, and a server of two threads",
			Table: adaptertest.NewTable("boot",
				row(99001, 1, "/usr/bin/node", "node", "/home/dev/npm/node_modules/.bin/../@openai/codex/bin/codex", "--no-daemon"),
				row(99002, 99001, exe, "codex", "--no-daemon"), row(99003, 1, exe, "codex", "app-server")),
			Fill: func(t *testing.T, root string, table *adaptertest.RecordedTable) {
				lock(t, root, window, 99002, table)
				lock(t, root, ide1, 99003, table)
				lock(t, root, ide2, 99003, table)
				lock(t, root, left, 0, table)
			},
			Spoil: func(t *testing.T, root string, _ *adaptertest.RecordedTable) {
				if err := os.MkdirAll(filepath.Join(root, "thread-writer-locks", "x.lock"), 0o700); err != nil {
					t.Fatal(err)
				}
			},
			Want: []string{window, ide1, ide2},
		}},
		Session:   core.Session{Native: window, CWD: "/home/dev/proj"},
		Malformed: []string{"{", "// mine\n{}", "[]", `{"hooks": []}`, `{"hooks": {"Stop": {}}}`},
		Contents:  []string{"", "{}", "{}\n", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`},
	}.Run(t)
}

// fillSessions lays the recorded rollouts where Codex keeps them.
func fillSessions(t *testing.T, root string) {
	t.Helper()
	files, err := filepath.Glob("testdata/rollouts/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("recorded rollouts: %v, %v", files, err)
	}
	dir := filepath.Join(root, "sessions", "2026", "11", "30")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(b), "\n")
		var meta struct {
			Payload struct {
				ID string `json:"id"`
			} `json:"payload"`
		}
		if err := json.Unmarshal([]byte(first), &meta); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := "rollout-2026-11-30T17-20-02-" + meta.Payload.ID + ".jsonl"
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
