package core_test

import (
	"encoding/json"
	"testing"
	"time"

	"tower/core"

	"github.com/google/go-cmp/cmp"
)

func TestHiddenWhy(t *testing.T) {
	yes, no, one, two := true, false, int64(1), int64(2)
	past := func(s core.Session) core.Session {
		s.Status = core.StatusEnded
		return s
	}
	for _, c := range []struct {
		name string
		s    core.Session
		want string
	}{
		{"live without a turn", core.Session{Status: core.StatusLive}, ""},
		{"past with two turns", past(core.Session{Turns: &two}), ""},
		{"past with one turn", past(core.Session{Turns: &one}), core.HiddenNothing},
		{"past, nobody counted", past(core.Session{}), core.HiddenNothing},
		{"past with a name", past(core.Session{Name: "x", Turns: &one}), ""},
		{"past with the agent's title", past(core.Session{AgentTitle: "x", Turns: &one}), core.HiddenNothing},
		{"lost", core.Session{Status: core.StatusLost, Turns: &one}, core.HiddenNothing},
		{"killed", core.Session{Status: core.StatusKilled, Turns: &one}, core.HiddenNothing},
		{"nested", core.Session{Status: core.StatusLive, Nested: &yes}, core.HiddenNested},
		{"not nested", core.Session{Status: core.StatusLive, Nested: &no}, ""},
		{"sub-agent", core.Session{Class: core.ClassSubagent, Name: "x"}, core.HiddenSubagent},
		{"headless", core.Session{Class: core.ClassHeadless}, core.HiddenHeadless},
		{"document", core.Session{Class: core.ClassExport}, core.HiddenDocument},
		{"main", core.Session{Class: core.ClassMain}, ""},
		{"thread of the user", core.Session{ThreadSource: "user"}, ""},
		{"thread of nobody", core.Session{ThreadSource: "system"}, core.HiddenThread},
		{"harness", core.Session{Harness: true}, core.HiddenHarness},
		{"by hand before all", past(core.Session{ByHand: true, Nested: &yes, Harness: true}), core.HiddenByHand},
	} {
		if got := c.s.HiddenWhy(); got != c.want {
			t.Errorf("%s: HiddenWhy = %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTitle(t *testing.T) {
	for _, c := range []struct{ name, agent, want string }{
		{"mine", "its", "mine"}, {"", "its", "its"}, {"", "", ""},
	} {
		s := core.Session{Name: c.name, AgentTitle: c.agent, FirstMessage: "never"}
		if got := s.Title(); got != c.want {
			t.Errorf("Title of %q and %q = %q, want %q", c.name, c.agent, got, c.want)
		}
	}
}

func TestStatusOver(t *testing.T) {
	over := map[core.Status]bool{core.StatusEnded: true, core.StatusLost: true, core.StatusKilled: true}
	for _, s := range core.Statuses {
		if got := s.Over(); got != over[s] {
			t.Errorf("%q.Over() = %v", s, got)
		}
	}
}

func TestInstant(t *testing.T) {
	for _, c := range []struct {
		text string
		want core.Instant
	}{
		{"2026-11-30T19:32:37.042Z", 1796067157042},
		{"2026-11-30T20:32:37.042999+01:00", 1796067157042},
		{"2026-11-30T19:32:37Z", 1796067157000},
		{"", 0}, {"yesterday", 0}, {"2026-11-30 19:32:37", 0}, {"2026-02-30T00:00:00Z", 0},
	} {
		if got := core.ParseInstant(c.text); got != c.want {
			t.Errorf("ParseInstant(%q) = %d, want %d", c.text, got, c.want)
		}
	}
	type pair struct{ A, B core.Instant }
	b, err := json.Marshal(pair{A: 1796067157042})
	if err != nil || string(b) != `{"A":"2026-11-30T19:32:37.042Z","B":null}` {
		t.Errorf("Marshal = %s, %v", b, err)
	}
	back := pair{B: 5}
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pair{A: 1796067157042}, back); diff != "" {
		t.Error(diff)
	}
	if err := json.Unmarshal([]byte(`{"A":7}`), &back); err == nil {
		t.Error("a number was taken for an instant")
	}
	if !core.Instant(0).Time().IsZero() || core.InstantOf(time.Time{}) != 0 || core.Instant(0).String() != "" {
		t.Error("the unknown instant is not the zero time")
	}
}
