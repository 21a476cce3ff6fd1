package codex

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

// stateDB makes a state database from the recorded schema and leaves it open, as the agent does.
func (h *home) stateDB(name string, statements ...string) *sql.DB {
	h.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(h.root, name)+"?_journal_mode=WAL")
	if err != nil {
		h.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	h.t.Cleanup(func() { db.Close() })
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			h.t.Fatal(err)
		}
	}
	return db
}

func recordedSQL(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/state", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// nameOf scans a rollout of the thread and returns what it is called.
func (h *home) nameOf(path string) [2]string {
	h.t.Helper()
	f := scanFile(h.t, h.a, path, core.Cursor{}).Deltas[0].Facts
	return [2]string{f.Name, f.AgentTitle}
}

func TestNamesOfTheRecordedDatabase(t *testing.T) {
	h := newHome(t)
	h.stateDB("state_5.sqlite", recordedSQL(t, "state_5.schema.sql"), recordedSQL(t, "state_5.sample.sql"))
	h.file(indexFile, recordedSQL(t, "session_index.sample.jsonl"))
	want := map[string]string{
		"01a22d88-3fd7-7743-9951-d60a4240f581": "My Fancy Name",
		"01a22d80-3b0a-7c73-a072-0d9dd0f40f9a": "", // a fork: its parent's first prompt
		"01a22d7f-65e1-75e0-b5da-1fbdba238b1b": "",
		"01a22d79-ce13-7ea0-b34f-9f4c45d970ad": "",
		"01a22d77-589c-7bf0-991d-782cbd6067ed": "",
	}
	for id, name := range want {
		n, ok := h.a.named(t.Context(), id, true)
		if !ok {
			t.Errorf("%s is not known", id)
		}
		if got, title := n.split(&thread{}); got != name || title != "" {
			t.Errorf("%s: name %q, title %q, want %q", id, got, title, name)
		}
	}
	if n, ok := h.a.named(t.Context(), "01a22d7b-9de5-7aa2-96b0-2e633ee131b1", true); !ok || n.thread != "subagent" {
		t.Errorf("sub-agent = %+v, %v", n, ok)
	}
	paths, _ := filepath.Glob("testdata/rollouts/*.jsonl")
	for _, p := range paths {
		if got := h.nameOf(p); got != [2]string{} {
			t.Errorf("%s is called %q: none of the samples was named", p, got)
		}
	}
}

func TestWhoNamed(t *testing.T) {
	const prompt = "2026-11-30T17:20:03.000Z"
	at := func(s string) core.Instant { return core.ParseInstant("2026-11-30T17:" + s + "Z") }
	th := func(fork string) *thread {
		return &thread{Fork: fork, Told: prompts{N: 1, First: "please look at the login page", At: core.ParseInstant(prompt)}}
	}
	for name, c := range map[string]struct {
		n     naming
		t     *thread
		name  string
		title string
	}{
		"the client's title":               {naming{name: "Fix login", lines: []given{{"Fix login", at("20:05")}}}, th(""), "", "Fix login"},
		"then a person's name":             {naming{name: "Mine", lines: []given{{"Fix login", at("20:05")}, {"Mine", at("25:00")}}}, th(""), "Mine", "Fix login"},
		"named at once":                    {naming{name: "Mine", lines: []given{{"Mine", at("20:01")}}}, th(""), "Mine", ""},
		"named before any prompt":          {naming{name: "Mine", lines: []given{{"Mine", at("20:01")}}}, &thread{}, "Mine", ""},
		"named later, no title was made":   {naming{name: "Mine", lines: []given{{"Mine", at("40:00")}}}, th(""), "Mine", ""},
		"a fork has its parent's":          {naming{name: "Parent's", lines: []given{{"Parent's", at("20:01")}}}, th("p"), "", "Parent's"},
		"a fork named by a person":         {naming{name: "Mine", lines: []given{{"Parent's", at("20:01")}, {"Mine", at("30:00")}}}, th("p"), "Mine", "Parent's"},
		"the prompt as a title":            {naming{name: "please look at", lines: []given{{"please look at", at("20:05")}}}, th(""), "", ""},
		"the prompt, cut":                  {naming{name: "please look…", lines: []given{{"please look…", at("20:05")}}}, th(""), "", ""},
		"only in the database":             {naming{name: "Mine"}, th(""), "Mine", ""},
		"the database says it is a prompt": {naming{name: "of the parent", like: true}, th("p"), "", ""},
		"only in the index":                {naming{lines: []given{{"a", at("20:05")}, {"Mine", at("25:00")}}}, th(""), "Mine", "a"},
		"nothing":                          {naming{}, th(""), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got, title := c.n.split(c.t); got != c.name || title != c.title {
				t.Errorf("split = %q, %q, want %q, %q", got, title, c.name, c.title)
			}
		})
	}
}

const named = "CREATE TABLE threads (id TEXT, rollout_path TEXT, archived INTEGER, name TEXT, thread_source TEXT, first_user_message TEXT)"

func TestNamesFollowChanges(t *testing.T) {
	h := newHome(t)
	path := h.rollout(t1, begun(t1, um("2026-11-30T17:20:03.000Z", "hello")))
	if got := h.nameOf(path); got != [2]string{} {
		t.Errorf("without a database: %q", got)
	}
	db := h.stateDB("state_5.sqlite", named, "INSERT INTO threads VALUES ('"+t1+"', '', 0, 'One', 'memory_consolidation', 'hello')")
	f := scanFile(t, h.a, path, core.Cursor{}).Deltas[0].Facts
	if f.Name != "One" || f.Thread != "memory_consolidation" || f.Archived {
		t.Errorf("name %q, thread %q, archived %v", f.Name, f.Thread, f.Archived)
	}
	if _, err := db.Exec("UPDATE threads SET name = 'Two, still in the log', archived = 1"); err != nil {
		t.Fatal(err)
	}
	if f := scanFile(t, h.a, path, core.Cursor{}).Deltas[0].Facts; f.Name != "Two, still in the log" || !f.Archived {
		t.Errorf("after a change: name %q, archived %v", f.Name, f.Archived)
	}
	// A newer generation, without the columns of today, wins.
	h.stateDB("state_11.sqlite", "CREATE TABLE threads (id TEXT, name TEXT)", "INSERT INTO threads VALUES ('"+t1+"', 'Eleven')")
	if got := h.nameOf(path); got[0] != "Eleven" {
		t.Errorf("with state_11: %q", got)
	}
}

func TestNamesWithABadDatabase(t *testing.T) {
	for name, make := range map[string]func(h *home){
		"corrupt":      func(h *home) { h.file("state_5.sqlite", strings.Repeat("garbage ", 2000)) },
		"foreign":      func(h *home) { h.stateDB("state_5.sqlite", "CREATE TABLE other (x)") },
		"empty":        func(h *home) { h.file("state_5.sqlite", "") },
		"a folder":     func(h *home) { h.file("state_5.sqlite/x", "") },
		"another name": func(h *home) { h.file("state_x.sqlite", "") },
		"held by one connection alone": func(h *home) {
			h.stateDB("state_5.sqlite", "PRAGMA locking_mode=EXCLUSIVE", named, "INSERT INTO threads VALUES ('"+t1+"', '', 0, 'x', '', '')")
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			path := h.rollout(t1, begun(t1, um("2026-11-30T17:20:03.000Z", "hello")))
			h.file(indexFile, `{"id":"`+t1+`","thread_name":"Mine","updated_at":"2026-11-30T18:00:00Z"}`+"\nnot json\n")
			make(h)
			if got := h.nameOf(path); got[0] != "Mine" {
				t.Errorf("name = %q, want the index's", got)
			}
		})
	}
}

func TestNamesSurviveALockedMoment(t *testing.T) {
	h := newHome(t)
	path := h.rollout(t1, begun(t1, um("2026-11-30T17:20:03.000Z", "hello")))
	db := h.stateDB("state_5.sqlite", named, "INSERT INTO threads VALUES ('"+t1+"', '', 0, 'Mine', '', 'hello')")
	if got := h.nameOf(path); got[0] != "Mine" {
		t.Fatalf("name = %q", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	h.file("state_5.sqlite", "overwritten by something else entirely, which is no database at all, but is long enough to be looked at")
	if got := h.nameOf(path); got[0] != "Mine" {
		t.Errorf("name = %q after the database became unreadable, want the one last read", got)
	}
}

func TestRenameIsASourceOfItsOwn(t *testing.T) {
	h := newHome(t)
	rollout := h.rollout(t1, begun(t1, um("2026-11-30T17:20:03.000Z", "hello")))
	db := h.stateDB("state_5.sqlite", named, "INSERT INTO threads VALUES ('"+t1+"', '"+rollout+"', 0, 'Do it', '', 'hello')")
	line := func(at, name string) string {
		return `{"id":"` + t1 + `","thread_name":"` + name + `","updated_at":"2026-11-30T17:` + at + `Z"}` + "\n"
	}
	path := h.file(indexFile, line("20:05", "Do it"))
	first := scanFile(t, h.a, path, core.Cursor{})
	if !first.Reset || len(first.Deltas) != 0 {
		t.Errorf("the first reading tells %+v; rollouts are looked up when they are scanned", first.Deltas)
	}
	h.file(indexFile, line("20:05", "Do it")+line("30:00", "Mine"))
	if _, err := db.Exec("UPDATE threads SET name = 'Mine'"); err != nil {
		t.Fatal(err)
	}
	s := scanFile(t, h.a, path, first.Cursor)
	want := []core.Delta{{Facts: core.Facts{Agent: Name, Native: t1, Name: "Mine", AgentTitle: "Do it"}}}
	if d := cmp.Diff(want, s.Deltas); d != "" || s.Reset {
		t.Errorf("reset %v, deltas (-want +got):\n%s", s.Reset, d)
	}
	if again := scanFile(t, h.a, path, s.Cursor); len(again.Deltas) != 0 || again.Reset {
		t.Errorf("nothing was added, and it tells %+v", again.Deltas)
	}
	if _, err := h.a.Scan(context.Background(), core.Source{Path: filepath.Join(h.root, "no", indexFile)}, core.Cursor{}); err == nil {
		t.Error("an index that cannot be read is no error")
	}
}

// TestNamesAreReadOnce holds down what ten thousand scans cost while the agent writes all the time.
func TestNamesAreReadOnce(t *testing.T) {
	h := newHome(t)
	h.a.names.rest = time.Hour
	path := h.rollout(t1, begun(t1, um("2026-11-30T17:20:03.000Z", "hello")))
	db := h.stateDB("state_5.sqlite", named, "INSERT INTO threads VALUES ('"+t1+"', '', 0, 'One', '', 'hello')")
	if got := h.nameOf(path); got[0] != "One" {
		t.Fatalf("name = %q", got)
	}
	if _, err := db.Exec("UPDATE threads SET name = 'Two'"); err != nil {
		t.Fatal(err)
	}
	if got := h.nameOf(path); got[0] != "One" {
		t.Errorf("name = %q: the database was opened again at once", got)
	}
	if n, _ := h.a.named(t.Context(), t1, true); n.name != "Two" {
		t.Errorf("name = %q where the state of this moment was asked for", n.name)
	}
}
