package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tower/core"
)

func TestClean(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"plain", 10, "plain"},
		{"", 10, ""},
		{"two\nlines\tand  blanks ", 40, "two lines and blanks"},
		{"\x1b[31mred\x07\x00", 40, "[31mred"},
		{"turned \u202e around \u200b", 40, "turned  around "},
		{"family 👨\u200d👩", 40, "family 👨\u200d👩"},
		{"bad \xff byte", 40, "bad � byte"},
		{"äöüßäöüß", 4, "äöü…"},
		{"exact", 5, "exact"},
		{"x", 0, "…"},
	} {
		if got := clean(c.in, c.limit); got != c.want {
			t.Errorf("clean(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestSinceOf(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, berlin)
	for in, want := range map[string]string{
		"":           "",
		"2026-11-30": "2026-11-29T23:00:00.000Z", // the day begins where the person lives
		"30m":        "2026-11-30T10:30:00.000Z",
		"3h":         "2026-11-30T08:00:00.000Z",
		"7d":         "2026-11-23T11:00:00.000Z",
		"2w":         "2026-11-16T11:00:00.000Z",
		"0d":         "2026-11-30T11:00:00.000Z",
	} {
		if got, err := sinceOf(in, now); err != nil || got.String() != want {
			t.Errorf("sinceOf(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"yesterday", "7", "d", "-3h", "3 h", "3hh", "3.5h", "7x", "2026-13-01", "2026-11-30T00:00:00Z", "+3h", "007d", "99999999999999999999d"} {
		if got, err := sinceOf(in, now); err == nil {
			t.Errorf("sinceOf(%q) = %v, want an error", in, got)
		}
	}
}

func TestSmallTexts(t *testing.T) {
	for in, want := range map[string]string{
		"/home/dev/shopfront": "shopfront", "/home/dev/": "dev", `C:\work\shop\`: "shop", "/": "-", "": "-", "x": "x",
		"/home/a-folder-with-a-name-longer-than-its-cell": "a-folder-with-a-name-lo…",
	} {
		if got := base(in); got != want {
			t.Errorf("base(%q) = %q, want %q", in, got, want)
		}
	}
	five := int64(5)
	if number(nil) != "-" || number(&five) != "5" {
		t.Errorf("number = %q, %q", number(nil), number(&five))
	}
	if short("0123456789abcdef") != "0123456789abc" || short("ab") != "ab" {
		t.Errorf("short = %q", short("0123456789abcdef"))
	}
	e := &Env{zone: time.UTC}
	now := time.Now()
	for ago, want := range map[time.Duration]string{-time.Hour: "0 s", 5 * time.Second: "5 s", 3*time.Minute + time.Second: "3 min", 5*time.Hour + time.Second: "5 h"} {
		if got := e.age(core.InstantOf(now.Add(-ago))); got != want {
			t.Errorf("age of %v = %q, want %q", ago, got, want)
		}
	}
	old := core.ParseInstant("2026-01-02T23:30:00Z")
	if e.age(0) != "-" || e.clock(0) != "-" || e.age(old) != "2026-01-02" || e.clock(old) != "2026-01-02 23:30" {
		t.Errorf("unknown is %q, %q; old is %q, %q", e.age(0), e.clock(0), e.age(old), e.clock(old))
	}
	e.zone = time.FixedZone("", 3600)
	if got := e.clock(old); got != "2026-01-03 00:30" {
		t.Errorf("clock in another zone = %q", got)
	}
}

func TestState(t *testing.T) {
	for want, r := range map[string]core.Row{
		"► working":     {Session: &core.Session{Status: core.StatusLive}, Live: &core.Live{Pill: core.PillWorking}},
		"◆ waits: gate": {Session: &core.Session{Status: core.StatusLive}, Live: &core.Live{Pill: core.PillWaiting, Wait: core.WaitGate}},
		"◆ waits":       {Session: &core.Session{Status: core.StatusLive}, Live: &core.Live{Pill: core.PillWaiting}},
		"– hibernating": {Session: &core.Session{Status: core.StatusLive}, Live: &core.Live{Pill: core.PillOther, Raw: "hibernating"}},
		"– unknown":     {Session: &core.Session{Status: core.StatusLive}, Live: &core.Live{Pill: core.PillOther}},
		"□ ended":       {Session: &core.Session{Status: core.StatusLost, EndReason: "process gone"}},
		"✕ failed":      {Session: &core.Session{Status: core.StatusEnded, EndReason: core.ReasonLaunchFailed}},
		"◌ starting":    {Session: &core.Session{Status: core.StatusStarting}, Live: &core.Live{Pill: core.PillStarting}},
	} {
		if got := state(r, true); got != want {
			t.Errorf("state of %s %+v = %q, want %q", r.Status, r.Live, got, want)
		}
	}
	if got := state(core.Row{Session: &core.Session{Status: core.StatusLive}}, false); got != "– unknown" {
		t.Errorf("live with no tower running = %q", got)
	}
}

func rowsOf(ids ...string) []core.Row {
	var rows []core.Row
	for _, id := range ids {
		native, title, _ := strings.Cut(id, " ")
		rows = append(rows, core.Row{Session: &core.Session{ID: core.NewSessionID("claude", native), Native: native}, TitleText: title})
	}
	return rows
}

func TestFind(t *testing.T) {
	const one, two, three = "aaaa1111-0000-4000-8000-000000000001", "aaaa1112-0000-4000-8000-000000000002", "bbbb0000-0000-4000-8000-000000000003"
	rows := rowsOf(one+" Parser", two+" Twice", three+" Twice", "abc", "ses_0123 aaaa1111")
	for what, want := range map[string]string{
		one: one, strings.ToUpper(one): one, "{" + one + "}": one, "urn:uuid:" + one: one, string(core.NewSessionID("claude", two)): two,
		"Parser": one, "bbbb": three, "aaaa1112": two, "abc": "abc", "ses_": "ses_0123",
		"aaaa1111": "ses_0123", // a title that is whole comes before the beginning of an id
	} {
		if got, err := find(rows, what, nil); err != nil || got.Native != want {
			t.Errorf("find(%q) = %v, %v, want %s", what, got.Session, err, want)
		}
	}
	for what, want := range map[string]string{"Twice": "Not clear.", "aaaa111": "Not clear.", "bbb": "Not found.", "parser": "Not found.", "": "Not found.", "zzzz": "Not found."} {
		_, err := find(rows, what, nil)
		var refused *core.Refusal
		if !errors.As(err, &refused) || refused.What != want {
			t.Errorf("find(%q) = %v, want the refusal %q", what, err, want)
		}
	}
	// Several are told by the ids that the lists show, as far as they differ, never by ids one has not seen.
	_, err := find(rows, "Twice", nil)
	if want := `2 sessions fit "Twice": aaaa1112-0000 "Twice" □ ended, bbbb0000-0000 "Twice" □ ended.`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("find(Twice) = %v, want %s", err, want)
	}
	_, err = find(rowsOf("01a22ee0-8503-7000-8000-1", "01a22ee0-8503-7000-8000-2"), "01a22ee0", nil)
	if err == nil || !strings.Contains(err.Error(), "01a22ee0-8503-7000-8000-1 □ ended, 01a22ee0-8503-7000-8000-2 □ ended.") {
		t.Errorf("find of ids with one beginning = %v", err)
	}
}

func TestPromptIsText(t *testing.T) {
	for text, fine := range map[string]bool{"two\nlines \t 🙂\n": true, "": false, "a \xff byte": false} {
		file := filepath.Join(t.TempDir(), "prompt")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := prompt(file)
		var refused *core.Refusal
		if fine && (err != nil || got != text) || !fine && !errors.As(err, &refused) {
			t.Errorf("prompt of %q = %q, %v", text, got, err)
		}
	}
}

func TestFits(t *testing.T) {
	waiting := core.Row{Session: &core.Session{Status: core.StatusLive}, Live: &core.Live{Pill: core.PillWaiting, Wait: core.WaitQuestion}}
	lost := core.Row{Session: &core.Session{Status: core.StatusLost}}
	for status, want := range map[string][2]bool{
		"": {true, true}, "live": {true, false}, "past": {false, true}, "waiting": {true, false}, "question": {true, false},
		"permission": {}, "idle": {}, "lost": {false, true}, "ended": {},
	} {
		if got := [2]bool{fits(waiting, status), fits(lost, status)}; got != want {
			t.Errorf("fits(waiting and lost, %q) = %v, want %v", status, got, want)
		}
	}
}

// An empty text is null, and a text that looks like one is left alone.
func TestPrintNull(t *testing.T) {
	var out bytes.Buffer
	e := &Env{Program: Program{Out: &out}}
	in := struct {
		A string         `json:"a"`
		B string         `json:"b"`
		C []string       `json:"c"`
		D map[string]any `json:"d"`
	}{"", `:""`, []string{"", `x:"",`, ":"}, map[string]any{"": 1, `k:""`: "", "<": "&"}}
	if err := e.print(in); err != nil {
		t.Fatal(err)
	}
	if want := `{"a":null,"b":":\"\"","c":["","x:\"\",",":"],"d":{"":1,"<":"&","k:\"\"":null}}` + "\n"; out.String() != want {
		t.Errorf("print = %s, want %s", out.String(), want)
	}
}

func TestExit(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   int
		stderr string
	}{
		{nil, ExitDone, ""},
		{errors.New("disk full"), ExitError, "tower: error: disk full\n"},
		{hinted{errors.New("no hook"), "make build"}, ExitError, "tower: error: no hook\ntower: hint: make build\n"},
		{usageError{errors.New("say what")}, ExitUsage, "tower: say what\ntower: hint: see: tower help\n"},
		{fmt.Errorf("rename: %w", &core.Refusal{What: "Not renamed.", Why: "Too long.", Hint: "Shorter."}), ExitRefused, "tower: refused: Not renamed. Too long.\ntower: hint: Shorter.\n"},
		{fmt.Errorf("%w: no socket", errNotRunning), ExitNotRunning, "tower: tower is not running: no socket\ntower: hint: start it with: tower   (or, without an icon: tower serve)\n"},
		{quiet(4), ExitNotRunning, ""},
	} {
		var out bytes.Buffer
		e := &Env{Program: Program{Err: &out}}
		if got := e.exit(c.err, "tower help"); got != c.code || out.String() != c.stderr {
			t.Errorf("exit(%v) = %d and %q, want %d and %q", c.err, got, out.String(), c.code, c.stderr)
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, c := range []struct {
		all, hidden int
		asked       bool
		want        string
	}{{0, 0, false, "No session is known yet"}, {3, 3, false, "3 are hidden"}, {3, 3, true, "No session fits."}, {3, 0, false, "No session fits."}} {
		p := picture{Snapshot: &core.Snapshot{Counts: core.Counts{All: c.all, Hidden: c.hidden}}}
		if got := empty(p, c.asked); !strings.Contains(got, c.want) {
			t.Errorf("empty(%+v) = %q, want %q", c, got, c.want)
		}
	}
}

// TestFindPrefers: of several sessions of one name, the one that an action can be for is meant; of two such
// neither is.
func TestFindPrefers(t *testing.T) {
	row := func(id string, live bool) core.Row {
		r := core.Row{Session: &core.Session{ID: core.SessionID(id), Native: id, Status: core.StatusEnded}, TitleText: "Same"}
		if live {
			r.Status, r.Live = core.StatusLive, &core.Live{}
		}
		return r
	}
	rows := []core.Row{row("aaaa1", false), row("bbbb1", true), row("cccc1", false)}
	if r, err := find(rows, "Same", living); err != nil || r.ID != "bbbb1" {
		t.Errorf("the living one: %v, %v", r.Session, err)
	}
	for name, prefer := range map[string]func(core.Row) bool{"two that are over": finished, "none preferred": nil} {
		if _, err := find(rows, "Same", prefer); err == nil {
			t.Errorf("%s: one was chosen", name)
		}
	}
}
