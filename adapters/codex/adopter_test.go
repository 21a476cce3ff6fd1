package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

func TestBegunInTheDatabase(t *testing.T) {
	h := newHome(t)
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no links here: ", err)
	}
	db := h.stateDB("state_5.sqlite", recordedSQL(t, "state_5.schema.sql"), recordedSQL(t, "state_5.sample.sql"))
	const since = 1_796_100_000_000
	for i, r := range []struct {
		id, cwd, source string
		thread          any
		at              int64
	}{
		{"in time", real, "cli", "user", since},
		{"by a link", link, "cli", "user", since + 1},
		{"on the daemon", real, "vscode", "user", since + 2},
		{"too early", real, "cli", "user", since - 1},
		{"elsewhere", real + "/sub", "cli", "user", since + 3},
		{"a sub-agent", real, `{"subagent":"x"}`, "subagent", since + 4},
		{"an editor's", real, "vscode", nil, since + 5},
		{"without a terminal", real, "exec", "user", since + 6},
	} {
		if _, err := db.Exec(`INSERT INTO threads(id,rollout_path,created_at,updated_at,source,model_provider,cwd,title,sandbox_policy,approval_mode,created_at_ms,thread_source)
			VALUES(?,?,?,?,?,'mock',?,'','{}','on-request',?,?)`, r.id, fmt.Sprint(i), r.at/1000, r.at/1000, r.source, r.cwd, r.at, r.thread); err != nil {
			t.Fatal(err)
		}
	}
	want := []core.Begun{{Native: "in time", CWD: real, At: since}, {Native: "by a link", CWD: link, At: since + 1}, {Native: "on the daemon", CWD: real, At: since + 2}}
	for _, dir := range []string{real, link, real + "/."} {
		got, err := h.a.Begun(t.Context(), dir, since)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("Begun(%s): %v (-want +got):\n%s", dir, err, d)
		}
	}
	if got, err := h.a.Begun(t.Context(), "/home/dev/proj2", 1_796_060_233_692); err != nil || len(got) == 0 || got[0].Native != "01a22d88-3fd7-7743-9951-d60a4240f581" {
		t.Errorf("Begun of the recorded rows = %v, %v", got, err)
	}
}

func TestBegunInAnOldDatabase(t *testing.T) {
	h := newHome(t)
	h.stateDB("state_1.sqlite", "CREATE TABLE threads(id TEXT, rollout_path TEXT, created_at INTEGER, source TEXT, cwd TEXT)", "INSERT INTO threads VALUES('x','',1796100000,'cli','/home/dev/p')")
	got, err := h.a.Begun(t.Context(), "/home/dev/p", 1_796_100_000_000)
	if d := cmp.Diff([]core.Begun{{Native: "x", CWD: "/home/dev/p", At: 1_796_100_000_000}}, got); d != "" || err != nil {
		t.Errorf("Begun: %v (-want +got):\n%s", err, d)
	}
}

// TestBegunOnDisk reads rollouts where no database can be read.
func TestBegunOnDisk(t *testing.T) {
	h := newHome(t)
	h.file("state_5.sqlite", "this is no database, and it is long enough to be looked at as one")
	since := core.ParseInstant("2026-11-30T17:19:00.000Z")
	put := func(id, content string, at time.Time) {
		day, _ := dayOf(id)
		path := h.file("sessions/"+day.Local().Format("2006/01/02")+"/rollout-"+day.Local().Format("2006-01-02T15-04-05")+"-"+id+".jsonl", content)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	header := func(id, more string) string {
		return line("2026-11-30T17:20:02.336Z", "session_meta", `{"id":"`+id+`","cwd":"/home/dev/p"`+more+`}`)
	}
	put(t1, header(t1, `,"source":"cli","thread_source":"user"`), later)
	put(t2, header(t2, `,"source":"exec"`), later)
	put(t3, header(t3, `,"source":{"subagent":{}}`), later)
	const before = "01a22d70-4adb-76e2-811e-3f453ff66974"
	put(before, header(before, `,"source":"cli"`), later)
	const elsewhere = "01a22d79-0000-7ea0-b34f-9f4c45d970ad"
	put(elsewhere, line("2026-11-30T17:20:02.336Z", "session_meta", `{"id":"`+elsewhere+`","cwd":"/home/dev/q"}`), later)
	const old = "01a22d79-0001-7ea0-b34f-9f4c45d970ad"
	put(old, header(old, ""), since.Time().Add(-time.Second))
	at, _ := dayOf(t1)
	want := []core.Begun{{Native: t1, CWD: "/home/dev/p", At: core.InstantOf(at)}}
	got, err := h.a.Begun(t.Context(), "/home/dev/p", since)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("Begun: %v (-want +got):\n%s", err, d)
	}
	if got, err := h.a.Begun(t.Context(), "/home/dev/p", core.InstantOf(at)+1); len(got) != 0 || err != nil {
		t.Errorf("Begun after it = %v, %v", got, err)
	}
}
