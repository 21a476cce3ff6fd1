package proc

import (
	"errors"
	"testing"
	"time"

	"tower/core"
)

func watching(t *testing.T) (*Watcher, chan core.Process) {
	t.Helper()
	gone := make(chan core.Process, 8)
	w := NewWatcher(func(p core.Process) { gone <- p })
	t.Cleanup(func() { w.Close() })
	if err := w.Watch(Self()); errors.Is(err, ErrNoWatch) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	w.Forget(Self())
	return w, gone
}

func process(t *testing.T, pid int) core.Process {
	t.Helper()
	start, ok := Start(pid)
	if !ok {
		t.Fatalf("no start of %d", pid)
	}
	return core.Process{Boot: Boot(), PID: pid, Start: start}
}

func expect(t *testing.T, gone chan core.Process, want core.Process) {
	t.Helper()
	select {
	case got := <-gone:
		if got != want {
			t.Fatalf("gone(%v), want %v", got, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("the end of %v was not told", want)
	}
}

func TestWatch(t *testing.T) {
	w, gone := watching(t)
	one, two, forgotten := start(t, "", nil), start(t, "", nil), start(t, "", nil)
	p1, p2, p3 := process(t, one.pid), process(t, two.pid), process(t, forgotten.pid)
	for _, p := range []core.Process{p1, p2, p3, p1} { // one of them twice
		if err := w.Watch(p); err != nil {
			t.Fatal(err)
		}
	}
	w.Forget(p3)
	forgotten.end()
	two.end()
	expect(t, gone, p2) // and not p3, which ended before
	one.end()
	expect(t, gone, p1)
	if err := w.Watch(p1); !errors.Is(err, ErrGone) {
		t.Errorf("Watch after the end = %v, want ErrGone", err)
	}
	w.Close()
	select {
	case p := <-gone:
		t.Errorf("the end of %v was told twice or though it was forgotten", p)
	default:
	}
}

func TestWatchRecycled(t *testing.T) {
	w, _ := watching(t)
	c := start(t, "", nil)
	p := process(t, c.pid)
	p.Start-- // as if the pid had belonged to somebody else before
	if err := w.Watch(p); !errors.Is(err, ErrGone) {
		t.Errorf("Watch of a recycled pid = %v, want ErrGone", err)
	}
}

func TestWatchManyTimes(t *testing.T) {
	// Descriptors are used again at once here; a stale event must not end a new watch.
	w, gone := watching(t)
	stays := start(t, "", nil)
	p := process(t, stays.pid)
	for range 20 {
		c := start(t, "", nil)
		q := process(t, c.pid)
		if err := w.Watch(q); err != nil {
			t.Fatal(err)
		}
		c.end()
		if err := w.Watch(p); err != nil {
			t.Fatal(err)
		}
		expect(t, gone, q)
		w.Forget(p)
	}
}

func TestWatchClosed(t *testing.T) {
	w, gone := watching(t)
	c := start(t, "", nil)
	p := process(t, c.pid)
	if err := w.Watch(p); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
	c.end()
	select {
	case p := <-gone:
		t.Errorf("gone(%v) after Close", p)
	default:
	}
	if err := w.Watch(Self()); err == nil {
		t.Error("Watch after Close gave no error")
	}
	w.Forget(p)
}
