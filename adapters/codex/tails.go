package codex

import (
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tower/adapters/jsonl"
	"tower/core"
)

// tailCache keeps what the rollouts of running threads have told, so that a poll reads the bytes
// added since the one before. The first look at a long rollout costs what a scan of it costs.
type tailCache struct {
	mu  sync.Mutex
	all map[string]*tail // by thread id
}

// tail is one running thread.
type tail struct {
	path   string // of its rollout, "" while none is found
	print  core.Fingerprint
	cursor core.Cursor
	thread thread
	known  bool // thread is read
	used   bool // since the last sweep of the cache
}

// look returns a thread as its rollout stands. ok is false without one: an empty composer.
func (a *Adapter) look(ctx context.Context, id string) (t *tail, ok bool) {
	c := &a.tails
	if c.all == nil {
		c.all = map[string]*tail{}
	}
	t = c.all[id]
	if t == nil {
		t = &tail{}
		c.all[id] = t
	}
	t.used = true
	print, ok := jsonl.Fingerprint(t.path)
	if !ok {
		if t.path = a.rollout(id); t.path == "" {
			*t = tail{used: true}
			return t, false
		}
		if print, ok = jsonl.Fingerprint(t.path); !ok {
			return t, t.known
		}
	}
	if t.known && print == t.print {
		return t, true
	}
	j, res, err := a.follow(ctx, core.Source{Agent: a.info.Agent, Path: t.path}, t.cursor)
	if err != nil {
		return t, t.known
	}
	t.print, t.cursor, t.thread, t.known = print, res.Cursor, j.thread, true
	return t, true
}

// forget drops the threads that no poll has asked for since the last call.
func (c *tailCache) forget() {
	for id, t := range c.all {
		if !t.used {
			delete(c.all, id)
		}
		t.used = false
	}
}

// rollout finds a thread's file. It lies in the folder of the local day the thread was opened, which
// the id tells in UTC: the days before and after may be meant. What came to be in another way is not
// looked for, the whole tree would have to be.
func (a *Adapter) rollout(id string) string {
	day, ok := dayOf(id)
	if !ok {
		return ""
	}
	for _, off := range []int{0, -1, 1} {
		dir := filepath.Join(a.info.Root, "sessions", day.AddDate(0, 0, off).Format("2006/01/02"))
		if path := ending(dir, id+plain); path != "" {
			return path
		}
	}
	return ending(filepath.Join(a.info.Root, archiveDir), id+plain)
}

func ending(dir, end string) string {
	file, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer file.Close()
	names, _ := file.Readdirnames(-1)
	for _, name := range names {
		if strings.HasSuffix(name, end) && strings.HasPrefix(name, "rollout-") {
			return dir + string(os.PathSeparator) + name
		}
	}
	return ""
}

// dayOf returns the day in an id that begins with its time, as a UUID of version 7 does.
func dayOf(id string) (time.Time, bool) {
	if len(id) != 36 || id[14] != '7' {
		return time.Time{}, false
	}
	b, err := hex.DecodeString(id[:8] + id[9:13])
	if err != nil {
		return time.Time{}, false
	}
	var ms int64
	for _, c := range b {
		ms = ms<<8 | int64(c)
	}
	return time.UnixMilli(ms).UTC(), true
}
