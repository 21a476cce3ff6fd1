//go:build cgo

package ledger

import (
	order "cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"tower/core"
)

func intents(t testing.TB, d *DB, limit int) []core.Intent {
	t.Helper()
	list, err := d.Intents(t.Context(), limit)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestInterrupt closes what a killed process left open, once, and nothing else.
func TestInterrupt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	d := openAt(t, path)
	open := core.Intent{ID: "open", Action: core.CommandLaunch, Token: "tok", AskedBy: "page", AskedAt: noon}
	failed := core.Intent{ID: "failed", Action: core.CommandEnd, Session: "s", AskedBy: "cli", AskedAt: noon + 2, EndedAt: noon + 3, Outcome: core.IntentFailed}
	done := core.Intent{ID: "done", Action: core.CommandJump, Session: "s", AskedBy: "tray", AskedAt: noon + 1}
	apply(t, d, core.Writes{Intents: []core.Intent{open, failed, done}})
	done.EndedAt, done.Outcome, done.Detail = noon+4, core.IntentDone, "window 0x1a"
	apply(t, d, core.Writes{Intents: []core.Intent{done}})
	if diff := cmp.Diff([]core.Intent{failed, done, open}, intents(t, d, 9)); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = openAt(t, path)
	if _, err := d.Interrupt(t.Context(), 0); !errors.Is(err, ErrInvalid) {
		t.Errorf("interrupting at no time = %v, want %v", err, ErrInvalid)
	}
	for i, want := range []int{1, 0} {
		if n, err := d.Interrupt(t.Context(), noon+9+core.Instant(i)); n != want || err != nil {
			t.Errorf("call %d of Interrupt = %d, %v, want %d", i+1, n, err, want)
		}
	}
	open.EndedAt, open.Outcome = noon+9, core.IntentInterrupted
	if diff := cmp.Diff([]core.Intent{failed, done, open}, intents(t, d, 9)); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]core.Intent{failed}, intents(t, d, 1)); diff != "" {
		t.Errorf("the newest (-want +got):\n%s", diff)
	}

	r, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Interrupt(t.Context(), noon); err == nil {
		t.Error("a ledger opened for reading was written")
	}
}

// TestIntentsAsTold writes intents in any order, each many times, and reads what was told last.
func TestIntentsAsTold(t *testing.T) {
	d := openTest(t)
	model := map[string]core.Intent{}
	word := rapid.SampledFrom([]string{"", "", "a", "b ü", "\xff\n", `"'`})
	rapid.Check(t, func(t *rapid.T) {
		var w core.Writes
		for range rapid.IntRange(1, 6).Draw(t, "rows") {
			i := core.Intent{ID: fmt.Sprint(rapid.IntRange(1, 12).Draw(t, "id")),
				Action:  rapid.SampledFrom([]core.CommandKind{core.CommandEnd, core.CommandLaunch, core.CommandType}).Draw(t, "action"),
				Session: core.SessionID(word.Draw(t, "session")), Node: word.Draw(t, "node"), Token: word.Draw(t, "token"), AskedBy: "page",
				AskedAt: rapid.SampledFrom([]core.Instant{1, noon, noon + 1}).Draw(t, "asked"), Detail: word.Draw(t, "detail"),
				EndedAt: rapid.SampledFrom([]core.Instant{0, noon}).Draw(t, "ended"), Outcome: word.Draw(t, "outcome")}
			w.Intents = append(w.Intents, i)
			model[i.ID] = i
		}
		if _, err := d.Apply(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		check := func() {
			want := slices.SortedFunc(maps.Values(model), func(a, b core.Intent) int {
				return -order.Or(order.Compare(a.AskedAt, b.AskedAt), strings.Compare(a.ID, b.ID))
			})
			got, err := d.Intents(t.Context(), 100)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("intents, newest first: %v (-want +got):\n%s", err, diff)
			}
		}
		check()
		if a, err := d.Apply(t.Context(), core.Writes{Intents: slices.Collect(maps.Values(model))}); err != nil || a.Rows != 0 {
			t.Fatalf("writing the same again changed %d rows, %v", a.Rows, err)
		}
		if rapid.IntRange(0, 4).Draw(t, "a new start") > 0 {
			return
		}
		open := 0
		for id, i := range model {
			if i.EndedAt == 0 {
				i.EndedAt, i.Outcome = noon+5, core.IntentInterrupted
				model[id] = i
				open++
			}
		}
		if n, err := d.Interrupt(t.Context(), noon+5); n != open || err != nil {
			t.Fatalf("interrupted %d, %v, want %d", n, err, open)
		}
		check()
	})
}
