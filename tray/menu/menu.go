// Package menu turns a Snapshot into the tree that hangs below the icon in the menu bar: the icon's
// state, its tooltip and every row. It is pure: the same snapshot, time and [State] always give the
// same tree, so the whole menu is tested without a desktop. The tray wrapper draws the tree and asks
// [Menu.Click] what a click means; nobody else needs it.
//
// It promises that the hand under the pointer is never deceived. The tree is a skeleton whose items
// never come, go or change places: a session is bound to one item for as long as it stays in its
// group, a shown item is never given to another session, and a click on an item that was shown,
// hidden or pushed a moment ago means nothing. It never draws, never waits, and never decides a fact
// about a session: who waits and who is hidden stands in the snapshot.
package menu

import (
	"time"

	"tower/core"
)

// Quiet is how long an item that was shown, hidden or pushed ignores clicks, and how long a freed item
// stays free before another session may take it.
const Quiet = 700 * time.Millisecond

// ageStep is how long a shown age may stay as it is: nothing is redrawn for a minute's passing more
// often than this.
const ageStep = 30 * time.Second

// The sizes of the pools of session rows.
const (
	poolNeeds  = 4
	poolLive   = 12
	poolRecent = 8
	poolEnd    = 12
	poolAgents = 8
	poolPlaces = 8
)

// Options is what the menu depends on besides the snapshot.
type Options struct {
	GOOS   string // decides which character marks a mnemonic
	Alert  bool   // an alert has not been seen yet
	Paused bool   // do not disturb is on
}

// Menu is the tree and what stands beside it. It is a value: whoever has one may keep it.
type Menu struct {
	Icon     string // name of the icon's state: idle, working, waiting-3, waiting-9+, alert, sick, paused
	Beside   string // text beside the icon where a menu bar shows one: "2?" or ""
	Tooltip  string // one line, at most 127 UTF-16 units
	Sections []Section

	// Next is when the tree would look different although the snapshot stays: an age grows, or a freed
	// item can be taken. Zero means never.
	Next time.Time
}

// Section is a part of the menu; a line is drawn between two. The first Build of a program fixes which
// sections and items exist, later ones only change what the items show.
type Section struct {
	ID    string
	Items []Item
}

// Item is one row. ID names it for ever. Text is ready to be drawn: valid, cut, mnemonics escaped.
type Item struct {
	ID      string
	Text    string // "" while the item is not shown
	Shown   bool
	Enabled bool
	Session core.SessionID // the session it is bound to, or ""
	Action  Action
	Items   []Item // of its submenu
	quiet   time.Time
}

// Do names what a click asks for.
type Do string

// What a click can ask for.
const (
	DoNothing Do = ""
	DoOpen    Do = "open" // open the dashboard at Path
	DoRestart Do = "restart"
	DoQuit    Do = "quit"
	DoJump    Do = "jump"   // to Session's window
	DoEnd     Do = "end"    // Session
	DoResume  Do = "resume" // Session
	DoLaunch  Do = "launch" // Agent in Folder
)

// Action is what a click on an item means.
type Action struct {
	Do      Do
	Path    string         // below the dashboard's address, beginning with "/"
	Session core.SessionID // the session the row stood for
	Agent   core.Agent
	Folder  string
}

// Item finds an item of the tree by its id.
func (m *Menu) Item(id string) (Item, bool) {
	for _, s := range m.Sections {
		if it, ok := find(s.Items, id); ok {
			return it, true
		}
	}
	return Item{}, false
}

func find(items []Item, id string) (Item, bool) {
	for _, it := range items {
		if it.ID == id {
			return it, true
		}
		if sub, ok := find(it.Items, id); ok {
			return sub, true
		}
	}
	return Item{}, false
}

// Click tells what a click on an item means at a time: nothing, false, when there is no such item,
// when it is not shown or not enabled, and within [Quiet] of having been shown, hidden or pushed, for
// then the hand may have aimed at what stood there before.
func (m *Menu) Click(id string, now time.Time) (Action, bool) {
	it, ok := m.Item(id)
	if !ok || !it.Shown || !it.Enabled || it.Action.Do == DoNothing || now.Before(it.quiet) {
		return Action{}, false
	}
	return it.Action, true
}

// IconName chooses the icon's state. What is wrong with Tower itself beats what is wrong elsewhere,
// that beats who waits, and that beats who works; do not disturb never hides a count.
func IconName(c core.Counts, sick, alert, paused bool) string {
	switch {
	case sick:
		return "sick"
	case alert:
		return "alert"
	case c.Waiting > 9:
		return "waiting-9+"
	case c.Waiting > 0:
		return "waiting-" + itoa(c.Waiting)
	case c.Working > 0:
		return "working"
	case paused:
		return "paused"
	}
	return "idle"
}
