package web

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"tower/core"
)

const (
	deviceLife = 90 * 24 * time.Hour // without a visit
	maxDevices = 64
	seenStep   = time.Hour // how exactly a visit is kept, so that a page does not write the store all day
)

// device is one signed-in browser. Both secrets are needed: the cookie cannot be read by a script, the
// page key is not sent by a foreign page.
type device struct {
	ID     string       `json:"id"`
	Cookie string       `json:"cookie"` // digest
	Key    string       `json:"key"`    // digest
	Label  string       `json:"label"`
	By     string       `json:"by"` // ticket or password
	Since  core.Instant `json:"since"`
	Seen   core.Instant `json:"seen"`
}

type devices struct {
	mu      sync.Mutex
	list    []device
	secrets Secrets
	now     func() time.Time
}

func openDevices(s Secrets, now func() time.Time, log *slog.Logger) *devices {
	d := &devices{secrets: s, now: now}
	if kept, ok := s.Get(secretDevices); ok && kept != "" {
		if err := json.Unmarshal([]byte(kept), &d.list); err != nil {
			log.Warn("signed-in browsers cannot be read, they have to sign in again", "error", err)
			d.list = nil
		}
	}
	return d
}

// add signs a browser in and returns its two secrets.
func (d *devices) add(agent, by string) (id, cookie, key string, err error) {
	cookie, key = newSecret(), newSecret()
	id = core.UUID4()[:8]
	now := core.InstantOf(d.now())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	list := append(slices.Clone(d.list), device{
		ID: id, Cookie: digest(cookie), Key: digest(key), Label: browserName(agent), By: by, Since: now, Seen: now,
	})
	if len(list) > maxDevices {
		oldest := 0
		for i := range list {
			if list[i].Seen < list[oldest].Seen {
				oldest = i
			}
		}
		list = slices.Delete(list, oldest, oldest+1)
	}
	return id, cookie, key, d.keep(list)
}

// find returns the browser that owns both secrets, and notes its visit.
func (d *devices) find(cookie, key string) (string, bool) {
	id, secret, ok := strings.Cut(cookie, ".")
	if !ok {
		return "", false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	i := slices.IndexFunc(d.list, func(v device) bool { return v.ID == id })
	if i < 0 {
		return "", false
	}
	// Both are compared always, so that the time does not tell which one was right.
	a, b := matches(secret, d.list[i].Cookie), matches(key, d.list[i].Key)
	if !a || !b {
		return "", false
	}
	if now := core.InstantOf(d.now()); int64(now-d.list[i].Seen) >= seenStep.Milliseconds() {
		d.list[i].Seen = now
		// A visit that cannot be noted costs nothing but the date shown.
		_ = d.keep(d.list)
	}
	return id, true
}

// remove signs a browser out.
func (d *devices) remove(id string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.list, func(v device) bool { return v.ID == id })
	if i < 0 {
		return false, nil
	}
	return true, d.keep(slices.Delete(slices.Clone(d.list), i, i+1))
}

func (d *devices) all() []device {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	return slices.Clone(d.list)
}

func (d *devices) sweep() {
	dead := core.InstantOf(d.now().Add(-deviceLife))
	d.list = slices.DeleteFunc(d.list, func(v device) bool { return v.Seen < dead })
}

// keep stores the list and makes it the current one. When it cannot be stored nothing changes.
func (d *devices) keep(list []device) error {
	b, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("encode browsers: %w", err)
	}
	if err := d.secrets.Set(secretDevices, string(b)); err != nil {
		return fmt.Errorf("keep browsers: %w", err)
	}
	d.list = list
	return nil
}

// browserName makes "Firefox on Linux" of a User-Agent, only to tell the rows of a list apart.
func browserName(agent string) string {
	pick := func(names ...string) string {
		for i := 0; i < len(names); i += 2 {
			if strings.Contains(agent, names[i]) {
				return names[i+1]
			}
		}
		return ""
	}
	browser := pick("Edg/", "Edge", "OPR/", "Opera", "Firefox/", "Firefox", "Chrome/", "Chrome", "Safari/", "WebKit")
	system := pick("Android", "Android", "iPhone", "iOS", "Windows", "Windows", "Macintosh", "macOS", "Linux", "Linux")
	switch {
	case browser != "" && system != "":
		return browser + " on " + system
	case browser != "":
		return browser
	}
	return "A browser"
}
