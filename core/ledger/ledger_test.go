//go:build cgo

package ledger

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"tower/core"
)

// openTest opens a new ledger in a folder of the test's own.
func openTest(t testing.TB) *DB {
	t.Helper()
	dir := t.TempDir()
	return openAt(t, filepath.Join(dir, "ledger.sqlite"))
}

func openAt(t testing.TB, path string) *DB {
	t.Helper()
	d, err := open(t.Context(), path, filepath.Join(filepath.Dir(path), "backup"), 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return d
}

func apply(t testing.TB, d *DB, w core.Writes) Applied {
	t.Helper()
	a, err := d.Apply(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func load(t testing.TB, d *DB) Loaded {
	t.Helper()
	l, err := d.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// raw opens the file beside the ledger, as a foreign program would.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", uri(path, "rwc", 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func mustExec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func number64(n int64) *int64 { return &n }
func truth(b bool) *bool      { return &b }

func session(native string) core.Session {
	return core.Session{ID: core.NewSessionID("fake", native), Agent: "fake", Native: native, Status: core.StatusLive}
}

const noon = core.Instant(1_790_000_000_123)

// full is a session with every field set.
func full(native string) core.Session {
	s := session(native)
	s.AgentName = "a name inside"
	s.Name, s.AgentTitle, s.CWD, s.Project, s.Folder, s.Model = "a name", "title", "/w/p", "p", "/w/p/sub", "m-1"
	s.Transcript, s.Version, s.Source, s.Entrypoint = "/t/x.jsonl", "2.1.0", "resume", "cli"
	s.Class, s.ThreadSource, s.Nested, s.PIDShared, s.Harness, s.ByHand = core.ClassMain, "user", truth(false), truth(true), true, true
	s.StartedAt, s.LastSeen, s.EndedAt, s.Status, s.EndReason = noon, noon+1, noon+2, core.StatusKilled, "asked"
	s.Parent, s.Follows, s.ForkedFrom, s.Continues, s.ResumedFrom, s.ResumedBy = "p", "f", "ff", "c", "r", "menu"
	s.Description, s.Tags, s.Closeout, s.Archived, s.FirstMessage, s.Summary = "d", []string{"one", "zwei ü"}, core.CloseoutOpen, true, "fix\n\"it\"", "sum"
	s.Turns, s.ContextTokens, s.ContextWindow, s.ContextStale = number64(7), number64(0), number64(200000), true
	return s
}

// fullLaunch waits, and has every other field set.
func fullLaunch(token string) core.LaunchRecord {
	return core.LaunchRecord{Token: token, Agent: "fake", CWD: "/w/\xff ü", Name: "n", Model: "m-1", SprintNode: "node", ScriptPath: "s", PromptPath: "p",
		AskedBy: "page", RequestedAt: noon, Continues: "c", Expect: core.NewSessionID("fake", "e"), Resumes: true,
		Home: core.HomeTmux, Terminal: "xterm", Proc: core.Process{Boot: "b", PID: 13, Start: 1 << 63}, TTY: "/dev/pts/3", Window: "0x1a", Pane: "%4"}
}

// fullIntent is over, and has every field set.
func fullIntent(id string) core.Intent {
	return core.Intent{ID: id, Action: core.CommandEnd, Session: core.NewSessionID("fake", "1"), Node: "node", Token: "tok", AskedBy: "tray",
		AskedAt: noon, Detail: "pid 13", EndedAt: noon + 1, Outcome: core.IntentDone}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	d := openAt(t, path)
	w := core.Writes{
		Sessions: []core.Session{full("1"), session("2")},
		Runs: []core.Run{
			{Session: core.NewSessionID("fake", "1"), Proc: core.Process{Boot: "b", PID: 11, Start: 1 << 63}, LaunchToken: "tok",
				WrapperPID: 10, StartedAt: noon, StartSource: "startup", Shared: true},
			{Session: core.NewSessionID("fake", "2"), StartedAt: noon},
			{Session: core.NewSessionID("fake", "2"), Proc: core.Process{Boot: "a", PID: 12, Start: 5}, StartedAt: noon, EndedAt: noon + 9},
			{Session: core.NewSessionID("fake", "2"), Proc: core.Process{Boot: "b", PID: 12, Start: 5}, StartedAt: noon, EndedAt: noon + 9},
		},
		Launches: []core.LaunchRecord{
			fullLaunch("open"),
			{Token: "matched", Agent: "fake", RequestedAt: noon, Matched: core.NewSessionID("fake", "1"), MatchedAt: noon},
			{Token: "expired", Agent: "fake", RequestedAt: noon, Expired: true},
		},
		Intents: []core.Intent{fullIntent("i")},
		Sources: []core.SourceState{{Path: "/t/\xff x.jsonl", Agent: "fake", Session: "s",
			Fingerprint: core.Fingerprint{Device: 1, Inode: 1 << 63, Size: 3, MTime: 4, CTime: 5},
			Cursor:      core.Cursor{Version: 6, Offset: 7, Head: 1<<64 - 1, Tail: 9, State: []byte{0, 1, 2}}, Hot: true,
			Bad: 3, Unknown: map[string]int64{"we\"ird\\<type>": 2}}},
	}
	apply(t, d, w)
	if err := d.SetSetting(t.Context(), "window", "800x600"); err != nil {
		t.Fatal(err)
	}
	// What was written is there for the next process.
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = openAt(t, path)

	l := load(t, d)
	open, closed := []core.Run{w.Runs[0], w.Runs[1]}, []core.Run{w.Runs[3]} // not that of the older boot
	closed[0].ID = 4
	open[0].ID, open[1].ID = 1, 2
	light := w.Sources[0]
	light.Cursor = core.Cursor{Version: 6, Offset: 7}
	light.Bad, light.Unknown = 0, nil
	want := Loaded{Sessions: w.Sessions, Open: open, Closed: closed, Launches: w.Launches[:1], Settings: map[string]string{"window": "800x600"},
		Fingerprints: map[string]core.SourceState{light.Path: light}}
	if diff := cmp.Diff(want, l); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
	got, ok, err := d.Source(t.Context(), light.Path)
	if err != nil || !ok {
		t.Fatalf("source: %v, %v", ok, err)
	}
	if diff := cmp.Diff(w.Sources[0], got); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}
	intents, err := d.Intents(t.Context(), 9)
	if diff := cmp.Diff(w.Intents, intents); err != nil || diff != "" {
		t.Errorf("intents: %v (-want +got):\n%s", err, diff)
	}
	if _, ok, err := d.Source(t.Context(), "/none"); ok || err != nil {
		t.Errorf("source of an unknown path = %v, %v", ok, err)
	}
	bad, unknown, err := d.Totals(t.Context())
	if err != nil || bad != 3 || unknown["we\"ird\\<type>"] != 2 {
		t.Errorf("totals = %d %v %v", bad, unknown, err)
	}
	if a := apply(t, d, core.Writes{Sessions: w.Sessions, Launches: w.Launches, Intents: w.Intents, Sources: w.Sources}); a.Rows != 0 {
		t.Errorf("writing the same again changed %d rows", a.Rows)
	}
}

// corpus makes n sessions of turns each, in writes of 200.
func corpus(n, turns int) []core.Writes {
	var all []core.Writes
	uid := uint64(1)
	for i := 0; i < n; i++ {
		if i%200 == 0 {
			all = append(all, core.Writes{})
		}
		w := &all[len(all)-1]
		native := fmt.Sprintf("session-%d", i)
		s := full(native)
		s.CWD, s.Transcript = fmt.Sprintf("/home/p/%d", i%100), "/home/p/.agent/transcripts/"+native+".jsonl"
		s.FirstMessage = "please look at the tests of this package and tell me which of them cannot fail"
		w.Sessions = append(w.Sessions, s)
		b := core.TurnBatch{Session: s.ID, Source: s.Transcript, Opened: noon + core.Instant(i), Replace: true,
			Folders: map[string]int64{"/home/p": 3, "/home/p/x": 4}}
		for j := 0; j < turns; j++ {
			uid = uid*6364136223846793005 + 1442695040888963407
			b.Turns = append(b.Turns, core.Turn{UID: int64(uid), At: noon + core.Instant(i*1000+j), Kind: core.TurnTyped})
		}
		w.Turns = append(w.Turns, b)
		w.Sources = append(w.Sources, core.SourceState{Path: s.Transcript, Agent: "fake", Session: s.ID,
			Fingerprint: core.Fingerprint{Device: 1, Inode: uint64(i), Size: 100000, MTime: 1, CTime: 1},
			Cursor:      core.Cursor{Version: 1, Offset: 100000, Head: 1, Tail: 2, State: make([]byte, 300)}})
	}
	return all
}
