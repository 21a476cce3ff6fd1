package codex

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

func TestDeliver(t *testing.T) {
	h := newHome(t)
	folder := t.TempDir()
	idle := h.rollout(t1, begun(t1, task("20:03", "task_started"), task("20:04", "task_complete")))
	s := core.Session{Native: t1, CWD: "/nowhere/at/all"}
	x := core.Sighting{Native: t1, Transcript: idle, CWD: folder}
	for _, text := range []string{"go on", "-x", "--help", "/status", "!ls", "a\nb\t\"c\" 'd' `e` $(f) %1 #{g};", strings.Repeat("k", longestQueued)} {
		l, ok := h.a.Deliver(s, x, text)
		want := core.Launch{
			Argv: []string{"codex", "queue", "--thread", t1, "--message=" + text}, Dir: folder, NullIn: true,
			Unset: scrub(), Set: map[string]string{"CODEX_HOME": h.root},
		}
		if d := cmp.Diff(want, l); d != "" || !ok {
			t.Errorf("Deliver(%.20q): ok %v (-want +got):\n%s", text, ok, d)
		}
		if n := len(l.Argv[len(l.Argv)-1]); n > 131_071 {
			t.Errorf("an argument of %d bytes", n)
		}
	}
	if l, ok := h.a.Deliver(s, core.Sighting{Native: t1, Transcript: idle}, "x"); !ok || l.Dir != h.root {
		t.Errorf("Deliver where the folder is gone = %+v, %v", l, ok)
	}
	rollout := func(lines ...string) string {
		return h.file("sessions/2026/11/30/r-"+fmt.Sprint(len(lines))+".jsonl", begun(t1, lines...))
	}
	for name, c := range map[string]struct {
		s    core.Session
		x    core.Sighting
		text string
		want bool
	}{
		"too long":                       {s, x, strings.Repeat("k", longestQueued+1), false},
		"nothing":                        {s, x, "", false},
		"a NUL":                          {s, x, "a\x00b", false},
		"nothing was ever asked":         {s, core.Sighting{Native: t1, CWD: folder}, "x", false},
		"not seen running":               {s, core.Sighting{}, "x", false},
		"another thread seen":            {s, core.Sighting{Native: t2, Transcript: idle}, "x", false},
		"no id":                          {core.Session{}, core.Sighting{Transcript: idle}, "x", false},
		"an option for an id":            {core.Session{Native: "--yolo"}, core.Sighting{Native: "--yolo", Transcript: idle}, "x", false},
		"interrupted":                    {s, core.Sighting{Native: t1, Transcript: rollout(task("20:03", "task_started"), task("20:04", "turn_aborted"))}, "x", false},
		"interrupted, then another turn": {s, core.Sighting{Native: t1, Transcript: rollout(task("20:03", "task_started"), task("20:04", "turn_aborted"), task("20:05", "task_started"))}, "x", true},
		"killed in mid-turn":             {s, core.Sighting{Native: t1, Transcript: rollout(task("20:03", "task_started"))}, "x", true},
		"a daemon's thread":              {s, core.Sighting{Native: t1, Transcript: idle, Shared: true}, "x", true},
	} {
		if l, ok := h.a.Deliver(c.s, c.x, c.text); ok != c.want {
			t.Errorf("%s: Deliver = %+v, %v, want %v", name, l, ok, c.want)
		}
	}
}

func TestDelivered(t *testing.T) {
	since := core.ParseInstant("2026-11-30T17:30:00.000Z")
	const payload = `{"UserInput":{"content":[{"type":"text","text":%q,"text_elements":[]}],"client_id":"01a22eab-5f25-7280-ad01-d76814eefd0d"}}`
	fill := func(h *home, name string, rows ...any) *sql.DB {
		db := h.stateDB(name, recordedSQL(h.t, "queue_1.schema.sql"))
		for i := 0; i < len(rows); i += 3 {
			if _, err := db.Exec("INSERT INTO queued_items VALUES(?,?,?,?,?,?)", fmt.Sprint(i), rows[i], fmt.Sprintf(payload, rows[i+1]), i, rows[i+2], rows[i+2]); err != nil {
				h.t.Fatal(err)
			}
		}
		return db
	}
	delivered := func(h *home, text string, want bool) {
		h.t.Helper()
		if got, err := h.a.Delivered(h.t.Context(), core.Session{Native: t1}, text, since); got != want || err != nil {
			h.t.Errorf("Delivered(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	h := newHome(t)
	delivered(h, "go", false) // neither queue nor rollout
	h.rollout(t1, begun(t1, line("2026-11-30T17:30:05.000Z", "event_msg", `{"type":"item_completed","item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":"taken"}]}}`)))
	delivered(h, "taken", true)
	db := fill(h, "queue_1.sqlite", t1, "while \"busy\"\nsecond", int64(since)+5, t1, "old", int64(since)-1, t2, "another's", int64(since)+5)
	delivered(h, "while \"busy\"\nsecond", true)
	delivered(h, "old", false)
	delivered(h, "another's", false)
	delivered(h, "taken", true)
	if _, err := db.Exec("DELETE FROM queued_items"); err != nil {
		t.Fatal(err)
	}
	delivered(h, "while \"busy\"\nsecond", false)

	newer := newHome(t)
	fill(newer, "queue_1.sqlite", t1, "in the old one", int64(since))
	fill(newer, "queue_2.sqlite", t1, "in the new one", int64(since))
	delivered(newer, "in the old one", false)
	delivered(newer, "in the new one", true)

	broken := newHome(t)
	if err := os.WriteFile(filepath.Join(broken.root, "queue_1.sqlite"), []byte("no database at all, and long enough to be looked at as one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := broken.a.Delivered(t.Context(), core.Session{Native: t1}, "x", since); got || err == nil {
		t.Errorf("Delivered with a broken queue = %v, %v, want an error", got, err)
	}
}
