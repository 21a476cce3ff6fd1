//go:build !darwin || cgo

package main

import (
	"context"
	"runtime"
	"time"

	"fyne.io/systray"

	"tower/core"
	"tower/tray/icon"
	"tower/tray/menu"
)

// row is an item on the desktop, and what makes it listen no more.
type row struct {
	*systray.MenuItem
	deaf context.CancelFunc
}

// build makes every item there will ever be, hidden ones too: items can only be appended, and a menu
// that grows while it is open cannot be used.
func (t *systrayTray) build(ctx context.Context) {
	s := t.Snapshot()
	t.drawn, t.state = menu.Build(s, t.now(s, time.Now()), menu.State{}, menu.Options{GOOS: runtime.GOOS})
	t.around()
	for i, section := range t.drawn.Sections {
		if i > 0 {
			systray.AddSeparator()
		}
		for _, it := range section.Items {
			t.add(ctx, it, nil)
		}
	}
}

func (t *systrayTray) add(ctx context.Context, it menu.Item, parent *systray.MenuItem) {
	var item *systray.MenuItem
	if parent == nil {
		item = systray.AddMenuItem(it.Text, "")
	} else {
		item = parent.AddSubMenuItem(it.Text, "")
	}
	listening, deaf := context.WithCancel(ctx)
	t.items[it.ID] = row{item, deaf}
	if !it.Enabled && it.Shown {
		item.Disable()
	}
	if !it.Shown {
		item.Hide()
	}
	go forward(listening, item.ClickedCh, it.ID, t.clicks)
	for _, sub := range it.Items {
		t.add(ctx, sub, item)
	}
}

// forward does nothing but hand on an item's clicks: the library drops one that finds nobody waiting.
func forward(ctx context.Context, from <-chan struct{}, id string, to chan<- string) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-from:
		}
		select {
		case to <- id:
		default: // so many are queued already that this one is no longer meant
		}
	}
}

// draw brings the desktop up to the newest snapshot. Each setter costs signals on the bus and a redraw
// in the panel even when nothing changed, so everything is compared first.
func (t *systrayTray) draw(now time.Time) {
	s := t.Snapshot()
	next, state := menu.Build(s, t.now(s, now), t.state, menu.Options{GOOS: runtime.GOOS})
	was := t.drawn
	t.drawn, t.state = next, state
	t.around()
	for i := range next.Sections {
		t.change(was.Sections[i].Items, next.Sections[i].Items)
	}
}

func (t *systrayTray) change(was, is []menu.Item) {
	for i := range is {
		item := t.items[is[i].ID]
		if is[i].Shown {
			if item.Disabled() == is[i].Enabled {
				if is[i].Enabled {
					item.Enable()
				} else {
					item.Disable()
				}
			}
			if !was[i].Shown || was[i].Text != is[i].Text {
				item.SetTitle(is[i].Text)
			}
		}
		switch {
		case is[i].Shown && !was[i].Shown:
			item.Show()
		case !is[i].Shown && was[i].Shown:
			item.Hide()
		}
		t.change(was[i].Items, is[i].Items)
	}
}

// renew gives every submenu new items in place of the old ones. A panel that dropped them while it
// first read the menu knows the submenu by now and takes new ones; saying that the old ones changed
// does not help. They are hidden and not removed, because removing closes a channel that a click may
// be sending on.
func (t *systrayTray) renew(ctx context.Context) {
	for _, section := range t.drawn.Sections {
		for _, it := range section.Items {
			for _, sub := range it.Items {
				old := t.items[sub.ID]
				old.Hide()
				old.deaf()
				t.add(ctx, sub, t.items[it.ID].MenuItem)
			}
		}
	}
}

// around draws what stands outside the menu: icon, text beside it, tooltip.
func (t *systrayTray) around() {
	if t.drawn.Icon != t.icon {
		if err := setIcon(t.drawn.Icon); err != nil {
			t.Log.Error("the icon cannot be drawn", "state", t.drawn.Icon, "error", err)
		}
		t.icon = t.drawn.Icon
	}
	if runtime.GOOS == "darwin" && t.drawn.Beside != t.beside {
		systray.SetTitle(t.drawn.Beside)
		t.beside = t.drawn.Beside
	}
	if t.drawn.Tooltip != t.tip {
		systray.SetTooltip(t.drawn.Tooltip)
		t.tip = t.drawn.Tooltip
	}
}

func setIcon(state string) error {
	switch runtime.GOOS {
	case "windows":
		ico, err := icon.ICO(state)
		if err != nil {
			return err
		}
		systray.SetIcon(ico)
	case "darwin":
		black, err := icon.Template(state, 32) // shown at 16 points, which are 32 pixels where it matters
		if err != nil {
			return err
		}
		colour, err := icon.PNG(state, 32)
		if err != nil {
			return err
		}
		systray.SetTemplateIcon(black, colour)
	default:
		png, err := icon.PNG(state, 22)
		if err != nil {
			return err
		}
		systray.SetIcon(png)
	}
	return nil
}

// now is the time in the zone in which the snapshot cuts days.
func (t *systrayTray) now(s *core.Snapshot, now time.Time) time.Time {
	if s != nil && s.Zone != t.zoneOf {
		t.zoneOf, t.zone = s.Zone, time.Local
		if z, err := time.LoadLocation(s.Zone); err == nil && s.Zone != "" {
			t.zone = z
		}
	}
	return now.In(t.zone)
}
