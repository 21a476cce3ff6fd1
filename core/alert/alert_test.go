package alert

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"tower/core"
)

var start = time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)

func at(seconds int) core.Instant {
	return core.InstantOf(start.Add(time.Duration(seconds) * time.Second))
}

// asks is a session that waits since so many seconds after the start.
func asks(id string, w core.Wait, ask string, since int) core.Row {
	return core.Row{Session: &core.Session{ID: core.SessionID(id), Agent: "codex", CWD: "/home/ada/code/shop"}, TitleText: "Title of " + id,
		Group: core.GroupNeedsYou, Live: &core.Live{Pill: core.PillWaiting, Wait: w, Ask: ask, Since: at(since)}}
}

func works(id string) core.Row {
	r := asks(id, "", "", 0)
	r.Group, r.Live = core.GroupLive, &core.Live{Pill: core.PillWorking}
	return r
}

func changed(r core.Row, change func(*core.Row)) core.Row {
	s := *r.Session
	r.Session = &s
	change(&r)
	return r
}

func snapshot(rows ...core.Row) *core.Snapshot {
	return &core.Snapshot{Rows: rows, Agents: []core.AgentState{{Agent: "claude", Display: "Claude Code"}, {Agent: "codex", Display: "Codex"}}}
}

// step is one snapshot at so many seconds after the start, and what it gives to tell: "kind key".
type step struct {
	at   int
	s    *core.Snapshot
	want []string
}

func TestNext(t *testing.T) {
	q := func(id string, since int) core.Row { return asks(id, core.WaitQuestion, "Which?", since) }
	crowdOf := func(n, since int) *core.Snapshot {
		var rows []core.Row
		for i := range n {
			rows = append(rows, q(fmt.Sprint("c", i), since))
		}
		return snapshot(rows...)
	}
	cases := []struct {
		name  string
		steps []step
	}{
		{"starts waiting, once", []step{{0, snapshot(works("a")), nil}, {5, snapshot(q("a", 5)), []string{"new a"}}, {6, snapshot(q("a", 5)), nil}, {60, snapshot(q("a", 5)), nil}}},
		{"answered, and asks again", []step{{0, snapshot(works("a")), nil}, {5, snapshot(q("a", 5)), []string{"new a"}}, {9, snapshot(works("a")), []string{"withdrawn a"}}, {20, snapshot(q("a", 20)), []string{"new a"}}}},
		{"ends while it waits", []step{{0, snapshot(works("a")), nil}, {5, snapshot(q("a", 5)), []string{"new a"}}, {9, snapshot(), []string{"withdrawn a"}}}},
		{"waited before the start", []step{{0, snapshot(q("a", -600)), nil}, {5, snapshot(q("a", -600)), nil}, {9, snapshot(works("a")), nil}, {20, snapshot(q("a", 20)), []string{"new a"}}}},
		{"waited before the start, found later", []step{{0, nil, nil}, {1, snapshot(), nil}, {5, snapshot(q("a", -600)), nil}, {9, snapshot(works("a")), nil}}},
		{"began to wait between start and first picture", []step{{0, nil, nil}, {3, snapshot(q("a", 2)), []string{"new a"}}}},
		{"no time, in the first picture", []step{{0, snapshot(changed(q("a", 0), func(r *core.Row) { r.Live.Since = 0 })), nil}}},
		{"no time, later", []step{{0, snapshot(), nil}, {5, snapshot(changed(q("a", 0), func(r *core.Row) { r.Live.Since = 0 })), []string{"new a"}}}},
		{"hidden", []step{{0, snapshot(), nil}, {5, snapshot(changed(q("a", 5), func(r *core.Row) { r.Hidden = core.HiddenSubagent })), nil}}},
		{"hidden while it waits", []step{{0, snapshot(), nil}, {5, snapshot(q("a", 5)), []string{"new a"}}, {6, snapshot(changed(q("a", 5), func(r *core.Row) { r.Hidden = core.HiddenByHand })), []string{"withdrawn a"}}}},
		{"idle", []step{{0, snapshot(works("a")), nil}, {5, snapshot(changed(works("a"), func(r *core.Row) { r.Live = &core.Live{Pill: core.PillIdle, Since: at(5)} })), nil}}},
		{"words arrive later", []step{{0, snapshot(), nil}, {5, snapshot(asks("a", core.WaitPermission, "", 5)), []string{"new a"}}, {6, snapshot(asks("a", core.WaitPermission, "Bash ls", 5)), []string{"updated a"}}, {7, snapshot(asks("a", core.WaitPermission, "Bash ls", 5)), nil}}},
		{"another word for the same", []step{{0, snapshot(), nil}, {5, snapshot(asks("a", core.WaitDialog, "", 5)), []string{"new a"}}, {6, snapshot(asks("a", core.WaitPermission, "Bash ls", 6)), []string{"updated a"}}}},
		{"next permission without a pause", []step{{0, snapshot(), nil}, {5, snapshot(asks("a", core.WaitPermission, "Bash ls", 5)), []string{"new a"}}, {6, snapshot(asks("a", core.WaitPermission, "Bash rm x", 5)), []string{"new a"}}}},
		{"same permission again", []step{{0, snapshot(), nil}, {5, snapshot(asks("a", core.WaitPermission, "Bash ls", 5)), []string{"new a"}}, {9, snapshot(asks("a", core.WaitPermission, "Bash ls", 8)), []string{"new a"}}}},
		{"renamed while it waits", []step{{0, snapshot(), nil}, {5, snapshot(q("a", 5)), []string{"new a"}}, {6, snapshot(changed(q("a", 5), func(r *core.Row) { r.TitleText = "Other" })), []string{"updated a"}}}},
		{"renamed while it waited before the start", []step{{0, snapshot(q("a", -5)), nil}, {6, snapshot(changed(q("a", -5), func(r *core.Row) { r.TitleText = "Other" })), nil}}},
		{"five at once", []step{{0, snapshot(), nil}, {5, crowdOf(5, 5), []string{"new c0", "new c1", "new c2", "new c3", "new c4"}}}},
		{"six at once", []step{{0, snapshot(), nil}, {5, crowdOf(6, 5), []string{"new many"}}, {6, crowdOf(6, 5), nil}, {7, snapshot(works("c0")), []string{"withdrawn many"}}}},
		{"six within ten seconds", []step{{0, snapshot(), nil}, {5, crowdOf(3, 5), []string{"new c0", "new c1", "new c2"}},
			{9, crowdOf(5, 5), []string{"new c3", "new c4"}},
			{14, crowdOf(6, 5), []string{"withdrawn c0", "withdrawn c1", "withdrawn c2", "withdrawn c3", "withdrawn c4", "new many"}},
			{14, crowdOf(8, 5), []string{"updated many"}},
			{40, crowdOf(9, 39), []string{"withdrawn many", "new many"}}}},
		{"six in more than ten seconds", []step{{0, snapshot(), nil}, {5, crowdOf(3, 5), []string{"new c0", "new c1", "new c2"}}, {15, crowdOf(6, 5), []string{"new c3", "new c4", "new c5"}}}},
		{"one after a crowd", []step{{0, snapshot(), nil}, {5, crowdOf(6, 5), []string{"new many"}}, {30, crowdOf(7, 5), []string{"new c6"}},
			{31, snapshot(q("c6", 5)), []string{"withdrawn many"}}, {32, snapshot(), []string{"withdrawn c6"}}}},
		{"read from the ledger", []step{{0, snapshot(), nil}, {5, func() *core.Snapshot { s := snapshot(q("a", 5)); s.AsOf = at(5); return s }(), nil}}},
		{"without a session", []step{{0, snapshot(), nil}, {5, snapshot(core.Row{Group: core.GroupNeedsYou, Live: &core.Live{}}), nil}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var st State
			for _, step := range c.steps {
				var popups []Popup
				st, popups = Next(st, step.s, start.Add(time.Duration(step.at)*time.Second))
				var got []string
				for _, p := range popups {
					got = append(got, string(p.Kind)+" "+p.Key)
				}
				if d := cmp.Diff(step.want, got, cmpopts.EquateEmpty()); d != "" {
					t.Errorf("at %d s (-want +got):\n%s", step.at, d)
				}
			}
		})
	}
}

func TestWords(t *testing.T) {
	long := strings.Repeat("word ", 60)
	cases := []struct {
		name        string
		r           core.Row
		title, body string
	}{
		{"permission", changed(asks("a", core.WaitPermission, "Bash systemctl restart vault-signer", 5), func(r *core.Row) { r.Agent, r.TitleText = "claude", "Rotate signing keys" }),
			"Claude Code asks permission", "Rotate signing keys: Bash systemctl restart vault-signer\nOpen Tower to answer."},
		{"question", changed(asks("a", core.WaitQuestion, "Keep the old entry point?", 5), func(r *core.Row) { r.TitleText = "Split the invoice parser" }),
			"Codex asks: Split the invoice parser", "Keep the old entry point?\nOpen Tower to answer."},
		{"dialog", changed(asks("a", core.WaitDialog, "trust this folder?", 5), func(r *core.Row) { r.TitleText = "Map tiles cache" }),
			"Codex is stopped by a dialog", "Map tiles cache: trust this folder?\nOpen Tower to answer."},
		{"gate", asks("a", core.WaitGate, "merge the retry budget?", 5), "Gate: merge the retry budget?", "Title of a\nOpen Tower to answer."},
		{"gate without words", asks("a", core.WaitGate, "", 5), "Codex waits at a gate", "Title of a\nOpen Tower to answer."},
		{"nobody knows what for", asks("a", "", "", 5), "Codex waits for you", "Title of a\nOpen Tower to answer."},
		{"question without words", asks("a", core.WaitQuestion, "", 5), "Codex asks: Title of a", "Open Tower to answer."},
		{"permission without words", asks("a", core.WaitPermission, "", 5), "Codex asks permission", "Title of a\nOpen Tower to answer."},
		{"no title", changed(asks("a", core.WaitPermission, "Bash ls", 5), func(r *core.Row) { r.TitleText, r.FirstMessage = "", "never a title" }),
			"Codex asks permission", "shop: Bash ls\nOpen Tower to answer."},
		{"no title, no folder", changed(asks("a", core.WaitQuestion, "Which?", 5), func(r *core.Row) { r.TitleText, r.CWD = "", "" }), "Codex asks", "Which?\nOpen Tower to answer."},
		{"unknown agent", changed(asks("a", core.WaitPermission, "x", 5), func(r *core.Row) { r.Agent = "other" }), "other asks permission", "Title of a: x\nOpen Tower to answer."},
		{"nameless agent", changed(asks("a", core.WaitPermission, "x", 5), func(r *core.Row) { r.Agent = "" }), "An agent asks permission", "Title of a: x\nOpen Tower to answer."},
		{"long", changed(asks("a", core.WaitQuestion, long, 5), func(r *core.Row) { r.TitleText = long }),
			"Codex asks: word word word word word word word…", strings.TrimSpace(long[:119]) + "…\nOpen Tower to answer."},
		{"hostile", changed(asks("a", core.WaitPermission, "Bash rm\n-rf <b>&\x00\x1b[31m\xff \u202e", 5), func(r *core.Row) { r.TitleText = "two\r\nlines" }),
			"Codex asks permission", "two lines: Bash rm -rf <b>&[31m\ufffd\nOpen Tower to answer."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := words(snapshot(), &c.r)
			if p.Title != c.title || p.Body != c.body {
				t.Errorf("words = %q, %q\nwant    %q, %q", p.Title, p.Body, c.title, c.body)
			}
		})
	}
}

// TestAnyWords: whatever a session is called and asks, the popup keeps its measure.
func TestAnyWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		r := asks("a", core.Wait(rapid.SampledFrom([]string{"permission", "question", "dialog", "gate", "", "else"}).Draw(t, "wait")), text.Draw(t, "ask"), 5)
		r.TitleText, r.Agent = text.Draw(t, "title"), core.Agent(text.Draw(t, "agent"))
		p := words(snapshot(), &r)
		if n := utf8.RuneCountInString(p.Title); n == 0 || n > maxTitle || !utf8.ValidString(p.Title) || strings.ContainsAny(p.Title, "\n\x00\r") {
			t.Fatalf("title of %d runes: %q", n, p.Title)
		}
		if strings.Count(p.Body, "\n") > 1 || !strings.HasSuffix(p.Body, wayOn) || !utf8.ValidString(p.Body) || strings.ContainsAny(p.Body, "\x00\r\x1b") {
			t.Fatalf("body %q", p.Body)
		}
	})
}

// TestStateIsAValue: a State that was passed on may be used again.
func TestStateIsAValue(t *testing.T) {
	_, _ = Next(State{}, nil, start)
	st, _ := Next(State{}, snapshot(), start)
	crowd := snapshot(asks("a", core.WaitQuestion, "1", 5), asks("b", core.WaitQuestion, "2", 5))
	_, first := Next(st, crowd, start.Add(5*time.Second))
	_, second := Next(st, crowd, start.Add(5*time.Second))
	if d := cmp.Diff(first, second); d != "" || len(first) != 2 {
		t.Errorf("the same decision twice:\n%s", d)
	}
}

func TestDefuse(t *testing.T) {
	for in, want := range map[string]string{
		"$(calc) `n ]]><x/>": "\uff04(calc) \u02cbn ]]\u203a<x/>", "plain \"@ text": "plain \"@ text",
	} {
		if got := defuse(in); got != want {
			t.Errorf("defuse(%q) = %q, want %q", in, got, want)
		}
	}
}
