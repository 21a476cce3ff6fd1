package codex

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"tower/adapters/jsonl"
	"tower/adapters/rosqlite"
	"tower/core"
)

const indexFile = "session_index.jsonl"

// A thread's name stands in threads.name of the state database and, as a line for each change, in the
// session index. The terminal client also puts a title of its own making there: it asks the model for
// one at the first prompt and falls back to the prompt itself. Who gave a name is told by when:
//
//	before the first prompt        a person (a fork copies its parent's name at that time)
//	within titleTime after it      the client, on its own
//	later, or a second time        a person
//
// titleTime is in milliseconds; a model that takes longer than that for five words is not waited for.
const titleTime = 120_000

// naming is everything the two places say of one thread.
type naming struct {
	name     string // in the database
	like     bool   // the database knows it as a prompt's words
	archived bool
	thread   string
	path     string // of the rollout
	lines    []given
}

type given struct {
	name string
	at   core.Instant
}

// current is the name the agent shows.
func (n *naming) current() string {
	if n.name == "" && len(n.lines) > 0 {
		return n.lines[len(n.lines)-1].name
	}
	return n.name
}

// split tells a person's name from the agent's own title, given what the rollout knows.
func (n *naming) split(t *thread) (name, title string) {
	p := t.counted()
	now := n.current()
	if len(n.lines) > 0 {
		if l := n.lines[0]; n.automatic(l.at, p.At, t.Fork != "") && !prompted(l.name, p.First) {
			title = l.name
		}
		if now == n.lines[0].name && n.automatic(n.lines[0].at, p.At, t.Fork != "") {
			return "", title
		}
	}
	if prompted(now, p.First) || n.like && now == n.name {
		return "", title
	}
	return now, title
}

func (n *naming) automatic(at, prompt core.Instant, fork bool) bool {
	if prompt == 0 || at < prompt {
		return fork
	}
	return at <= prompt+titleTime
}

// prompted tells whether a name is only the beginning of a prompt.
func prompted(name, prompt string) bool {
	name = strings.Join(strings.Fields(name), " ")
	name = strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(name, "…"), "..."), " ")
	return name != "" && strings.HasPrefix(strings.Join(strings.Fields(prompt), " "), name)
}

// nameCache holds both places as they were when last read. Ten thousand scans ask for names; the
// database is opened when it changed, and while its owner writes all the time no more than once in
// every rest.
type nameCache struct {
	mu     sync.Mutex
	rest   time.Duration
	read   time.Time
	seen   [4]mark // root folder, index, database, its log
	state  string  // path of the database
	all    map[string]*naming
	loaded bool
}

// mark is enough of a file's state to see that it changed.
type mark struct{ size, time int64 }

func markOf(path string) mark {
	info, err := os.Stat(path)
	if err != nil {
		return mark{-1, 0}
	}
	return mark{info.Size(), info.ModTime().UnixNano()}
}

// named returns what is known of a thread's name. A place that cannot be read tells nothing; the scan
// goes on without it, and what the ledger knew stays. fresh asks for the state of this moment.
func (a *Adapter) named(ctx context.Context, id string, fresh bool) (naming, bool) {
	if id == "" {
		return naming{}, false
	}
	c := &a.names
	c.mu.Lock()
	defer c.mu.Unlock()
	if fresh || !c.loaded || time.Since(c.read) >= c.rest {
		a.refresh(ctx, c)
	}
	n, ok := c.all[id]
	if !ok {
		return naming{}, false
	}
	return *n, true
}

// refresh reads again what changed.
func (a *Adapter) refresh(ctx context.Context, c *nameCache) {
	index := filepath.Join(a.info.Root, indexFile)
	if root := markOf(a.info.Root); !c.loaded || root != c.seen[0] {
		c.seen[0], c.state = root, newestState(a.info.Root)
	}
	now := [4]mark{c.seen[0], markOf(index)}
	if c.state != "" {
		now[2], now[3] = markOf(c.state), markOf(c.state+"-wal")
	}
	if !c.loaded || now != c.seen {
		all := map[string]*naming{}
		readIndex(ctx, index, all)
		ok := c.state == "" || readState(ctx, c.state, all) == nil
		if !ok {
			// Locked for a moment: keep what was known of its rows, and ask again next time.
			now[2] = mark{-2, 0}
			for id, old := range c.all {
				n := at(all, id)
				n.name, n.like, n.archived, n.thread, n.path = old.name, old.like, old.archived, old.thread, old.path
			}
		}
		c.all, c.seen, c.loaded = all, now, true
	}
	c.read = time.Now()
}

func at(all map[string]*naming, id string) *naming {
	n := all[id]
	if n == nil {
		n = &naming{}
		all[id] = n
	}
	return n
}

// newestState returns the state database of the highest generation, or "".
func newestState(root string) string { return newestDB(root, "state_") }

// newestDB returns the database of a family with the highest number, or "".
func newestDB(root, family string) string {
	found, best := "", -1
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(root), family+"*.sqlite"))
	for _, p := range paths {
		number := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(p), family), ".sqlite")
		if n, err := strconv.Atoi(number); err == nil && n > best {
			found, best = p, n
		}
	}
	return found
}

func escapeGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path // there the separator cannot escape, and a bracket in a home is rarer than that
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// readState adds the rows of the state database. Columns come and go with its generations, so only
// those that are there are asked for.
func readState(ctx context.Context, path string, all map[string]*naming) error {
	type row struct {
		id string
		n  naming
	}
	var rows []row
	err := rosqlite.Read(ctx, path, func(ctx context.Context, db *sql.DB) error {
		rows = nil
		has, err := columns(ctx, db)
		if err != nil {
			return err
		}
		col := func(name, absent string) string {
			if has[name] {
				return name
			}
			return absent
		}
		like := "0"
		for _, c := range []string{"first_user_message", "title", "preview"} {
			if has[c] && has["name"] {
				like += " OR name = " + c
			}
		}
		found, err := db.QueryContext(ctx, "SELECT id, coalesce("+col("name", "NULL")+", ''), "+like+", coalesce("+col("archived", "0")+
			", 0), coalesce("+col("thread_source", "NULL")+", ''), coalesce("+col("rollout_path", "NULL")+", '') FROM threads")
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var r row
			var like sql.NullBool
			if err := found.Scan(&r.id, &r.n.name, &like, &r.n.archived, &r.n.thread, &r.n.path); err != nil {
				return err
			}
			r.n.like = like.Bool
			rows = append(rows, r)
		}
		return found.Err()
	})
	if err != nil {
		return err
	}
	for _, r := range rows {
		n := at(all, r.id)
		r.n.lines = n.lines
		*n = r.n
	}
	return nil
}

func columns(ctx context.Context, db *sql.DB) (map[string]bool, error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info('threads')")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	has := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		has[name] = true
	}
	return has, rows.Err()
}

// readIndex adds the lines of the session index.
func readIndex(ctx context.Context, path string, all map[string]*naming) {
	// Absent, or gone since: then there are no lines.
	_, _, _ = jsonl.Follow(ctx, core.Source{Path: path}, core.Cursor{}, scanVersion, func([]byte) (jsonl.Judge, error) {
		return &indexJudge{f: func(id string, g given) { n := at(all, id); n.lines = append(n.lines, g) }}, nil
	})
}

// indexJudge reads lines of the session index. It carries nothing from one reading to the next.
type indexJudge struct {
	f func(id string, g given)
}

func (j *indexJudge) Record(r jsonl.Record) {
	id, name := jsonl.Text(r.Get("id")), jsonl.Text(r.Get("thread_name"))
	if id != "" {
		j.f(id, given{name, instant(r.Get("updated_at"))})
	}
}

func (j *indexJudge) Line() {}

func (j *indexJudge) Bad([]byte) {}

func (j *indexJudge) State() ([]byte, error) { return []byte("-"), nil }

// scanNames reads the lines added to the session index and says what they changed. A rollout tells
// nothing of a rename, so without this a rename would wait for the next turn.
func (a *Adapter) scanNames(ctx context.Context, s core.Source, from core.Cursor) (core.Scan, error) {
	var order []string
	changed := map[string]bool{}
	_, res, err := jsonl.Follow(ctx, s, from, scanVersion, func([]byte) (jsonl.Judge, error) {
		order, changed = nil, map[string]bool{}
		return &indexJudge{f: func(id string, _ given) {
			if !changed[id] {
				changed[id] = true
				order = append(order, id)
			}
		}}, nil
	})
	if err != nil {
		return core.Scan{}, err
	}
	scan := core.Scan{Reset: res.Reset, Cursor: res.Cursor, Read: res.Read}
	if res.Reset {
		// Every rollout is looked up when it is scanned; the first reading has nothing to add.
		return scan, nil
	}
	for _, id := range order {
		n, ok := a.named(ctx, id, true)
		if !ok {
			continue
		}
		t := thread{}
		if idOf(n.path) == id {
			src := core.Source{Agent: a.info.Agent, Path: n.path}
			if j, res, err := a.follow(ctx, src, core.Cursor{}); err == nil {
				t = j.thread
				scan.Read += res.Read
			}
		}
		f := core.Facts{Agent: a.info.Agent, Native: id, Archived: n.archived}
		f.Name, f.AgentTitle = n.split(&t)
		scan.Deltas = append(scan.Deltas, core.Delta{Facts: f})
	}
	return scan, nil
}

// called returns a running thread's name and title from the session index alone: the database changes
// with every turn, and a poll is not to open it.
func (a *Adapter) called(ctx context.Context, t *thread) (name, title string) {
	c := &a.calls
	path := filepath.Join(a.info.Root, indexFile)
	if now := markOf(path); now != c.seen || c.all == nil {
		c.all = map[string]*naming{}
		readIndex(ctx, path, c.all)
		c.seen = now
	}
	n := c.all[t.ID]
	if n == nil {
		return "", ""
	}
	return n.split(t)
}

// callCache holds the session index alone. Evidence uses it, under the lock of [tailCache].
type callCache struct {
	seen mark
	all  map[string]*naming
}
