package claim

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"tower/core"
)

func TestKeys(t *testing.T) {
	seen := map[Key]bool{}
	for _, k := range []Key{Session("x"), Card("x"), Launch("x"), Session("y")} {
		if k == "" || seen[k] {
			t.Errorf("key %q names two things", k)
		}
		seen[k] = true
	}
	for _, k := range []Key{Session(""), Card(""), Launch("")} {
		if k != "" {
			t.Errorf("the key of nothing = %q", k)
		}
	}
}

func TestTake(t *testing.T) {
	s := New()
	ending := Claim{What: "ending", By: "tray", Since: 7}
	release, held := s.Take(ending, Session("a"), Card("c"), Session("a"), Launch(""))
	if held != nil || s.Len() != 2 {
		t.Fatalf("Take = %+v with %d keys held, want nil and 2", held, s.Len())
	}
	if c, ok := s.Get(Card("c")); !ok || c != ending {
		t.Errorf("Get(card c) = %+v, %v, want %+v", c, ok, ending)
	}
	if c, ok := s.Get(Launch("")); ok {
		t.Errorf("nothing is held: %+v", c)
	}

	no, held := s.Take(Claim{What: "typing", By: "page"}, Session("b"), Card("c"), Session("a"))
	if diff := cmp.Diff(&Held{Key: Card("c"), Claim: ending}, held); diff != "" {
		t.Errorf("what stands in the way (-want +got):\n%s", diff)
	}
	if _, ok := s.Get(Session("b")); ok || s.Len() != 2 {
		t.Error("a claim that was not given holds a key")
	}
	no() // frees nothing of the other's
	if s.Len() != 2 {
		t.Errorf("%d keys held after the release of a claim that was not given, want 2", s.Len())
	}

	release()
	if s.Len() != 0 {
		t.Errorf("%d keys held after the release, want 0", s.Len())
	}
	if _, held := s.Take(Claim{What: "resuming"}, Session("a")); held != nil {
		t.Errorf("taking what was released = %+v", held)
	}
	release() // the second time it must not free what is another's by now
	if c, ok := s.Get(Session("a")); !ok || c.What != "resuming" {
		t.Errorf("after a second release session a is held by %+v, %v", c, ok)
	}
}

// TestTakeNothing: an action that needs no key is never in anyone's way.
func TestTakeNothing(t *testing.T) {
	s := New()
	s.Watch(func() { t.Error("a change was told that none was") })
	for range 2 {
		release, held := s.Take(Claim{What: "launching"}, Session(""))
		if held != nil || s.Len() != 0 {
			t.Errorf("Take = %+v with %d keys held", held, s.Len())
		}
		release()
	}
}

// TestWatch counts the changes that are told, and comes back to the set from within the telling.
func TestWatch(t *testing.T) {
	s := New()
	var told []int
	s.Watch(func() { told = append(told, s.Len()) })
	again := 0
	s.Watch(func() { again++ })
	release, _ := s.Take(Claim{}, Session("a"), Card("c"))
	s.Take(Claim{}, Session("a")) // changes nothing
	s.Get(Session("a"))
	release()
	release()
	if diff := cmp.Diff([]int{2, 0}, told); diff != "" || again != 2 {
		t.Errorf("held at each change told (-want +got), the second watcher heard %d:\n%s", again, diff)
	}
}

// TestAsModel takes and releases at random beside a plain map.
func TestAsModel(t *testing.T) {
	keys := []Key{"", Session("a"), Session("b"), Card("a"), Card("b"), Launch("a"), Launch("b")}
	rapid.Check(t, func(t *rapid.T) {
		s := New()
		held := map[Key]int{} // by the number of the claim
		type taking struct {
			release func()
			given   bool
		}
		var takings []taking
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				want := rapid.SliceOfN(rapid.SampledFrom(keys), 0, 4).Draw(t, "keys")
				n := len(takings)
				release, in := s.Take(Claim{What: fmt.Sprint(n), Since: core.Instant(n)}, want...)
				way := slices.IndexFunc(want, func(k Key) bool { _, ok := held[k]; return ok })
				takings = append(takings, taking{release, way < 0})
				if way < 0 {
					if in != nil {
						t.Fatalf("Take(%v) is stopped by %+v, but all are free", want, in)
					}
					for _, k := range want {
						if k != "" {
							held[k] = n
						}
					}
				} else if in == nil || in.Key != want[way] || in.Claim.What != fmt.Sprint(held[want[way]]) {
					t.Fatalf("Take(%v) = %+v, want it stopped by %q of claim %d", want, in, want[way], held[want[way]])
				}
			},
			"release": func(t *rapid.T) {
				if len(takings) == 0 {
					t.Skip()
				}
				n := rapid.IntRange(0, len(takings)-1).Draw(t, "claim")
				takings[n].release()
				if takings[n].given {
					maps.DeleteFunc(held, func(_ Key, by int) bool { return by == n })
				}
			},
			"": func(t *rapid.T) {
				if s.Len() != len(held) {
					t.Fatalf("Len = %d, want %d", s.Len(), len(held))
				}
				for _, k := range keys {
					c, ok := s.Get(k)
					if by, want := held[k]; ok != want || ok && c.What != fmt.Sprint(by) {
						t.Fatalf("Get(%q) = %+v, %v, want %v of claim %d", k, c, ok, want, by)
					}
				}
			},
		})
	})
}

// TestTogether lets many goroutines fight for pairs of keys. Whoever holds a key marks it, and finds it
// unmarked.
func TestTogether(t *testing.T) {
	s := New()
	var changes, given, refused atomic.Int64
	s.Watch(func() { changes.Add(1); s.Len() })
	const things = 5
	var marks [things]atomic.Int64
	var g sync.WaitGroup
	for worker := range 8 {
		g.Go(func() {
			for i := range 2000 {
				a := (worker + i) % things
				b := (a + 1 + i%(things-1)) % things
				mine := int64(worker + 1)
				release, held := s.Take(Claim{By: fmt.Sprint(mine)}, Card(fmt.Sprint(a)), Card(fmt.Sprint(b)))
				if held != nil {
					refused.Add(1)
					release()
					continue
				}
				given.Add(1)
				for _, n := range []int{a, b} {
					if !marks[n].CompareAndSwap(0, mine) {
						t.Errorf("card %d has two holders", n)
					}
				}
				for _, n := range []int{a, b} {
					marks[n].Store(0)
				}
				release()
				release()
			}
		})
	}
	g.Wait()
	if s.Len() != 0 || given.Load() == 0 || changes.Load() != 2*given.Load() {
		t.Errorf("%d keys held, %d claims given, %d refused, %d changes told", s.Len(), given.Load(), refused.Load(), changes.Load())
	}
	t.Logf("%d claims given, %d refused", given.Load(), refused.Load())
}
