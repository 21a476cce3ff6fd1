package menu

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tower/core"
)

// seats tells who sits where among the shown items.
func seats(m Menu) map[string]core.SessionID {
	out := map[string]core.SessionID{}
	var walk func([]Item)
	walk = func(items []Item) {
		for _, it := range items {
			if it.Shown && it.Session != "" {
				out[it.ID] = it.Session
			}
			walk(it.Items)
		}
	}
	for _, s := range m.Sections {
		walk(s.Items)
	}
	return out
}

func skeleton(m Menu) []string {
	var ids []string
	var walk func([]Item)
	walk = func(items []Item) {
		for _, it := range items {
			ids = append(ids, it.ID)
			walk(it.Items)
		}
	}
	for _, s := range m.Sections {
		ids = append(ids, "section "+s.ID)
		walk(s.Items)
	}
	return ids
}

// TestBinding lets sessions come, wait, work and end in any order and checks what the hand relies on.
func TestBinding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var st State
		var m Menu
		now := noon
		group := map[int]core.Group{}
		lastSeat := map[string]core.SessionID{} // who had an item last
		hiddenAt := map[string]time.Time{}
		bones := []string(nil)
		steps := rapid.IntRange(1, 40).Draw(t, "steps")
		for range steps {
			for range rapid.IntRange(0, 6).Draw(t, "changes") {
				n := rapid.IntRange(0, 30).Draw(t, "session")
				group[n] = rapid.SampledFrom([]core.Group{core.GroupNeedsYou, core.GroupLive, core.GroupLive, core.GroupPast, ""}).Draw(t, "group")
			}
			now = now.Add(time.Duration(rapid.IntRange(1, 2000).Draw(t, "ms")) * time.Millisecond)
			before := seats(m)
			var next Menu
			next, st = Build(pictureOf(group), now, st, Options{GOOS: "linux"})
			after := seats(next)

			if b := skeleton(next); bones != nil && !slices.Equal(b, bones) {
				t.Fatalf("the skeleton changed: %v, was %v", b, bones)
			} else {
				bones = b
			}
			count := map[core.SessionID]int{}
			shown := map[string]int{}
			for item, s := range after {
				pool, _, _ := strings.Cut(item, ".")
				shown[pool]++
				if pool != "end" { // beside its own row, everything that runs stands under End
					count[s]++
				}
				if count[s] > 1 {
					t.Fatalf("session %s is shown twice", s)
				}
				if old, ok := before[item]; ok && old != s {
					t.Fatalf("item %s was bound again while shown: %s, then %s", item, old, s)
				}
				if prev, ok := lastSeat[item]; ok && prev != s && now.Sub(hiddenAt[item]) < Quiet {
					t.Fatalf("item %s went from %s to %s within %v", item, prev, s, now.Sub(hiddenAt[item]))
				}
				lastSeat[item] = s
			}
			for item, s := range before {
				if after[item] == s {
					continue
				}
				hiddenAt[item] = now
				if pool, _, _ := strings.Cut(item, "."); pool != "recent" && (pool == poolOf(group, s) || pool == "end" && (poolOf(group, s) == "needs" || poolOf(group, s) == "live")) {
					t.Fatalf("session %s left item %s without leaving its group", s, item)
				}
			}
			check := func(pool string, n int, groups ...core.Group) {
				want := 0
				for _, g := range groups {
					want += sizeOf(group, g)
				}
				if more, ok := next.Item(pool + ".more"); ok {
					if over := want - shown[pool]; over > 0 != more.Shown || over > 0 && !strings.HasPrefix(more.Text, fmt.Sprint(over, " ")) {
						t.Fatalf("%s: %d of %d shown, and the row says %q", pool, shown[pool], want, more.Text)
					}
				}
				if shown[pool] < min(want, n) && next.Next.IsZero() {
					t.Fatalf("%s: %d of %d shown, and nobody will look again", pool, shown[pool], want)
				}
				if shown[pool] < min(want, n) && next.Next.After(now.Add(Quiet)) {
					t.Fatalf("%s: a session stands, next look in %v", pool, next.Next.Sub(now))
				}
			}
			check("needs", poolNeeds, core.GroupNeedsYou)
			check("live", poolLive, core.GroupLive)
			check("recent", poolRecent, core.GroupPast)
			check("end", poolEnd, core.GroupNeedsYou, core.GroupLive)
			m = next
		}
		if due := m.Next; !due.IsZero() { // whoever stands gets a seat when it is time
			settled, _ := Build(pictureOf(group), now.Add(Quiet), st, Options{GOOS: "linux"})
			if got, want := len(seats(settled)), min(sizeOf(group, core.GroupNeedsYou), poolNeeds)+min(sizeOf(group, core.GroupLive), poolLive)+min(sizeOf(group, core.GroupPast), poolRecent)+
				min(sizeOf(group, core.GroupNeedsYou)+sizeOf(group, core.GroupLive), poolEnd); got != want {
				t.Fatalf("after the quiet time %d sessions are shown, want %d", got, want)
			}
		}
	})
}

func poolOf(group map[int]core.Group, s core.SessionID) string {
	var n int
	fmt.Sscanf(string(s), "s%d", &n)
	return map[core.Group]string{core.GroupNeedsYou: "needs", core.GroupLive: "live", core.GroupPast: "recent"}[group[n]]
}

func sizeOf(group map[int]core.Group, g core.Group) int {
	n := 0
	for _, x := range group {
		if x == g {
			n++
		}
	}
	return n
}

func pictureOf(group map[int]core.Group) *core.Snapshot {
	var rows []core.Row
	for n := range 31 {
		id := fmt.Sprint("s", n)
		switch group[n] {
		case core.GroupNeedsYou:
			rows = append(rows, waits(id, id, core.WaitQuestion, "?"))
		case core.GroupLive:
			rows = append(rows, session(id, id, nil))
		case core.GroupPast:
			rows = append(rows, past(id, id, time.Hour))
		}
	}
	return picture(rows...)
}

// TestBuildIsPure keeps the state that was passed in as it was.
func TestBuildIsPure(t *testing.T) {
	o := Options{GOOS: "linux"}
	_, st := Build(picture(six()...), noon, State{}, o)
	first, _ := Build(picture(six()[1:]...), noon.Add(time.Second), st, o)
	_, _ = Build(picture(), noon.Add(time.Second), st, o)
	again, _ := Build(picture(six()[1:]...), noon.Add(time.Second), st, o)
	if print(first) != print(again) {
		t.Errorf("the same build twice:\n%s\n%s", print(first), print(again))
	}
}

func TestClick(t *testing.T) {
	o := Options{GOOS: "linux"}
	a, b := session("a", "A", nil), session("b", "B", nil)
	asks := waits("a", "A", core.WaitQuestion, "?")
	m0, s0 := Build(picture(a, b), noon, State{}, o)
	at := noon.Add(10 * time.Second)
	m1, s1 := Build(picture(asks, b), at, s0, o) // live.0 went, needs.0 came, everything below was pushed
	m2, _ := Build(picture(asks, b), at.Add(5*time.Second), s1, o)
	open := func(id string) Action {
		return Action{Do: DoJump, Session: core.SessionID(id)}
	}
	cases := []struct {
		name string
		m    Menu
		id   string
		at   time.Time
		want Action
		ok   bool
	}{
		{"at once after the start", m0, "live.0", noon, open("a"), true},
		{"a second row", m0, "live.1", noon, open("b"), true},
		{"the header", m0, "header", noon, Action{Do: DoOpen, Path: "/"}, true},
		{"quit", m0, "quit", noon, Action{Do: DoQuit}, true},
		{"not shown", m0, "needs.0", noon, Action{}, false},
		{"not there", m0, "nothing", noon, Action{}, false},
		{"disabled", m0, "recent", noon, Action{}, false},
		{"just shown", m1, "needs.0", at.Add(Quiet - 1), Action{}, false},
		{"shown long enough ago", m1, "needs.0", at.Add(Quiet), open("a"), true},
		{"just hidden", m1, "live.0", at.Add(time.Hour), Action{}, false},
		{"just pushed", m1, "live.1", at.Add(Quiet - 1), Action{}, false},
		{"pushed long enough ago", m1, "live.1", at.Add(Quiet), open("b"), true},
		{"quit, just pushed", m1, "quit", at.Add(100 * time.Millisecond), Action{}, false},
		{"above what moved", m1, "header", at, Action{Do: DoOpen, Path: "/"}, true},
		{"built again without a change", m2, "needs.0", at.Add(5 * time.Second), open("a"), true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := c.m.Click(c.id, c.at); got != c.want || ok != c.ok {
				t.Errorf("Click(%s) = %v, %v, want %v, %v", c.id, got, ok, c.want, c.ok)
			}
		})
	}
}

// TestSubmenuIsItsOwnLevel: what moves in the menu does not silence the submenu, and the other way.
func TestSubmenuIsItsOwnLevel(t *testing.T) {
	o := Options{GOOS: "linux"}
	old := past("old", "Old", time.Hour)
	_, st := Build(picture(old, session("a", "A", nil)), noon, State{}, o)
	m, _ := Build(picture(past("a", "A", time.Second), old), noon.Add(time.Second), st, o)
	if a, ok := m.Click("recent.0", noon.Add(time.Second)); !ok || a.Session != "old" {
		t.Errorf("the row that stayed: %v, %v", a, ok)
	}
	if _, ok := m.Click("recent.1", noon.Add(time.Second)); ok {
		t.Error("the row that came was taken at once")
	}
}

// TestAges are redrawn at most every half minute, however often the menu is built.
func TestAges(t *testing.T) {
	o := Options{GOOS: "linux"}
	idle := func(at time.Time) *core.Snapshot {
		return picture(session("a", "A", func(r *core.Row) {
			r.Live.Pill, r.Live.Since = core.PillIdle, core.InstantOf(noon.Add(-59*time.Second))
		}))
	}
	var st State
	texts := map[string]bool{}
	for ms := 0; ms <= 29_900; ms += 100 {
		at := noon.Add(time.Duration(ms) * time.Millisecond)
		var m Menu
		m, st = Build(idle(at), at, st, o)
		it, _ := m.Item("live.0")
		texts[it.Text] = true
		if want := noon.Add(ageStep); !m.Next.Equal(want) {
			t.Fatalf("Next = %v, want %v", m.Next, want)
		}
	}
	if len(texts) != 1 || !texts["○ A · Claude · shopfront · under 1 min"] {
		t.Errorf("within half a minute the row read %v", texts)
	}
	m, st := Build(idle(noon), noon.Add(ageStep), st, o)
	if it, _ := m.Item("live.0"); it.Text != "○ A · Claude · shopfront · 1 min" {
		t.Errorf("after half a minute: %q", it.Text)
	}
	if m, _ = Build(idle(noon), noon.Add(-time.Hour), st, o); m.Next.After(noon) {
		t.Error("a clock set back freezes the ages")
	}
	if m, _ = Build(picture(session("a", "A", nil)), noon, State{}, o); !m.Next.IsZero() {
		t.Errorf("no age is shown, Next = %v", m.Next)
	}
}

func TestAge(t *testing.T) {
	for _, c := range []struct {
		ago  time.Duration
		want string
	}{
		{-time.Minute, "under 1 min"}, {0, "under 1 min"}, {59 * time.Second, "under 1 min"}, {time.Minute, "1 min"},
		{59*time.Minute + 59*time.Second, "59 min"}, {time.Hour, "1 h"}, {24*time.Hour - 1e6, "23 h"}, {24 * time.Hour, "29 Nov"},
	} {
		if got := age(before(c.ago), noon); got != c.want {
			t.Errorf("age(%v ago) = %q, want %q", c.ago, got, c.want)
		}
	}
	if got := age(0, noon); got != "" {
		t.Errorf("age(unknown) = %q", got)
	}
	late := time.Date(2026, 12, 2, 0, 30, 0, 0, time.FixedZone("CET", 3600))
	if got := age(core.InstantOf(time.Date(2026, 11, 30, 23, 10, 0, 0, time.UTC)), late); got != "1 Dec" {
		t.Errorf("the day is cut in UTC: %q", got)
	}
}

func TestCutUnits(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{strings.Repeat("a", 127), strings.Repeat("a", 127)},
		{strings.Repeat("a", 128), strings.Repeat("a", 126) + "…"},
		{strings.Repeat("😀", 64), strings.Repeat("😀", 63) + "…"},
	} {
		if got := cutUnits(c.in, 127); got != c.want {
			t.Errorf("cutUnits(%d runes) = %q", len([]rune(c.in)), got)
		}
	}
}

func TestIconName(t *testing.T) {
	waiting, working := core.Counts{Waiting: 2, Working: 1}, core.Counts{Working: 1}
	for _, c := range []struct {
		c                   core.Counts
		sick, alert, paused bool
		want                string
	}{
		{waiting, true, true, true, "sick"}, {waiting, false, true, true, "alert"}, {waiting, false, false, true, "waiting-2"},
		{core.Counts{Waiting: 9}, false, false, false, "waiting-9"}, {core.Counts{Waiting: 10}, false, false, false, "waiting-9+"},
		{working, false, false, true, "working"}, {core.Counts{Idle: 3}, false, false, true, "paused"}, {core.Counts{Idle: 3, Shell: 1}, false, false, false, "idle"},
	} {
		if got := IconName(c.c, c.sick, c.alert, c.paused); got != c.want {
			t.Errorf("IconName(%+v, %v, %v, %v) = %q, want %q", c.c, c.sick, c.alert, c.paused, got, c.want)
		}
	}
}

// TestAnyTitle throws any text at every place where text is shown.
func TestAnyTitle(t *testing.T) {
	check := func(t *testing.T, s, goos string) {
		rows := []core.Row{
			waits("w", s, core.Wait(s), s),
			session("a", s, func(r *core.Row) { r.Agent, r.Project = core.Agent(s), s }),
			session("b", s, func(r *core.Row) { r.Live.Pill, r.Live.Raw, r.Project, r.CWD = core.Pill(s), s, "", s }),
			past("c", s, time.Hour),
		}
		p := picture(rows...)
		p.Agents = append(p.Agents, core.AgentState{Agent: core.Agent(s), Display: s})
		p.Health.Loops = []core.Loop{{Name: s, Error: s + "!"}}
		m, _ := Build(p, noon, State{}, Options{GOOS: goos})
		fits(t, m, goos)
		if goos == "linux" {
			var walk func([]Item)
			walk = func(items []Item) {
				for _, it := range items {
					if strings.Contains(strings.ReplaceAll(it.Text, "__", ""), "_") {
						t.Errorf("a lone mnemonic in %q", it.Text)
					}
					walk(it.Items)
				}
			}
			for _, s := range m.Sections {
				walk(s.Items)
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.StringMatching(`[_& \x{202e}\x{05d0}\x{200d}👩a]{0,300}`)).Draw(rt, "text")
		goos := rapid.SampledFrom([]string{"linux", "windows", "darwin"}).Draw(rt, "goos")
		check(t, s, goos)
	})
}
