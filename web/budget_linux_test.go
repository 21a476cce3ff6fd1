//go:build !race

package web

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	"tower/core"
)

// cpu is the time this process has computed: other programs of the machine do not count.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The budgets of the list: 15 ms for a page at a new revision, 2 ms at one that was told before.
func TestListBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	f := newFake(picture(noon, 10000, 500))
	s := New(Options{Engine: f, Secrets: newMemory()})
	ask := func(path string) time.Duration {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
		w.Body.Grow(1 << 20)
		r.Header.Set("Accept-Encoding", "gzip")
		began := cpu()
		s.mux.ServeHTTP(w, r)
		if w.Code != 200 {
			t.Fatalf("%s = %d", path, w.Code)
		}
		return cpu() - began
	}
	median := func(n int, f func() time.Duration) time.Duration {
		all := make([]time.Duration, n)
		for i := range all {
			all[i] = f()
		}
		slices.Sort(all)
		return all[n/2]
	}
	move := func(i int) {
		f.publish(func(p *core.Snapshot) {
			v := *p.Rows[i].Session
			v.LastSeen++
			p.Rows[i].Session = &v
		})
	}
	ask("/api/sessions?limit=1000")
	cold := median(9, func() time.Duration { move(3); return ask("/api/sessions?limit=1000") })
	same := median(9, func() time.Duration { return ask("/api/sessions?limit=1000") })
	since := median(9, func() time.Duration {
		known := f.Snapshot().Revision
		move(4)
		return ask(fmt.Sprintf("/api/sessions?since=%d", known))
	})
	lively := median(9, func() time.Duration { move(5); return ask("/api/live") })
	t.Logf("CPU, 10,000 sessions: page cold %v, same revision %v, difference %v, live %v", cold, same, since, lively)
	for _, c := range []struct {
		name        string
		got, budget time.Duration
	}{{"page cold", cold, 15 * time.Millisecond}, {"same revision", same, 2 * time.Millisecond}, {"difference", since, 15 * time.Millisecond}, {"live", lively, 3 * time.Millisecond}} {
		if c.got > c.budget {
			t.Errorf("%s takes %v of CPU, budget %v", c.name, c.got, c.budget)
		}
	}
}
