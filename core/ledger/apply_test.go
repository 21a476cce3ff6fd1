//go:build cgo

package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"tower/core"
)

func TestApplyNothing(t *testing.T) {
	d := openTest(t)
	if a := apply(t, d, core.Writes{}); a.Rows != 0 || a.NewEvents != 0 || a.Counted != nil {
		t.Errorf("an empty write = %+v", a)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Apply(ctx, core.Writes{Sessions: testSessions}); !errors.Is(err, context.Canceled) {
		t.Errorf("a write after the end of its context = %v", err)
	}
	if n := len(load(t, d).Sessions); n != 0 {
		t.Errorf("%d sessions were written", n)
	}
}

func TestEventsOnce(t *testing.T) {
	d := openTest(t)
	event := func(id, native string, at core.Instant) core.Event {
		return core.Event{ID: id, Kind: core.EventStop, At: at, Agent: "fake", Native: native, Name: "Stop", Raw: json.RawMessage(`{"a": "ü"}`)}
	}
	first := core.Writes{Events: []core.Event{event("1", "s", noon), event("2", "s", noon+2), event("1", "s", noon)}}
	if a := apply(t, d, first); a.NewEvents != 2 {
		t.Errorf("new events = %d, want 2", a.NewEvents)
	}
	changed := event("2", "other", noon+9)
	if a := apply(t, d, core.Writes{Events: []core.Event{changed, event("3", "s", noon+1)}}); a.NewEvents != 1 {
		t.Errorf("new events = %d, want 1", a.NewEvents)
	}
	known, err := d.KnownEvents(t.Context(), []string{"1", "3", "4", `"`})
	if diff := cmp.Diff(map[string]bool{"1": true, "3": true}, known); err != nil || diff != "" {
		t.Errorf("known events: %v (-want +got):\n%s", err, diff)
	}
	if known, err := d.KnownEvents(t.Context(), nil); err != nil || len(known) != 0 {
		t.Errorf("known of none = %v, %v", known, err)
	}
	list, err := d.Events(t.Context(), core.NewSessionID("fake", "s"), 2)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range list {
		ids = append(ids, e.ID)
	}
	if diff := cmp.Diff([]string{"3", "2"}, ids); diff != "" {
		t.Errorf("the two newest events, oldest first (-want +got):\n%s", diff)
	}
	last := list[1]
	last.Ingested = 0
	want := EventRecord{ID: "2", Session: core.NewSessionID("fake", "s"), Agent: "fake", Native: "s", Name: "Stop", Kind: core.EventStop,
		At: noon + 2, Payload: json.RawMessage(`{"a": "ü"}`)}
	if diff := cmp.Diff(want, last); diff != "" || list[1].Ingested == 0 {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

func TestRunsByProcess(t *testing.T) {
	d := openTest(t)
	s := session("s")
	p, q := core.Process{Boot: "b", PID: 5, Start: 100}, core.Process{Boot: "b", PID: 5, Start: 200}
	steps := []core.Run{
		{Session: s.ID, Proc: p, LaunchToken: "tok", StartedAt: noon, StartSource: "startup"},
		{Session: s.ID, Proc: p, StartedAt: noon + 5, EndedAt: noon + 6}, // its end, told by who knows no more
		{Session: s.ID, Proc: q, StartedAt: noon + 7},                    // the same pid again
		{Session: s.ID, StartedAt: noon + 8},
		{Session: s.ID, StartedAt: noon + 9, EndedAt: noon + 10},
		{Session: s.ID, Proc: q, EndedAt: noon + 11},
		{Session: s.ID, Proc: q, StartSource: "resume"}, // and it was not over
	}
	for _, r := range steps {
		apply(t, d, core.Writes{Sessions: []core.Session{s}, Runs: []core.Run{r}})
	}
	runs, _, _, err := d.Detail(t.Context(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := []core.Run{
		{ID: 1, Session: s.ID, Proc: p, LaunchToken: "tok", StartedAt: noon, EndedAt: noon + 6, StartSource: "startup"},
		{ID: 2, Session: s.ID, Proc: q, StartedAt: noon + 7, StartSource: "resume"},
		{ID: 3, Session: s.ID, StartedAt: noon + 8, EndedAt: noon + 10},
	}
	if diff := cmp.Diff(want, runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[1:2], load(t, d).Open); diff != "" {
		t.Errorf("open runs (-want +got):\n%s", diff)
	}
}

// TestAllOrNothing sends writes of which one part cannot be kept, and looks for the others.
func TestAllOrNothing(t *testing.T) {
	good := session("good")
	twin := session("good")
	twin.ID = "another id"
	bad := session("bad")
	bad.Status = "asleep"
	batch := core.TurnBatch{Session: good.ID, Source: "/s", Turns: []core.Turn{{UID: 1, At: 1, Kind: 1}}}
	nobody, nowhere, orphan := batch, batch, batch
	nobody.Session = core.NewSessionID("fake", "nobody")
	nowhere.Source = ""
	orphan.Session = ""
	cases := []struct {
		name string
		w    core.Writes
		says string
	}{
		{"one agent session under two ids", core.Writes{Sessions: []core.Session{twin}}, "another id"},
		{"an unknown status", core.Writes{Sessions: []core.Session{bad}}, "CHECK"},
		{"no status", core.Writes{Sessions: []core.Session{{ID: "x", Agent: "a", Native: "n"}}}, "CHECK"},
		{"no id", core.Writes{Sessions: []core.Session{{Agent: "a", Native: "n", Status: core.StatusLive}}}, "CHECK"},
		{"a run of no session", core.Writes{Runs: []core.Run{{Session: "nobody"}}}, "nobody"},
		{"an event without an id", core.Writes{Events: []core.Event{{Kind: core.EventStop}}}, "without an id"},
		{"a launch without a token", core.Writes{Launches: []core.LaunchRecord{{Agent: "a"}}}, "CHECK"},
		{"an intent without an id", core.Writes{Intents: []core.Intent{{Action: core.CommandEnd, AskedBy: "cli", AskedAt: noon}}}, "without an id"},
		{"an intent of nothing", core.Writes{Intents: []core.Intent{{ID: "i", AskedBy: "cli", AskedAt: noon}}}, "an action"},
		{"an intent of nobody", core.Writes{Intents: []core.Intent{{ID: "i", Action: core.CommandEnd, AskedAt: noon}}}, "asked_by"},
		{"an intent of no time", core.Writes{Intents: []core.Intent{{ID: "i", Action: core.CommandEnd, AskedBy: "cli"}}}, "asked_at"},
		{"a source without a path", core.Writes{Sources: []core.SourceState{{Agent: "a"}}}, "CHECK"},
		{"turns of an unknown session", core.Writes{Turns: []core.TurnBatch{nobody}}, "not in the ledger"},
		{"turns of no source", core.Writes{Turns: []core.TurnBatch{nowhere}}, "no source"},
		{"turns of no session", core.Writes{Turns: []core.TurnBatch{orphan}}, "no session"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := openTest(t)
			w := core.Writes{Sessions: []core.Session{good}, Events: []core.Event{{ID: "e", Kind: core.EventStop, Agent: "fake", Native: "good"}},
				Turns: []core.TurnBatch{batch}, Sources: []core.SourceState{{Path: "/s", Agent: "fake"}}}
			w.Add(c.w)
			_, err := d.Apply(t.Context(), w)
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), d.path) {
				t.Errorf("error = %v, want ErrInvalid that says %q and names the file", err, c.says)
			}
			l := load(t, d)
			known, err := d.KnownEvents(t.Context(), []string{"e"})
			if err != nil || len(l.Sessions)+len(l.Fingerprints)+len(known) != 0 {
				t.Errorf("kept %d sessions, %d sources, %d events, %v", len(l.Sessions), len(l.Fingerprints), len(known), err)
			}
			// And the next write is not held up by it.
			if a := apply(t, d, core.Writes{Sessions: []core.Session{good}, Turns: []core.TurnBatch{batch}}); len(a.Counted) != 1 {
				t.Errorf("the next write counted %v", a.Counted)
			}
		})
	}
}

func TestTurnsColumn(t *testing.T) {
	d := openTest(t)
	s := session("s")
	turns := func() *int64 { t.Helper(); return load(t, d).Sessions[0].Turns }
	apply(t, d, core.Writes{Sessions: []core.Session{s}})
	if n := turns(); n != nil {
		t.Errorf("turns of which nothing was told = %d, want unknown", *n)
	}
	apply(t, d, core.Writes{Turns: []core.TurnBatch{{Session: s.ID, Source: "/s"}}})
	if n := turns(); n == nil || *n != 0 {
		t.Errorf("turns after an empty batch = %v, want 0", n)
	}
	s.Turns = number64(99)
	a := apply(t, d, core.Writes{Sessions: []core.Session{s}, Turns: []core.TurnBatch{{Session: s.ID, Source: "/s", Turns: []core.Turn{{UID: 1}, {UID: 2, At: 4}}}}})
	if n := turns(); n == nil || *n != 2 {
		t.Errorf("turns beside a stale row = %v, want 2", n)
	}
	if diff := cmp.Diff([]core.Counted{{Session: s.ID, At: []core.Instant{0, 4}}}, a.Counted); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	s.Turns = nil
	apply(t, d, core.Writes{Sessions: []core.Session{s}})
	if n := turns(); n == nil || *n != 2 {
		t.Errorf("turns after a row that knows none = %v, want 2", n)
	}
}

// TestRefusesToEmpty shows the ledger refusing readings that would leave nothing of what it knows.
func TestRefusesToEmpty(t *testing.T) {
	d := openTest(t)
	apply(t, d, corpus(3, 60)[0])
	w := corpus(3, 0)[0]
	w.Sessions = nil
	var refusal *core.Refusal
	if _, err := d.Apply(t.Context(), w); !errors.As(err, &refusal) || !strings.Contains(refusal.Error(), "180") {
		t.Fatalf("emptying three sources of 60 turns = %v, want a refusal that names their number", err)
	}
	n := 0
	if err := d.Turns(t.Context(), func(core.SessionID, core.Instant) error { n++; return nil }); err != nil || n != 180 {
		t.Errorf("after the refusal there are %d turns, %v", n, err)
	}
	w.Turns = w.Turns[:1] // one transcript may well have been emptied by hand
	if a := apply(t, d, w); len(a.Counted) != 1 || len(a.Counted[0].At) != 0 {
		t.Errorf("emptying one source of 60 turns counted %v", a.Counted)
	}
}

func TestSettings(t *testing.T) {
	d := openTest(t)
	for _, v := range []string{"1", "2", ""} {
		if err := d.SetSetting(t.Context(), "k", v); err != nil {
			t.Fatal(err)
		}
		if got, ok := load(t, d).Settings["k"]; got != v || !ok {
			t.Errorf("setting = %q, %v, want %q", got, ok, v)
		}
	}
	if err := d.SetSetting(t.Context(), "", "x"); err == nil {
		t.Error("a setting without a key was taken")
	}
}

// TestHiddenTwin compares HiddenSQL with Session.HiddenWhy on rows of the real table.
func TestHiddenTwin(t *testing.T) {
	d := openTest(t)
	word := func(t *rapid.T, name string, known ...string) string {
		if rapid.IntRange(0, 3).Draw(t, name+"?") == 0 {
			return rapid.String().Draw(t, name)
		}
		return rapid.SampledFrom(known).Draw(t, name)
	}
	maybe := func(t *rapid.T, name string) *bool {
		return rapid.SampledFrom([]*bool{nil, nil, truth(false), truth(true)}).Draw(t, name)
	}
	seldom := func(t *rapid.T, name string) bool { return rapid.IntRange(0, 7).Draw(t, name) == 0 }
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		var list []core.Session
		for i := range 40 {
			s := session(string(rune('a' + i)))
			s.ByHand, s.Harness = seldom(t, "by hand"), seldom(t, "harness")
			s.Nested = maybe(t, "nested")
			s.Class = core.Class(word(t, "class", "", "main", "main", "subagent", "headless", "export", "none", "Subagent"))
			s.ThreadSource = word(t, "thread", "", "", "user", "user", "User", "memory")
			s.Status = rapid.SampledFrom(core.Statuses[1:]).Draw(t, "status")
			s.Name = word(t, "name", "", "", "n", " ")
			s.AgentTitle = word(t, "title", "", "t")
			s.Turns = rapid.SampledFrom([]*int64{nil, number64(-1), number64(0), number64(1), number64(2), number64(1 << 40)}).Draw(t, "turns")
			list = append(list, s)
		}
		if _, err := d.Apply(t.Context(), core.Writes{Sessions: list}); err != nil {
			t.Fatal(err)
		}
		rows, err := d.read.QueryContext(t.Context(), "SELECT s.asm_id, "+HiddenSQL+" FROM sessions AS s")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		hidden := map[core.SessionID]int{}
		for rows.Next() {
			var id core.SessionID
			var h int // a NULL would not scan
			if err := rows.Scan(&id, &h); err != nil {
				t.Fatal(err)
			}
			hidden[id] = h
		}
		if err := rows.Err(); err != nil || len(hidden) != len(list) {
			t.Fatal(len(hidden), err)
		}
		for i := range list {
			why := list[i].HiddenWhy()
			seen[why]++
			if (hidden[list[i].ID] == 1) != (why != "") {
				t.Fatalf("HiddenSQL = %d, HiddenWhy = %q of %+v", hidden[list[i].ID], why, list[i])
			}
		}
	})
	for _, why := range []string{"", core.HiddenByHand, core.HiddenNested, core.HiddenSubagent, core.HiddenHeadless, core.HiddenDocument,
		core.HiddenThread, core.HiddenHarness, core.HiddenNothing} {
		if seen[why] == 0 {
			t.Errorf("no session was %q: the test compares less than it should", why)
		}
	}
}
