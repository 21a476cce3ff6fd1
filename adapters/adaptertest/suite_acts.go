package adaptertest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tower/core"
)

// noSession is an id that no sample has.
const noSession = "7f3c1f0e-0000-4000-8000-00000000dead"

// samples returns the sessions of the filled folder that a person had.
func (s Suite) samples(t *testing.T) (core.Adapter, []core.Session, []core.Facts) {
	t.Helper()
	if s.Fill == nil {
		t.Skip("no recorded transcripts")
	}
	a, root := s.adapter(t)
	s.Fill(t, root)
	var all []core.Session
	var facts []core.Facts
	for _, src := range sources(t, a) {
		scan, err := a.Scan(t.Context(), src, core.Cursor{})
		if err != nil {
			t.Fatalf("Scan: %v", err)
		}
		for _, d := range scan.Deltas {
			if f := d.Facts; f.Class == core.ClassMain {
				all = append(all, core.Session{Agent: f.Agent, Native: f.Native, CWD: f.CWD, Transcript: src.Path})
				facts = append(facts, f)
			}
		}
	}
	if len(all) == 0 {
		t.Skip("no recorded session of a person")
	}
	return a, all, facts
}

func (s Suite) kept(t *testing.T) {
	a, all, _ := s.samples(t)
	if k, ok := a.(core.Keeper); ok {
		kept := 0
		for _, x := range all {
			if k.Holds(t.Context(), x) != nil {
				continue
			}
			kept++
			other := x
			other.Native = noSession
			notHeld(t, k, other, "with another id")
		}
		if kept == 0 {
			t.Error("Holds refuses every sample")
		}
	}
	if l, ok := a.(core.Teller); ok {
		told := 0
		for _, x := range all {
			text, err := l.LastMessage(t.Context(), x)
			if err != nil || !utf8.ValidString(text) {
				t.Errorf("LastMessage of %s = %q, %v", x.Transcript, text, err)
			}
			if text != "" {
				told++
			}
		}
		if told == 0 {
			t.Error("LastMessage tells nothing of any sample")
		}
	}
	for _, x := range all {
		if err := os.Remove(x.Transcript); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	for _, x := range all {
		if k, ok := a.(core.Keeper); ok {
			notHeld(t, k, x, "whose transcript is gone")
		}
		if l, ok := a.(core.Teller); ok {
			if text, _ := l.LastMessage(t.Context(), x); text != "" {
				t.Errorf("LastMessage of a transcript that is gone = %q", text)
			}
		}
	}
}

func notHeld(t *testing.T, k core.Keeper, s core.Session, what string) {
	t.Helper()
	var refusal *core.Refusal
	if err := k.Holds(t.Context(), s); !errors.As(err, &refusal) || refusal.What != "Not resumed." || !strings.HasSuffix(refusal.Why, ".") {
		t.Errorf("Holds of a session %s = %v, want a refusal", what, err)
	}
}

func (s Suite) confirms(t *testing.T) {
	a, all, facts := s.samples(t)
	c, ok := a.(core.Confirmer)
	if !ok {
		t.Skip("the agent confirms no typed text")
	}
	confirmed := 0
	for i, x := range all {
		for text, might := range map[string]bool{facts[i].First: true, "never typed " + noSession: false} {
			got, err := c.Typed(t.Context(), x, text, 0)
			if err != nil || got && !might {
				t.Errorf("Typed(%s, %q) = %v, %v", x.Transcript, text, got, err)
			}
			if got {
				confirmed++
				if late, err := c.Typed(t.Context(), x, text, facts[i].LastAt+1000); late || err != nil {
					t.Errorf("Typed(%s, %q) after its last line = %v, %v", x.Transcript, text, late, err)
				}
			}
		}
	}
	if confirmed == 0 {
		t.Error("Typed finds the first prompt of no sample")
	}
	if got, err := c.Typed(t.Context(), core.Session{Native: noSession, CWD: "/home/dev/proj"}, "x", 0); got || err != nil {
		t.Errorf("Typed of a session without a transcript = %v, %v", got, err)
	}
}

func (s Suite) doors(t *testing.T) {
	a, root := s.adapter(t)
	d, ok := a.(core.Doorkeeper)
	if !ok {
		t.Skip("the agent's dialogs are not known")
	}
	for _, dir := range []string{t.TempDir(), "/home/dev/no such folder", "", "relative"} {
		for _, asks := range d.Dialogs(dir) {
			if asks == "" || strings.ContainsAny(asks, "\n") || strings.HasSuffix(asks, ".") {
				t.Errorf("Dialogs(%q) asks %q, which ends no sentence", dir, asks)
			}
		}
	}
	if left, _ := os.ReadDir(root); len(left) > 0 {
		t.Errorf("Dialogs wrote %v", left)
	}
}

func (s Suite) screens(t *testing.T) {
	a, _ := s.adapter(t)
	r, ok := a.(core.Screener)
	if !ok {
		t.Skip("the agent's screen is not read")
	}
	for _, tail := range []string{"", "\n\n", "$ ls\nfile\n$", "total 0\n", "Do you want to proceed?", "1. Yes\n2. No", strings.Repeat("x", 1<<16), "\xff\x00\x1b[31m"} {
		if got := r.Screen("title", tail); got != (core.Screen{}) {
			t.Errorf("Screen(%.40q) = %+v, want nothing seen", tail, got)
		}
	}
}

func (s Suite) skills(t *testing.T) {
	a, _ := s.adapter(t)
	k, ok := a.(core.Skiller)
	if !ok {
		t.Skip("the agent runs no skills")
	}
	for _, name := range []string{"closeout", "", "..", "../../etc", "a/b", "*"} {
		if prompt, installed := k.Skill(name, t.TempDir()); installed || prompt == "" && name == "closeout" {
			t.Errorf("Skill(%q) = %q, %v in an empty folder", name, prompt, installed)
		}
	}
}

func (s Suite) adopts(t *testing.T) {
	a, root := s.adapter(t)
	d, ok := a.(core.Adopter)
	if !ok {
		t.Skip("the agent lists no threads it began")
	}
	if got, err := d.Begun(t.Context(), "/home/dev/proj", 0); len(got) != 0 || err != nil {
		t.Errorf("Begun in an empty folder = %v, %v", got, err)
	}
	if left, _ := os.ReadDir(root); len(left) > 0 {
		t.Errorf("Begun wrote %v", left)
	}
	if s.Fill == nil {
		return
	}
	s.Fill(t, root)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, dir := range []string{"/home/dev/proj", "/p", "/nowhere at all"} {
		got, err := d.Begun(ctx, dir, 0)
		if err != nil {
			t.Fatalf("Begun: %v", err)
		}
		for _, b := range got {
			if b.Native == "" || b.At == 0 || filepath.Clean(b.CWD) != dir {
				t.Errorf("Begun in %s = %+v", dir, b)
			}
			if late, err := d.Begun(ctx, dir, b.At+1); err != nil || slices.Contains(late, b) {
				t.Errorf("Begun after %s still holds %s, %v", b.At, b.Native, err)
			}
		}
	}
}

// commands looks at what an adapter would have run for a sighting.
func (s Suite) commands(t *testing.T, a core.Adapter, x core.Sighting) {
	t.Helper()
	session := core.Session{Agent: x.Agent, Native: x.Native, CWD: x.CWD}
	shape := func(what string, l core.Launch, ok bool) {
		t.Helper()
		if ok && (len(l.Argv) == 0 || l.Argv[0] == "" || l.Dir == "") {
			t.Errorf("%s of %s = %+v: command or folder is missing", what, x.Native, l)
		}
		if !ok && len(l.Argv) > 0 {
			t.Errorf("%s of %s is not possible and yet %q", what, x.Native, l.Argv)
		}
	}
	if k, ok := a.(core.Stopper); ok {
		l, can := k.Stop(session, x)
		shape("Stop", l, can)
		if can && len(x.Signal) > 0 {
			t.Errorf("%s can be stopped by a command and by a signal", x.Native)
		}
	}
	if k, ok := a.(core.Attacher); ok {
		l, can := k.Attach(session, x)
		shape("Attach", l, can)
	}
	if k, ok := a.(core.Deliverer); ok {
		l, can := k.Deliver(session, x, "a text")
		shape("Deliver", l, can)
	}
}
