//go:build cgo

package ledger

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
	"tower/core"
)

// telling is what one source tells of one session; model is the rule of ownership, written down a
// second time and as plainly as it goes.
type telling struct {
	source  string
	session core.SessionID
	opened  core.Instant
	turns   map[int64]core.Turn
}

type model struct {
	tellings []*telling
	reading  map[string][]*telling // open readings, by source
}

func (m *model) batch(b core.TurnBatch) {
	if !b.Replace {
		m.finish(b.Source)
	}
	if b.Session == "" {
		m.finish(b.Source)
		m.reading[b.Source] = []*telling{}
		return
	}
	i := slices.IndexFunc(m.tellings, func(t *telling) bool { return t.source == b.Source && t.session == b.Session })
	if i < 0 {
		i = len(m.tellings)
		m.tellings = append(m.tellings, &telling{source: b.Source, session: b.Session, opened: b.Opened, turns: map[int64]core.Turn{}})
	}
	t := m.tellings[i]
	if b.Replace {
		if slices.Contains(m.reading[b.Source], t) {
			m.finish(b.Source)
		}
		m.reading[b.Source] = append(m.reading[b.Source], t)
		t.turns, t.opened = map[int64]core.Turn{}, b.Opened
	} else if b.Opened != 0 && (t.opened == 0 || b.Opened < t.opened) {
		t.opened = b.Opened
	}
	for _, turn := range b.Turns {
		old, ok := t.turns[turn.UID]
		earlier := turn.At != 0 && (old.At == 0 || turn.At < old.At)
		if !ok || earlier || turn.At == old.At && turn.Kind < old.Kind {
			t.turns[turn.UID] = turn
		}
	}
}

func (m *model) finish(source string) {
	named, ok := m.reading[source]
	if !ok {
		return
	}
	delete(m.reading, source)
	for _, t := range m.tellings {
		if t.source == source && !slices.Contains(named, t) {
			clear(t.turns)
		}
	}
}

// end closes the readings: a transaction is over.
func (m *model) end() {
	for source := range m.reading {
		m.finish(source)
	}
}

// owned returns the instants of every session of which something was told.
func (m *model) owned() map[core.SessionID][]core.Instant {
	all := map[core.SessionID][]core.Instant{}
	for _, t := range m.tellings {
		all[t.session] = nil
	}
	for uid, t := range m.owners() {
		all[t.session] = append(all[t.session], t.turns[uid].At)
	}
	for _, list := range all {
		slices.Sort(list)
	}
	return all
}

// owners returns the telling that counts of every turn.
func (m *model) owners() map[int64]*telling {
	owner := map[int64]*telling{}
	for _, t := range m.tellings {
		for uid := range t.turns {
			if o := owner[uid]; o == nil || t.before(o) {
				owner[uid] = t
			}
		}
	}
	return owner
}

// before tells whether a turn of both is t's.
func (t *telling) before(o *telling) bool {
	switch {
	case t.opened != o.opened:
		return o.opened == 0 || t.opened != 0 && t.opened < o.opened
	case t.session != o.session:
		return t.session < o.session
	}
	return t.source < o.source
}

var testSessions = []core.Session{session("a"), session("b"), session("c"), session("d")}

func drawBatch(t *rapid.T) core.TurnBatch {
	b := core.TurnBatch{
		Source:  rapid.SampledFrom([]string{"/s/1", "/s/2", "/s/3"}).Draw(t, "source"),
		Opened:  core.Instant(rapid.SampledFrom([]int64{0, 1, 2, 3}).Draw(t, "opened")) * 1000,
		Replace: rapid.Bool().Draw(t, "replace"),
	}
	if b.Replace && rapid.IntRange(0, 9).Draw(t, "nobody") == 0 {
		return b
	}
	b.Session = rapid.SampledFrom(testSessions).Draw(t, "session").ID
	for range rapid.IntRange(0, 6).Draw(t, "turns") {
		b.Turns = append(b.Turns, core.Turn{
			UID:  rapid.SampledFrom([]int64{-1 << 63, -2, -1, 0, 1, 2, 3, 1<<63 - 1}).Draw(t, "uid"),
			At:   core.Instant(rapid.SampledFrom([]int64{0, 5, 6, 1_790_000_000_123, -7}).Draw(t, "at")),
			Kind: core.TurnKind(rapid.IntRange(1, 3).Draw(t, "kind")),
		})
	}
	return b
}

// stored reads back what the ledger says of turns: by the stream, and by the column of sessions.
func stored(t *rapid.T, d *DB) (map[core.SessionID][]core.Instant, map[core.SessionID]int64) {
	stream := map[core.SessionID][]core.Instant{}
	var order []core.SessionID
	err := d.Turns(t.Context(), func(id core.SessionID, at core.Instant) error {
		if len(order) == 0 || order[len(order)-1] != id {
			order = append(order, id)
		}
		stream[id] = append(stream[id], at)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(order) || len(order) != len(stream) {
		t.Fatal("the stream is not in order of sessions: ", order)
	}
	l, err := d.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	column := map[core.SessionID]int64{}
	for _, s := range l.Sessions {
		if s.Turns != nil {
			column[s.ID] = *s.Turns
		}
	}
	return stream, column
}

// TestOwner compares the ledger with the model after every transaction.
func TestOwner(t *testing.T) {
	d := openTest(t)
	rapid.Check(t, func(t *rapid.T) {
		wipe(t, d)
		m := &model{reading: map[string][]*telling{}}
		stale := number64(rapid.Int64Range(0, 99).Draw(t, "stale"))
		for range rapid.IntRange(1, 6).Draw(t, "transactions") {
			before := m.owned()
			w := core.Writes{}
			for range rapid.IntRange(1, 5).Draw(t, "batches") {
				b := drawBatch(t)
				w.Turns = append(w.Turns, b)
				m.batch(b)
			}
			m.end()
			// The engine sends whole rows beside, with a number of its own.
			s := rapid.SampledFrom(testSessions).Draw(t, "row")
			s.Turns = stale
			w.Sessions = append(w.Sessions, s)
			a, err := d.Apply(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			want := m.owned()
			stream, column := stored(t, d)
			if diff := cmp.Diff(nonEmpty(want), stream, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("owned turns (-want +got):\n%s", diff)
			}
			compareRows(t, d, m)
			for id, n := range column {
				if list, told := want[id]; told && n != int64(len(list)) {
					t.Fatalf("sessions.turns of %s = %d, owned %d", id, n, len(list))
				} else if !told && n != *stale {
					t.Fatalf("sessions.turns of %s = %d, nothing was told and the row said %d", id, n, *stale)
				}
			}
			counted := map[core.SessionID][]core.Instant{}
			for _, c := range a.Counted {
				counted[c.Session] = c.At
			}
			for id, list := range want {
				if got, ok := counted[id]; ok && !slices.Equal(got, list) {
					t.Fatalf("counted of %s = %v, want %v", id, got, list)
				} else if old, told := before[id]; !ok && (!told || !slices.Equal(old, list)) {
					t.Fatalf("turns of %s changed from %v to %v and were not counted", id, old, list)
				}
				if _, ok := column[id]; !ok {
					t.Fatalf("sessions.turns of %s is unknown, want %d", id, len(list))
				}
			}
		}
	})
}

// compareRows compares every turn that counts, with its kind, which no method returns yet.
func compareRows(t *rapid.T, d *DB, m *model) {
	type row struct {
		session core.SessionID
		turn    core.Turn
	}
	want, got := map[int64]row{}, map[int64]row{}
	for uid, o := range m.owners() {
		want[uid] = row{o.session, o.turns[uid]}
	}
	rows, err := d.read.Query("SELECT s.asm_id, t.uid, coalesce(t.at, 0), t.kind FROM turns AS t JOIN sessions AS s ON s.key = t.session WHERE t.copy = 0")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.session, &r.turn.UID, &r.turn.At, &r.turn.Kind); err != nil {
			t.Fatal(err)
		}
		got[r.turn.UID] = r
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(want, got) {
		t.Fatalf("turns that count = %v, want %v", got, want)
	}
}

// TestOrderOfReading reads the same sources in two orders, each source's own batches in theirs.
func TestOrderOfReading(t *testing.T) {
	d := openTest(t)
	rapid.Check(t, func(t *rapid.T) {
		bySource := map[string][]core.TurnBatch{}
		opened := map[string]core.Instant{}
		for range rapid.IntRange(2, 12).Draw(t, "batches") {
			b := drawBatch(t)
			if o, ok := opened[b.Source]; ok {
				b.Opened = o
			}
			opened[b.Source] = b.Opened
			bySource[b.Source] = append(bySource[b.Source], b)
		}
		var results [2]map[core.SessionID][]core.Instant
		for i := range results {
			wipe(t, d)
			rest := maps.Clone(bySource)
			for len(rest) > 0 {
				source := rapid.SampledFrom(slices.Sorted(maps.Keys(rest))).Draw(t, "next")
				if _, err := d.Apply(t.Context(), core.Writes{Turns: rest[source][:1]}); err != nil {
					t.Fatal(err)
				}
				if rest[source] = rest[source][1:]; len(rest[source]) == 0 {
					delete(rest, source)
				}
			}
			results[i], _ = stored(t, d)
		}
		if diff := cmp.Diff(results[0], results[1]); diff != "" {
			t.Fatalf("two orders of reading (-one +other):\n%s", diff)
		}
	})
}

func nonEmpty(m map[core.SessionID][]core.Instant) map[core.SessionID][]core.Instant {
	m = maps.Clone(m)
	maps.DeleteFunc(m, func(_ core.SessionID, list []core.Instant) bool { return len(list) == 0 })
	return m
}

// wipe makes the ledger empty again but for the sessions. Opening a new one for each of many cases
// would be most of the test's time.
func wipe(t *rapid.T, d *DB) {
	for _, q := range []string{"DELETE FROM turns", "DELETE FROM folders", "DELETE FROM skills", "DELETE FROM turn_sources", "DELETE FROM sessions"} {
		if _, err := d.write.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.Apply(t.Context(), core.Writes{Sessions: testSessions}); err != nil {
		t.Fatal(err)
	}
}

func TestForkChain(t *testing.T) {
	d := openTest(t)
	turns := func(n int) (list []core.Turn) {
		for i := range n {
			list = append(list, core.Turn{UID: int64(i), At: noon + core.Instant(i), Kind: core.TurnTyped})
		}
		return list
	}
	ids := []core.SessionID{testSessions[0].ID, testSessions[1].ID, testSessions[2].ID}
	batches := []core.TurnBatch{
		{Session: ids[0], Source: "/a", Opened: noon, Turns: turns(3)},
		{Session: ids[1], Source: "/b", Opened: noon + 1, Turns: turns(4)},
		{Session: ids[2], Source: "/c", Opened: noon + 2, Turns: turns(5)},
	}
	// The youngest is read first.
	for _, i := range []int{2, 1, 0} {
		apply(t, d, core.Writes{Sessions: testSessions[i : i+1], Turns: batches[i : i+1]})
	}
	check := func(when string, want ...int) {
		t.Helper()
		for i, s := range load(t, d).Sessions {
			at := slices.Index(ids, s.ID)
			if s.Turns == nil || *s.Turns != int64(want[at]) {
				t.Errorf("%s: session %d has %v turns, want %d", when, i, s.Turns, want[at])
			}
		}
	}
	check("after the import", 3, 1, 1)

	// The original is read again and has lost its second turn, which falls to the fork of it.
	again := batches[0]
	again.Replace, again.Turns = true, slices.Delete(turns(3), 1, 2)
	a := apply(t, d, core.Writes{Turns: []core.TurnBatch{again}})
	check("without the second turn", 2, 2, 1)
	want := []core.Counted{
		{Session: ids[0], At: []core.Instant{noon, noon + 2}},
		{Session: ids[1], At: []core.Instant{noon + 1, noon + 3}},
	}
	slices.SortFunc(want, func(a, b core.Counted) int { return strings.Compare(string(a.Session), string(b.Session)) })
	if diff := cmp.Diff(want, a.Counted); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	// The same reading once more changes nothing.
	if a := apply(t, d, core.Writes{Turns: []core.TurnBatch{again}}); a.Rows != 0 || len(a.Counted) != 0 {
		t.Errorf("reading the same again = %d rows, %v", a.Rows, a.Counted)
	}
}

func TestTurnsStops(t *testing.T) {
	d := openTest(t)
	apply(t, d, corpus(3, 4)[0])
	stop := errors.New("enough")
	n := 0
	err := d.Turns(t.Context(), func(core.SessionID, core.Instant) error {
		if n++; n == 5 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 5 {
		t.Errorf("Turns = %v after %d turns, want the error of the fifth", err, n)
	}
}

func TestFoldersAndSkills(t *testing.T) {
	d := openTest(t)
	id, other := testSessions[0].ID, testSessions[1].ID
	odd := "/ü \"\\\x01\xff/p" // a path may hold any byte but 0
	send := func(b ...core.TurnBatch) {
		t.Helper()
		apply(t, d, core.Writes{Sessions: testSessions[:2], Turns: b})
	}
	check := func(when string, id core.SessionID, skills, folders map[string]int64) {
		t.Helper()
		_, gotSkills, gotFolders, err := d.Detail(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{skills, folders}, []any{gotSkills, gotFolders}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	type m = map[string]int64
	send(core.TurnBatch{Session: id, Source: "/1", Folders: m{odd: 2, "/p": 1}, Skills: m{"s": 1}},
		core.TurnBatch{Session: id, Source: "/2", Folders: m{odd: 3}},
		core.TurnBatch{Session: other, Source: "/1", Skills: m{"t": 9}})
	check("of two sources the larger counts", id, m{"s": 1}, m{odd: 3, "/p": 1})
	send(core.TurnBatch{Session: id, Source: "/1"})
	check("nil changes nothing", id, m{"s": 1}, m{odd: 3, "/p": 1})
	send(core.TurnBatch{Session: id, Source: "/1", Folders: m{"/p": 4}, Skills: m{}})
	check("a set takes the place of the one before", id, m{}, m{odd: 3, "/p": 4})
	check("of this session only", other, m{"t": 9}, m{})
	send(core.TurnBatch{Session: id, Source: "/1", Replace: true})
	check("a reading without the other session takes its own away", other, m{}, m{})
	check("and nil still changes nothing", id, m{}, m{odd: 3, "/p": 4})
	runs, skills, folders, err := d.Detail(t.Context(), "none")
	if err != nil || len(runs)+len(skills)+len(folders) != 0 {
		t.Errorf("detail of an unknown session = %v %v %v %v", runs, skills, folders, err)
	}
}
