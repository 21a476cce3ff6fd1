//go:build cgo

package ledger

import (
	order "cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"tower/core"
)

// TestOpenLaunches loads launches of every age and fate.
func TestOpenLaunches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	synctest.Test(t, func(t *testing.T) {
		d, err := Open(t.Context(), path, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		before := func(age time.Duration) core.Instant { return core.InstantOf(time.Now().Add(-age)) }
		const day = 24 * time.Hour
		cases := []struct {
			l    core.LaunchRecord
			want bool
		}{
			{core.LaunchRecord{Token: "waits, old", RequestedAt: before(400 * day)}, true},
			{core.LaunchRecord{Token: "expired, too old", RequestedAt: before(14*day + time.Millisecond), Expired: true}, false},
			{core.LaunchRecord{Token: "expired, just not too old", RequestedAt: before(14 * day), Expired: true}, true},
			{core.LaunchRecord{Token: "expired a minute ago", RequestedAt: before(3 * time.Minute), Expired: true}, true},
			{core.LaunchRecord{Token: "waits", RequestedAt: before(time.Minute)}, true},
			{core.LaunchRecord{Token: "matched", RequestedAt: before(time.Minute), Matched: "s", MatchedAt: before(0)}, false},
			{core.LaunchRecord{Token: "matched late", RequestedAt: before(time.Minute), Matched: "s", MatchedAt: before(0), Expired: true}, false},
			{core.LaunchRecord{Token: "failed", RequestedAt: before(time.Minute), EndedAt: before(0), Failed: "It ended after 0.8 s."}, false},
			{core.LaunchRecord{Token: "expired, then ended", RequestedAt: before(time.Minute), EndedAt: before(0), Expired: true}, false},
			{core.LaunchRecord{Token: "asked nobody knows when", Expired: true}, false},
		}
		var w core.Writes
		var want, got []string
		for i := range cases {
			cases[i].l.Agent = "fake"
			w.Launches = append(w.Launches, cases[i].l)
			if cases[i].want {
				want = append(want, cases[i].l.Token)
			}
		}
		// What runs came from a launch, whose name and window are asked for.
		for i, l := range []core.LaunchRecord{{Token: "runs"}, {Token: "ran"}} {
			l.Agent, l.RequestedAt, l.Matched, l.MatchedAt = "fake", before(time.Second), "s", before(0)
			w.Launches = append(w.Launches, l)
			s := core.Session{ID: core.NewSessionID("fake", l.Token), Agent: "fake", Native: l.Token, Status: core.StatusLive}
			r := core.Run{Session: s.ID, Proc: core.Process{Boot: "b", PID: 7 + i, Start: 7}, LaunchToken: l.Token, StartedAt: before(0)}
			if l.Token == "ran" {
				r.EndedAt = before(0)
			}
			w.Sessions, w.Runs = append(w.Sessions, s), append(w.Runs, r)
		}
		want = append(want, "runs")
		slices.Reverse(w.Launches) // the order is by request, not by writing
		apply(t, d, w)
		for _, l := range load(t, d).Launches {
			got = append(got, l.Token)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("loaded launches (-want +got):\n%s", diff)
		}

		// Nothing is forgotten; it is only not gone on with.
		time.Sleep(30 * day)
		if n := len(load(t, d).Launches); n != 3 {
			t.Errorf("after a month %d launches are loaded, want the two that nobody has told to be over and the one that runs", n)
		}
		all, err := d.Launches(t.Context(), 100)
		if err != nil || len(all) != len(cases)+2 {
			t.Errorf("%d launches are kept, %v, want %d", len(all), err, len(cases)+2)
		}
	})
}

// TestLaunchesAsTold writes launches in any order, each many times, and reads what was told last.
func TestLaunchesAsTold(t *testing.T) {
	d := openTest(t)
	model := map[string]core.LaunchRecord{}
	word := rapid.SampledFrom([]string{"", "", "a", "b ü", "\xff\n", `"'`})
	instant := rapid.SampledFrom([]core.Instant{0, noon, noon + 1, core.InstantOf(time.Now())})
	draw := func(t *rapid.T) core.LaunchRecord {
		w := func(name string) string { return word.Draw(t, name) }
		return core.LaunchRecord{
			Token: fmt.Sprint(rapid.IntRange(1, 12).Draw(t, "token")), Agent: core.Agent(rapid.SampledFrom([]string{"fake", "other"}).Draw(t, "agent")),
			CWD: w("cwd"), Name: w("name"), Model: w("model"), SprintNode: w("node"), ScriptPath: w("script"), PromptPath: w("prompt"), AskedBy: w("by"),
			RequestedAt: instant.Draw(t, "requested"), Continues: core.SessionID(w("continues")), Expect: core.SessionID(w("expect")),
			Resumes: rapid.Bool().Draw(t, "resumes"), Home: w("home"), Terminal: w("terminal"),
			Proc: core.Process{Boot: w("boot"), PID: rapid.IntRange(0, 1<<22).Draw(t, "pid"), Start: rapid.Uint64().Draw(t, "start")},
			TTY:  w("tty"), Window: w("window"), Pane: w("pane"), Matched: core.SessionID(w("matched")), MatchedAt: instant.Draw(t, "matched at"),
			Expired: rapid.Bool().Draw(t, "expired"), EndedAt: instant.Draw(t, "ended"), Failed: w("failed"),
		}
	}
	loaded := 0
	rapid.Check(t, func(t *rapid.T) {
		var w core.Writes
		for range rapid.IntRange(1, 6).Draw(t, "rows") {
			l := draw(t)
			w.Launches = append(w.Launches, l)
			model[l.Token] = l
		}
		if _, err := d.Apply(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		if a, err := d.Apply(t.Context(), core.Writes{Launches: slices.Collect(maps.Values(model))}); err != nil || a.Rows != 0 {
			t.Fatalf("writing the same again changed %d rows, %v", a.Rows, err)
		}
		all, err := d.Launches(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.SortedFunc(maps.Values(model), func(a, b core.LaunchRecord) int {
			return -order.Or(strings.Compare(a.RequestedAt.String(), b.RequestedAt.String()), strings.Compare(a.Token, b.Token))
		})
		if diff := cmp.Diff(want, all); diff != "" {
			t.Fatalf("launches, newest first (-want +got):\n%s", diff)
		}
		some, err := d.Launches(t.Context(), 3)
		if diff := cmp.Diff(want[:min(3, len(want))], some); err != nil || diff != "" {
			t.Fatalf("the three newest launches: %v (-want +got):\n%s", err, diff)
		}
		l, err := d.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, one := range l.Launches {
			got[one.Token] = true
			loaded++
		}
		for token, one := range model {
			binds := one.Waits() || one.Matched == "" && one.EndedAt == 0 && one.RequestedAt > noon+1
			if binds != got[token] {
				t.Fatalf("loaded = %v, want %v of %+v", got[token], binds, one)
			}
		}
	})
	if loaded == 0 {
		t.Error("no launch was ever loaded: the test compares less than it should")
	}
}
