package menu

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

var update = flag.Bool("update", false, "write the golden files anew")

var noon = time.Date(2026, 11, 30, 14, 20, 0, 0, time.FixedZone("CET", 3600))

func before(d time.Duration) core.Instant { return core.InstantOf(noon.Add(-d)) }

func num(n int64) *int64 { return &n }

// session is a row that works, 83 % full; each test changes what it is about.
func session(id, title string, change func(*core.Row)) core.Row {
	r := core.Row{
		Session: &core.Session{ID: core.SessionID(id), Agent: "claude", Project: "shopfront", CWD: "/home/ada/code/shopfront",
			LastSeen: before(90 * time.Second), ContextTokens: num(166_000), ContextWindow: num(200_000)},
		TitleText: title, Group: core.GroupLive,
		Live: &core.Live{Pill: core.PillWorking, Since: before(90 * time.Second)},
	}
	if change != nil {
		change(&r)
	}
	return r
}

func waits(id, title string, w core.Wait, ask string) core.Row {
	return session(id, title, func(r *core.Row) {
		r.Group, r.Live = core.GroupNeedsYou, &core.Live{Pill: core.PillWaiting, Wait: w, Ask: ask, Since: before(time.Minute)}
	})
}

func past(id, title string, ago time.Duration) core.Row {
	return session(id, title, func(r *core.Row) {
		r.Agent, r.Group, r.Live, r.EndedAt = "codex", core.GroupPast, nil, before(ago)
	})
}

// replaced is a picture of a program that was built anew since it was started.
func replaced(s *core.Snapshot) *core.Snapshot {
	s.Health.DiskBuild = "b2"
	return s
}

// picture counts rows the way the engine does.
func picture(rows ...core.Row) *core.Snapshot {
	s := &core.Snapshot{Rows: rows, Agents: []core.AgentState{
		{Agent: "claude", Display: "Claude Code", Installed: true}, {Agent: "codex", Display: "Codex", Installed: true},
		{Agent: "gemini", Display: "Gemini CLI", Installed: false}, {Agent: "opencode", Display: "OpenCode", Installed: true},
	}}
	for _, r := range rows {
		if r.Hidden != "" || r.Live == nil {
			continue
		}
		s.Counts.Live++
		switch r.Live.Pill {
		case core.PillWaiting:
			s.Counts.Waiting++
		case core.PillWorking:
			s.Counts.Working++
		case core.PillIdle:
			s.Counts.Idle++
		case core.PillShell:
			s.Counts.Shell++
		case core.PillStarting:
			s.Counts.Starting++
		default:
			s.Counts.Other++
		}
	}
	return s
}

// print draws a menu as text: what is shown, what it does, what cannot be pressed.
func print(m Menu) string {
	var b strings.Builder
	fmt.Fprintf(&b, "icon     %s\nbeside   %q\ntooltip  %s\n", m.Icon, m.Beside, m.Tooltip)
	for _, s := range m.Sections {
		fmt.Fprintf(&b, "─── %s\n", s.ID)
		printItems(&b, s.Items, "")
	}
	return b.String()
}

func printItems(b *strings.Builder, items []Item, indent string) {
	for _, it := range items {
		if !it.Shown {
			continue
		}
		fmt.Fprintf(b, "%s%-10s %s", indent, it.ID, it.Text)
		if len(it.Items) > 0 {
			b.WriteString(" ▸")
		}
		if !it.Enabled {
			b.WriteString("  (disabled)")
		} else if it.Action.Do != DoNothing {
			a := it.Action
			fmt.Fprintf(b, "  -> %s %s%s%s", a.Do, a.Path, a.Session, a.Agent)
		}
		b.WriteByte('\n')
		printItems(b, it.Items, indent+"    ")
	}
}

func six() []core.Row {
	return []core.Row{
		waits("w1", "Split the invoice parser", core.WaitQuestion, "Keep the old entry point, or move every caller now?"),
		waits("w2", "Rotate signing keys without downtime", core.WaitPermission, "Bash systemctl restart vault-signer"),
		session("a", "Flaky checkout test, root cause", nil),
		session("b", "Port the importer to streams", func(r *core.Row) {
			r.Agent, r.Project, r.ContextTokens = "codex", "ledgerbird", num(57_999)
		}),
		session("c", "Search index rebuild", func(r *core.Row) {
			r.Agent, r.Project, r.Live.Pill, r.ContextWindow = "gemini", "atlas", core.PillShell, nil
		}),
		session("d", "Docs: retry policy", func(r *core.Row) {
			r.Agent, r.Project, r.Live.Pill, r.Live.Since = "opencode", "atlas", core.PillIdle, before(12*time.Minute)
		}),
	}
}

func TestGolden(t *testing.T) {
	many := make([]core.Row, 14)
	for i := range many {
		many[i] = session(fmt.Sprint("s", i), fmt.Sprintf("Task number %d", i+1), nil)
	}
	crowd := []core.Row{}
	for i := range 11 {
		crowd = append(crowd, waits(fmt.Sprint("w", i), fmt.Sprintf("Question %d", i+1), core.WaitQuestion, "Which?"))
	}
	pill := func(p core.Pill, raw string) core.Row {
		return session("p", "One of a kind", func(r *core.Row) { r.Live.Pill, r.Live.Raw = p, raw })
	}
	hostile := func(title string) core.Row { return session("h", title, nil) }
	cases := []struct {
		name string
		s    *core.Snapshot
		o    Options
	}{
		{"nothing_published", nil, Options{}},
		{"nothing_runs", picture(past("r1", "Login throttle", time.Hour), past("r2", "", 40*time.Second), past("r3", "Old matter", 50*time.Hour), past("r4", "Last year", 9000*time.Hour)), Options{}},
		{"nothing_ever", picture(), Options{}},
		{"one_live", picture(session("a", "Flaky checkout test, root cause", nil)), Options{}},
		{"six_live_two_waiting", picture(six()...), Options{}},
		{"six_live_on_a_mac", picture(six()...), Options{GOOS: "darwin"}},
		{"fourteen_live", picture(many...), Options{}},
		{"eleven_waiting", picture(crowd...), Options{}},
		{"pill_working", picture(pill(core.PillWorking, "")), Options{}},
		{"pill_idle", picture(pill(core.PillIdle, "")), Options{}},
		{"pill_shell", picture(pill(core.PillShell, "")), Options{}},
		{"pill_starting", picture(pill(core.PillStarting, "")), Options{}},
		{"pill_other", picture(pill(core.PillOther, "compacting")), Options{}},
		{"pill_waiting_permission", picture(waits("p", "One of a kind", core.WaitPermission, "Bash ls")), Options{}},
		{"pill_waiting_question", picture(waits("p", "One of a kind", core.WaitQuestion, "Which of the two?")), Options{}},
		{"pill_waiting_dialog", picture(waits("p", "One of a kind", core.WaitDialog, "trust this folder?")), Options{}},
		{"pill_waiting_gate", picture(waits("p", "One of a kind", core.WaitGate, "merge the retry budget?")), Options{}},
		{"pill_waiting_silent", picture(waits("p", "One of a kind", "", ""), waits("q", "Two", core.WaitPermission, ""), waits("r", "Three", core.WaitQuestion, "")), Options{}},
		{"context_stale_and_places", picture(
			session("a", "Compacted", func(r *core.Row) { r.ContextStale = true }),
			session("b", "By folder", func(r *core.Row) { r.Project, r.Folder = "", "/srv/www/atlas/" }),
			session("c", "By cwd", func(r *core.Row) { r.Project, r.CWD = "", `C:\Users\ada\code\tills` }),
			session("d", "Nowhere", func(r *core.Row) { r.Project, r.CWD, r.ContextTokens = "", "", nil }),
			session("e", "", func(r *core.Row) { r.FirstMessage = "never a title"; r.Agent = "mystery" }),
			session("f", "A project with a very long name", func(r *core.Row) {
				r.Project = "the-project-whose-name-nobody-ever-managed-to-shorten"
			})), Options{}},
		{"ends_refused_and_busy", picture(
			session("a", "Shared thread of a daemon", func(r *core.Row) {
				r.Live.NoEnd = "Codex serves this thread from a shared daemon (pid 4121). Ending it would end 3 other threads."
			}),
			session("b", "On its way out", func(r *core.Row) { r.Busy = "ending" }),
			session("c", "Ordinary", nil)), Options{}},
		{"launch_folders", func() *core.Snapshot {
			s := picture()
			s.Agents[0].Folders = []string{"/home/ada/code/shopfront", "/home/ada/work with blanks_and_marks & more",
				"/home/ada/a/very/long/way/down/into/some/repository/that/nobody/ever/cleaned/up/atlas"}
			s.Agents[1].Folders = []string{"/home/ada/code/ledgerbird"}
			return s
		}(), Options{}},
		{"hidden_are_nowhere", picture(
			session("a", "Sub-agent", func(r *core.Row) { r.Hidden = core.HiddenSubagent }),
			waits("b", "Seen", core.WaitQuestion, "Which?"),
			func() core.Row {
				r := waits("c", "Hidden waits", core.WaitQuestion, "?")
				r.Hidden = core.HiddenByHand
				return r
			}(),
			func() core.Row {
				r := past("d", "Hidden past", time.Hour)
				r.Hidden = core.HiddenNothing
				return r
			}()), Options{}},
		{"sick", func() *core.Snapshot {
			s := picture(six()...)
			s.Health.Loops = []core.Loop{{Name: "poll"}, {Name: "sweep", Error: "walk /home/ada/.claude:\npermission denied", Since: before(2 * time.Minute)}}
			return s
		}(), Options{Alert: true}},
		{"sick_thrice", func() *core.Snapshot {
			s := picture()
			for _, n := range []string{"drain", "poll", "sweep"} {
				s.Health.Loops = append(s.Health.Loops, core.Loop{Name: n, Error: "disk full", Since: before(30 * time.Hour)})
			}
			return s
		}(), Options{}},
		{"sick_twice", func() *core.Snapshot {
			s := picture()
			s.Health.Loops = []core.Loop{{Name: "drain", Error: "disk full", Since: before(time.Minute)}, {Name: "poll", Error: "no /proc"}}
			return s
		}(), Options{}},
		{"importing", func() *core.Snapshot {
			s := picture(session("a", "Already seen", nil))
			s.Import = core.Progress{Running: true, First: true, Done: 199, Total: 300}
			return s
		}(), Options{}},
		{"importing_counting", func() *core.Snapshot {
			s := picture()
			s.Import = core.Progress{Running: true, First: true}
			return s
		}(), Options{}},
		{"importing_again", func() *core.Snapshot {
			s := picture()
			s.Import = core.Progress{Running: true, Done: 1, Total: 2}
			return s
		}(), Options{}},
		{"no_agents", func() *core.Snapshot {
			s := picture()
			s.Agents = s.Agents[:2]
			s.Agents[0].Installed, s.Agents[1].Installed = false, false
			return s
		}(), Options{}},
		{"newer_build", replaced(picture()), Options{}},
		{"paused", picture(), Options{Paused: true}},
		{"paused_but_working", picture(session("a", "Flaky", nil)), Options{Paused: true}},
		{"alert", picture(six()...), Options{Alert: true}},
		{"title_of_one_rune", picture(hostile("x")), Options{}},
		{"title_of_200_runes", picture(hostile(strings.Repeat("lorem ipsum ", 17)[:200])), Options{}},
		{"title_invalid", picture(hostile("bad\xffbytes\xc3")), Options{}},
		{"title_nul", picture(hostile("nul\x00 bell\a esc\x1b[31m line\r\nbreak\ttab")), Options{}},
		{"title_of_nothing", picture(hostile("\x00\x01 \n\u202e\u200b")), Options{}},
		{"title_underscore_linux", picture(hostile("_under_score__ & co")), Options{GOOS: "linux"}},
		{"title_ampersand_windows", picture(hostile("_under_ & co && more")), Options{GOOS: "windows"}},
		{"title_underscore_mac", picture(hostile("_under_ & co")), Options{GOOS: "darwin"}},
		{"title_rtl", picture(hostile("\u202eתיקון הבדיקה 17 של העגלה לפני שמישהו שם לב")), Options{}},
		{"title_emoji", picture(hostile("👩‍👩‍👧‍👦 family 👍🏽 and flags 🇩🇪🇫🇷🇮🇹🇪🇸")), Options{}},
		{"title_joined_at_the_cut", picture(hostile("abcdefghijklmnopqrstuvw👩‍👩‍👧‍👦 tail")), Options{}},
		{"title_zalgo", picture(hostile("Z" + strings.Repeat("\u0336\u0322", 60))), Options{}},
	}
	names := map[string]bool{}
	for _, c := range cases {
		names[c.name+".txt"] = true
		t.Run(c.name, func(t *testing.T) {
			if c.o.GOOS == "" {
				c.o.GOOS = "linux"
			}
			m, _ := Build(c.s, noon, State{}, c.o)
			fits(t, m, c.o.GOOS)
			got := print(m)
			file := filepath.Join("testdata", c.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("menu differs (-want +got):\n%s", d)
			}
		})
	}
	files, _ := filepath.Glob("testdata/*.txt")
	for _, f := range files {
		if !names[filepath.Base(f)] {
			t.Errorf("%s belongs to no case", f)
		}
	}
}

// fits checks what every menu owes the desktop.
func fits(t *testing.T, m Menu, goos string) {
	t.Helper()
	if n := len(utf16.Encode([]rune(m.Tooltip))); n > maxTooltip || n == 0 {
		t.Errorf("tooltip has %d units", n)
	}
	var walk func([]Item)
	walk = func(items []Item) {
		for _, it := range items {
			plain := it.Text
			switch goos {
			case "windows":
				plain = strings.ReplaceAll(plain, "&&", "&")
			case "darwin":
			default:
				plain = strings.ReplaceAll(plain, "__", "_")
			}
			if !utf8.ValidString(it.Text) || strings.ContainsAny(it.Text, "\x00\n\r\t\x1b\u202e") {
				t.Errorf("item %s: text %q would break the menu", it.ID, it.Text)
			}
			if n := utf8.RuneCountInString(plain); n > maxRow {
				t.Errorf("item %s: %d runes: %q", it.ID, n, plain)
			}
			if it.Shown != (it.Text != "") {
				t.Errorf("item %s: shown %v with text %q", it.ID, it.Shown, it.Text)
			}
			walk(it.Items)
		}
	}
	for _, s := range m.Sections {
		walk(s.Items)
	}
}
