package menu

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tower/core"
)

// build is one run of Build.
type build struct {
	s     *core.Snapshot
	now   time.Time
	clock time.Time // ages are counted to it
	o     Options
	state State
	ages  bool // an age is shown
	later time.Time
}

// Build draws the tree of a snapshot. now is the present, in the zone in which days are cut; prev is
// what the Build before returned. A nil snapshot is one that has not been published yet.
func Build(s *core.Snapshot, now time.Time, prev State, o Options) (Menu, State) {
	first := !prev.built
	b := build{s: s, now: now, o: o, state: prev.next(now)}
	if s == nil {
		b.s = &core.Snapshot{}
	}
	b.clock = b.state.clock
	sick := b.sick()
	m := Menu{
		Icon:    IconName(b.s.Counts, len(sick) > 0, o.Alert, o.Paused),
		Tooltip: b.tooltip(sick),
		Sections: []Section{
			{ID: "head", Items: b.head(s == nil, sick)},
			{ID: "sessions", Items: b.sessions(s == nil)},
			{ID: "actions", Items: []Item{b.ends(), b.recent(), b.launch()}},
			{ID: "tower", Items: b.tower()},
		},
	}
	if n := b.s.Counts.Waiting; n > 0 {
		m.Beside = itoa(n) + "?"
	}
	b.settle(first, m.Sections)
	m.Next = b.later
	if due := b.clock.Add(ageStep); b.ages && (m.Next.IsZero() || due.Before(m.Next)) {
		m.Next = due
	}
	return m, b.state
}

// settle walks the levels of the tree: the menu itself is one across its sections, each submenu one.
func (b *build) settle(first bool, sections []Section) {
	var top []*Item
	for i := range sections {
		for k := range sections[i].Items {
			top = append(top, &sections[i].Items[k])
		}
	}
	for level := [][]*Item{top}; len(level) > 0; {
		items := level[0]
		level = level[1:]
		b.state.settle(first, b.now, items)
		for _, it := range items {
			if len(it.Items) == 0 {
				continue
			}
			var sub []*Item
			for i := range it.Items {
				sub = append(sub, &it.Items[i])
			}
			level = append(level, sub)
		}
	}
}

func (b *build) head(nothing bool, sick []string) []Item {
	header := b.header()
	if nothing {
		header = "No picture yet"
	}
	items := []Item{b.row("header", header, Action{Do: DoOpen, Path: "/"})}
	health := Action{Do: DoOpen, Path: "/#health"}
	for i := range 2 { // what is wrong: the first, and how many more
		text := ""
		switch {
		case i < len(sick) && (i == 0 || len(sick) == 2):
			text = sick[i]
		case i == 1 && len(sick) > 2:
			text = "✕ " + itoa(len(sick)-1) + " more · Open Health"
		}
		items = append(items, b.row("sick."+itoa(i), text, health))
	}
	return append(items,
		b.row("import", b.importing(), health),
		b.row("agents", b.noAgent(), health))
}

// header is the glance: who waits, who works.
func (b *build) header() string {
	c := b.s.Counts
	parts := counted(c)
	if len(parts) == 0 {
		return "Nothing runs · nothing waits"
	}
	return strings.Join(parts, " · ")
}

func counted(c core.Counts) []string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, plural(n, one, many))
		}
	}
	add(c.Waiting, "waits for you", "wait for you")
	add(c.Working, "working", "working")
	add(c.Shell, "shell", "shell")
	add(c.Starting, "starting", "starting")
	add(c.Idle, "idle", "idle")
	add(c.Other, "other", "other")
	return parts
}

func (b *build) tooltip(sick []string) string {
	parts := counted(b.s.Counts)
	if len(parts) == 0 {
		parts = []string{"Nothing runs, nothing waits"}
	}
	if len(sick) > 0 {
		parts[0] = strings.ToLower(parts[0][:1]) + parts[0][1:]
		parts = append([]string{sick[0]}, parts...)
	}
	return cutUnits(strings.Join(parts, ", "), maxTooltip)
}

// sick lists what is wrong, loops that fail first. What is merely worth knowing stands in the page's
// Health and neither here nor in the icon: a cross that is always there is no longer looked at.
func (b *build) sick() []string {
	var rows []string
	for _, l := range b.s.Health.Loops {
		if l.Error == "" {
			continue
		}
		text := "✕ " + capital(clean(l.Name)) + " sick"
		if l.Since != 0 {
			text += " since " + clock(l.Since, b.now)
		}
		rows = append(rows, text+": "+clean(l.Error))
	}
	return rows
}

// importing tells how far the first import is. Later sweeps take moments and are not announced.
func (b *build) importing() string {
	p := b.s.Import
	switch {
	case !p.Running || !p.First:
		return ""
	case p.Total <= 0:
		return "Importing your history · still counting"
	}
	return "Importing your history · " + itoa(int(min(max(p.Done, 0), p.Total)*100/p.Total)) + " %"
}

func (b *build) noAgent() string {
	if len(b.s.Agents) == 0 {
		return ""
	}
	var names []string
	for _, a := range b.s.Agents {
		if a.Installed {
			return ""
		}
		names = append(names, clean(a.Display))
	}
	return "No agent installed · get " + strings.Join(names, " or ")
}

func (b *build) tower() []Item {
	newer := ""
	if b.s.Health.DiskBuild != "" {
		newer = "Restart Tower · another build is on disk"
	}
	return []Item{
		b.row("newer", newer, Action{Do: DoRestart}),
		b.row("open", "Open dashboard", Action{Do: DoOpen, Path: "/"}),
		b.row("quit", "Quit Tower", Action{Do: DoQuit}),
	}
}

// row makes an item of text that is clean already; it is shown when there is any. Without an action it
// cannot be pressed.
func (b *build) row(id, text string, a Action) Item {
	it := Item{ID: id, Session: a.Session}
	if text != "" {
		it.Text, it.Shown, it.Enabled, it.Action = escape(cut(text, maxRow), b.o.GOOS), true, a.Do != DoNothing, a
	}
	return it
}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
