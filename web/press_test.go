package web

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"tower/core"
)

// open opens the panel of a row and waits for what it says.
func (b *tab) open(id core.SessionID) {
	b.t.Helper()
	b.run(fmt.Sprintf(`document.querySelector('[data-id="%s"]').getAttribute('aria-expanded') === 'true' || document.querySelector('[data-id="%s"]').click()`, id, id))
	b.until(fmt.Sprintf(`document.querySelector('.op[data-key="o:%s"]')?.innerText.includes('1 run')`, id))
}

// press clicks the button of that name, in the panel, a dialog or wherever within says.
func (b *tab) press(within, name string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`[...document.querySelectorAll('%s button')].some(x => x.textContent.trim() === %q)`, within, name))
	b.run(fmt.Sprintf(`(x => { x.focus(); x.click(); })([...document.querySelectorAll('%s button')].find(x => x.textContent.trim() === %q))`, within, name))
}

// fill types into the field of that name.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.run(fmt.Sprintf(`(x => { x.focus(); x.select(); })(document.querySelector(%q))`, selector))
	b.do(chromedp.KeyEvent(text))
}

// says waits until the sentence stands there, whitespace made one.
func (b *tab) says(selector, want string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(document.querySelector(%q)?.innerText || '').replace(/\s+/g, ' ').trim() === %q`, selector, want))
}

const (
	answer = ".op .no[role=status]"
	spoken = "section > .sr[aria-live]"
)

func TestPagePressesEveryButton(t *testing.T) {
	f := newFake(picture(time.Now(), 40, 0))
	w := start(t, f)
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`document.querySelectorAll('.grid .s').length > 10`)
	rows := f.Snapshot().Rows
	refuse := func(what, why, hint string) error { return &core.Refusal{What: what, Why: why, Hint: hint} }
	for _, c := range []struct {
		name   string
		row    int
		press  string
		faint  bool // it says beforehand that it will be refused
		result core.Result
		err    error
		want   *core.Command // nil: nothing is sent
		says   string
		then   string // a button that stands behind the sentence
	}{
		{"jump", 5, "Jump", false, core.Result{Said: "Jumped to kitty, tab 3."}, nil, &core.Command{Kind: core.CommandJump}, "Jumped to kitty, tab 3.", ""},
		{"jump without a window", 5, "Jump", false, core.Result{}, refuse("No window to jump to.", "The agent runs (pid 39120) but its terminal is gone.", "Attach to it, or end it."), &core.Command{Kind: core.CommandJump},
			"No window to jump to. The agent runs (pid 39120) but its terminal is gone. Attach to it, or end it.", ""},
		{"jump to one that ended", 20, "Jump", true, core.Result{}, refuse("No window to jump to.", "It has ended.", "Resume it."), &core.Command{Kind: core.CommandJump}, "No window to jump to. It has ended. Resume it.", ""},
		{"attach", 5, "Attach", false, core.Result{Said: "Attached in kitty."}, nil, &core.Command{Kind: core.CommandAttach}, "Attached in kitty.", ""},
		{"attach to one that ended", 20, "Attach", true, core.Result{}, refuse("Not attached.", "It has ended.", "Resume it."), &core.Command{Kind: core.CommandAttach}, "Not attached. It has ended. Resume it.", ""},
		{"end", 5, "End", false, core.Result{Said: "Ended Docs.", End: &core.EndResult{Ended: true, WindowClosed: ref(true)}}, nil, &core.Command{Kind: core.CommandEnd}, "Ended Docs.Resume", "Resume"},
		{"end of one without a window", 5, "End", false, core.Result{Said: "Ended Docs.", End: &core.EndResult{Ended: true}}, nil, &core.Command{Kind: core.CommandEnd}, "Ended Docs.Resume", "Resume"},
		{"end, and the window stays", 5, "End", false, core.Result{Said: "Ended Docs. Its window is still open.", End: &core.EndResult{Ended: true, WindowClosed: ref(false), Detail: "A shell with a job of its own runs in it."}}, nil, &core.Command{Kind: core.CommandEnd},
			"Ended, window still open. A shell with a job of its own runs in it.Resume", "Resume"},
		{"end of one that lives on", 2, "End", false, core.Result{Said: "Not ended. Process 7 still runs 5 s after SIGTERM. It can be ended by force.", End: &core.EndResult{Detail: "Process 7 still runs 5 s after SIGTERM."}}, nil, &core.Command{Kind: core.CommandEnd},
			"Not ended. Process 7 still runs 5 s after SIGTERM. It can be ended by force.End by force", "End by force"},
		{"end of a thread of a daemon", 3, "End", true, core.Result{}, refuse("Not ended.", rows[3].Live.NoEnd, "Nothing was signalled."), &core.Command{Kind: core.CommandEnd}, "Not ended. " + rows[3].Live.NoEnd + " Nothing was signalled.", ""},
		{"end of one that ended", 20, "End", true, core.Result{}, refuse("Not ended.", "It is over already.", "Resume takes it up again."), &core.Command{Kind: core.CommandEnd}, "Not ended. It is over already. Resume takes it up again.", ""},
		{"end that failed", 5, "End", false, core.Result{}, errors.New("signal process 7: operation not permitted"), &core.Command{Kind: core.CommandEnd}, "signal process 7: operation not permitted", ""},
		{"resume of one that runs", 5, "Resume", true, core.Result{}, refuse("Not resumed.", "It is running.", "Jump to it."), &core.Command{Kind: core.CommandResume}, "Not resumed. It is running. Jump to it.", ""},
		{"continue of one that runs", 5, "Continue with…", true, core.Result{}, nil, nil, "Not continued. It is still running, and two agents never work on one thread. End it first.", ""},
		{"close out", 5, "Close out", false, core.Result{Said: "Delivered /closeout."}, nil, &core.Command{Kind: core.CommandCloseout, Text: "live"}, "Delivered /closeout.", ""},
		{"close out one that waits", 0, "Close out", true, core.Result{}, refuse("Not delivered.", "This session waits on a permission; typed text would answer it.", "Jump to it."), &core.Command{Kind: core.CommandCloseout, Text: "live"},
			"Not delivered. This session waits on a permission; typed text would answer it. Jump to it.", ""},
		{"close out one that ended", 20, "Close out", false, core.Result{Said: "Resumed for its closeout."}, nil, &core.Command{Kind: core.CommandCloseout}, "Resumed for its closeout.", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			id := rows[c.row].ID
			f.answer = func(core.Command) (core.Result, error) { return c.result, c.err }
			before := len(f.commands())
			b.open(id)
			if got := js[[]string](b, `[...document.querySelectorAll('.op [aria-label=Actions] button')].map(x => x.textContent)`); !slices.Equal(got, []string{"Jump", "End", "Resume", "Continue with…", "Close out", "Attach"}) {
				t.Errorf("buttons = %q", got)
			}
			faint := js[[]string](b, fmt.Sprintf(`(x => [String(x.getAttribute('aria-disabled') === 'true' && getComputedStyle(x).borderStyle === 'dashed'), x.title, String(x.disabled)])([...document.querySelectorAll('.op button')].find(x => x.textContent === %q))`, c.press))
			if faint[0] != fmt.Sprint(c.faint) || c.faint != (faint[1] != "") || faint[2] != "false" {
				t.Errorf("faint, why, disabled = %q, want faint %v", faint, c.faint)
			}
			b.press(".op", c.press)
			b.says(answer, c.says)
			did := f.commands()[before:]
			if c.want == nil {
				if len(did) != 0 {
					t.Errorf("sent %v", did)
				}
			} else {
				c.want.Session, c.want.By = id, "page"
				if diff := cmp.Diff([]core.Command{*c.want}, did); diff != "" {
					t.Errorf("command (-want +got):\n%s", diff)
				}
			}
			if got := js[[]string](b, `[...document.querySelectorAll('`+answer+` button')].map(x => x.textContent)`); strings.Join(got, "") != c.then {
				t.Errorf("behind the sentence stands %q, want %q", got, c.then)
			}
			if !js[bool](b, `(r => r.top >= 0 && r.bottom <= innerHeight)(document.querySelector('`+answer+`').getBoundingClientRect())`) {
				t.Error("the answer is not where the eye is")
			}
			b.look("press-" + strings.ReplaceAll(c.name, " ", "-"))
			if c.then == "" {
				return
			}
			// What stands behind the sentence can be pressed, and the focus is not lost by it.
			f.answer = func(core.Command) (core.Result, error) { return core.Result{Said: "Done so."}, nil }
			b.press(answer, c.then)
			b.says(answer, "Done so.")
			then := core.Command{Kind: core.CommandResume, Session: id, By: "page"}
			if c.then == "End by force" {
				then = core.Command{Kind: core.CommandEnd, Session: id, By: "page", Force: true}
			}
			if diff := cmp.Diff(then, f.commands()[before+1]); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
			if got := js[string](b, `document.activeElement.textContent`); got != "End" {
				t.Errorf("the focus went to %q", got)
			}
		})
	}
	b.t = t
	// A panel that is closed forgets what was said in it.
	id := rows[20].ID
	b.run(fmt.Sprintf(`document.querySelector('[data-id="%s"]').click()`, id))
	b.until(`!document.querySelector('.op')`)
	b.open(id)
	if got := b.text(answer); got != "(none)" {
		t.Errorf("an answer from before = %q", got)
	}
}

// TestPageFollowsWhatWasEnded ends a session: its row goes to another group, and the sentence goes with it
// and stays in sight.
func TestPageFollowsWhatWasEnded(t *testing.T) {
	f := newFake(picture(time.Now(), 40, 0))
	id := f.Snapshot().Rows[7].ID
	began, gone := make(chan struct{}), make(chan struct{})
	f.answer = func(c core.Command) (core.Result, error) {
		if c.Kind != core.CommandEnd {
			return core.Result{Said: "Resumed."}, nil
		}
		f.publish(func(s *core.Snapshot) { s.Rows[7].Busy = "ending" })
		close(began)
		<-gone
		f.publish(func(s *core.Snapshot) {
			i := slices.IndexFunc(s.Rows, func(r core.Row) bool { return r.ID == id })
			r := s.Rows[i]
			v := *r.Session
			v.Status, v.EndedAt, v.LastSeen = core.StatusKilled, core.InstantOf(time.Now()), core.InstantOf(time.Now().Add(-50*time.Hour))
			r.Session, r.Live, r.Busy, r.Group = &v, nil, "", core.GroupPast
			s.Rows = append(slices.Delete(s.Rows, i, i+1), r)
		})
		return core.Result{Said: "Ended it.", End: &core.EndResult{Ended: true, WindowClosed: ref(true)}}, nil
	}
	w := start(t, f)
	b := newTab(t)
	b.size(1400, 700)
	b.signIn(w, "/")
	b.until(`document.querySelectorAll('.grid .s').length > 10`)
	b.open(id)
	b.press(".op", "End")
	<-began
	b.until(fmt.Sprintf(`document.querySelector('[data-id="%s"] .st').textContent === 'Ending…'`, id))
	b.until(`[...document.querySelectorAll('.op [aria-label=Actions] button')].every(x => x.getAttribute('aria-disabled') === 'true' && x.title === 'An action is under way: ending.')`)
	b.look("busy")
	// Pressed meanwhile, a button says what is under way, and nothing is sent.
	b.press(".op", "Resume")
	b.says(answer, "Not done. Another action is under way on it: ending. Wait for it to end.")
	if got := f.commands(); len(got) != 1 {
		t.Errorf("commands = %v", got)
	}
	b.press(".op", "End")
	close(gone)
	b.says(answer, "Ended it.Resume")
	b.until(fmt.Sprintf(`document.querySelector('[data-id="%s"] .st').textContent === 'Ended'`, id))
	b.until(`(r => r.top >= 0 && r.bottom <= innerHeight)(document.querySelector('` + answer + `').getBoundingClientRect())`)
	if !js[bool](b, `scrollY > 100 && document.querySelector('.op').contains(document.activeElement)`) {
		t.Errorf("the page is at %d, the focus on %s", js[int](b, `scrollY`), js[string](b, `document.activeElement.outerHTML.slice(0, 80)`))
	}
	b.look("followed")
	b.press(answer, "Resume")
	b.says(answer, "Resumed.")
	if got := f.commands(); len(got) != 2 || got[1].Kind != core.CommandResume || got[1].Session != id {
		t.Errorf("commands = %v", got)
	}
	// One that leaves the list by its end says so above it.
	other := f.Snapshot().Rows[6].ID
	f.answer = func(c core.Command) (core.Result, error) {
		f.publish(func(s *core.Snapshot) {
			s.Rows = slices.DeleteFunc(s.Rows, func(r core.Row) bool { return r.ID == other })
		})
		return core.Result{Said: "Ended the other.", End: &core.EndResult{Ended: true}}, nil
	}
	b.run(`scrollTo(0, 0)`)
	b.frames()
	b.open(other)
	b.press(".op", "End")
	b.says(".notice", "Ended the other.Resume")
}

func TestPageJumpsFromTheRow(t *testing.T) {
	f := newFake(picture(time.Now(), 40, 0))
	f.answer = func(c core.Command) (core.Result, error) { return core.Result{Said: "Jumped to xterm."}, nil }
	w := start(t, f)
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`document.querySelectorAll('.grid .s').length > 10`)
	first, second := f.Snapshot().Rows[0].ID, f.Snapshot().Rows[1].ID
	if got := js[int](b, `[...document.querySelectorAll('.grid .go')].filter(x => !x.hidden).length`); got != 2 {
		t.Errorf("%d rows have a button, want the 2 that wait", got)
	}
	b.press(fmt.Sprintf(`[data-id="%s"]`, first), "Jump")
	b.says(spoken, "Jumped to xterm.")
	if js[bool](b, `!!document.querySelector('.op')`) {
		t.Error("a jump that went well opened the row")
	}
	f.answer = func(c core.Command) (core.Result, error) {
		return core.Result{}, &core.Refusal{What: "No window to jump to.", Why: "Its terminal is gone."}
	}
	b.run(fmt.Sprintf(`document.querySelector('[data-id="%s"]').focus()`, second))
	b.do(chromedp.KeyEvent("J"))
	b.says(answer, "No window to jump to. Its terminal is gone.")
	if got := js[string](b, `document.querySelector('.op').dataset.key`); got != "o:"+string(second) {
		t.Errorf("opened %s", got)
	}
	want := []core.Command{{Kind: core.CommandJump, Session: first, By: "page"}, {Kind: core.CommandJump, Session: second, By: "page"}}
	if diff := cmp.Diff(want, f.commands()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestPageTypes(t *testing.T) {
	f := newFake(picture(time.Now(), 40, 0))
	const no = "Not delivered. This session waits on a permission; typed text would answer it. Jump to it, or send again when it works on."
	f.answer = func(c core.Command) (core.Result, error) {
		if c.Session == f.Snapshot().Rows[0].ID {
			return core.Result{}, &core.Refusal{What: "Not delivered.", Why: "This session waits on a permission; typed text would answer it.", Hint: "Jump to it, or send again when it works on."}
		}
		return core.Result{Said: "Delivered."}, nil
	}
	w := start(t, f)
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`document.querySelectorAll('.grid .s').length > 10`)
	waits, idle, over := f.Snapshot().Rows[0].ID, f.Snapshot().Rows[5].ID, f.Snapshot().Rows[20].ID
	b.open(waits)
	b.press(".chat", "Send") // nothing typed: nothing sent
	b.until(`document.activeElement.matches('.chat textarea')`)
	b.do(chromedp.KeyEvent("Use reload instead <b>if</b> it has one."))
	b.press(".chat", "Send")
	b.says(".chat .no.warn", no)
	if got := js[string](b, `document.querySelector('.chat textarea').value`); got != "Use reload instead <b>if</b> it has one." {
		t.Errorf("what was typed is %q after a refusal", got)
	}
	for _, width := range widths {
		b.size(width, 900)
		b.run(`document.querySelector('.chat').scrollIntoView({block: 'center'})`)
		b.frames()
		for _, what := range js[[]string](b, overflowing) {
			t.Errorf("%d px: %s", width, what)
		}
		b.look(fmt.Sprintf("type-%d", width))
	}
	b.size(1400, 900)
	// The draft is there when the panel comes back.
	b.open(idle)
	if got := js[string](b, `document.querySelector('.chat textarea').value`); got != "" {
		t.Errorf("the box of another session holds %q", got)
	}
	b.open(waits)
	if got := js[string](b, `document.querySelector('.chat textarea').value`); !strings.HasPrefix(got, "Use reload") {
		t.Errorf("the draft is %q", got)
	}
	b.open(idle)
	b.run(`document.querySelector('.chat textarea').focus()`)
	b.do(chromedp.KeyEvent("jJ n?\r"), chromedp.KeyEvent("two"))
	b.run(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true}))`)
	b.says(".chat .no", "Delivered.")
	if got := js[string](b, `document.querySelector('.chat textarea').value`); got != "" {
		t.Errorf("the box holds %q after the delivery", got)
	}
	want := []core.Command{
		{Kind: core.CommandType, Session: waits, Text: "Use reload instead <b>if</b> it has one.", By: "page"},
		{Kind: core.CommandType, Session: idle, Text: "jJ n?\ntwo", By: "page"},
	}
	if diff := cmp.Diff(want, f.commands()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	b.open(over)
	if !js[bool](b, `document.querySelector('.chat').hidden`) {
		t.Error("one that ended has a box to type into")
	}
}
