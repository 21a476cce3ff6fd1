package web

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"tower/core"
)

// The browser is the one that Debian calls chromium. Where it is missing these tests fail, unless
// TOWER_TEST_SKIP names them: a page nobody looked at is not a page that works.
var browser = sync.OnceValues(func() (context.Context, error) {
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			program = p
			break
		}
	}
	if program == "" {
		return nil, fmt.Errorf("no chromium on PATH; install it, or set TOWER_TEST_SKIP=browser")
	}
	o := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-background-networking", true))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), o...)
	ctx, end := chromedp.NewContext(alloc)
	closeBrowser = func() { end(); stop() }
	return ctx, chromedp.Do(ctx)
})

var closeBrowser = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	closeBrowser()
	os.Exit(code)
}

// tab is one browser without a past, signed in nowhere.
type tab struct {
	t   *testing.T
	ctx context.Context
}

func newTab(t *testing.T) *tab {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("TOWER_TEST_SKIP"), ","), "browser") {
		t.Skip("TOWER_TEST_SKIP names browser: the page is not looked at in this run")
	}
	b, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(b, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	ctx, late := context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(late)
	return &tab{t, ctx}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// run evaluates an expression, a promise awaited, for its effect.
func (b *tab) run(expr string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](expr, chromedp.EvalAwaitPromise))
}

// js evaluates an expression.
func js[T any](b *tab, expr string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expr, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expr, err)
	}
	return v
}

// until waits for an expression to become true. It survives a navigation in between.
func (b *tab) until(expr string) {
	b.t.Helper()
	tick := time.NewTicker(30 * time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute) // the machine may be busy; what is right is right long before
	for {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expr+")"))
		if err == nil && ok {
			return
		}
		select {
		case <-late:
			text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 400)`))
			b.t.Fatalf("never true: %s (%v)\nthe page says:\n%s", expr, err, text)
		case <-tick.C:
		}
	}
}

func (b *tab) text(selector string) string {
	b.t.Helper()
	return js[string](b, fmt.Sprintf(`(document.querySelector(%q) || {innerText: "(none)"}).innerText`, selector))
}

// size sets the window; the page sees a screen of that many pixels.
func (b *tab) size(w, h int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(w, h))
}

// signIn goes the way of a person: a page on disk posts the ticket.
func (b *tab) signIn(w *tower, path string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "open.html")
	if err := os.WriteFile(file, TicketPage(w.URL(), w.ticket(path)), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Navigate("file://" + file))
	b.until(`location.pathname === '/' && document.querySelector('#main > section') !== null`)
}

// look writes a picture of the page where TOWER_SHOTS says, for a person to look at.
func (b *tab) look(name string) {
	b.t.Helper()
	dir := os.Getenv("TOWER_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

var widths = []int64{360, 800, 1400}

// overflowing lists what sticks out of the window, by the text's own range: a padded box's rectangle
// includes its padding.
const overflowing = `(() => {
  const out = [], wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) out.push('document scrolls sideways: ' + document.documentElement.scrollWidth);
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walk.nextNode());) {
    if (!n.data.trim()) continue;
    const p = n.parentElement, s = getComputedStyle(p);
    if (s.visibility === 'hidden' || p.closest('.sr, .skip, script, style, noscript, svg')) continue;
    const r = document.createRange(); r.selectNodeContents(n);
    for (const b of r.getClientRects()) {
      if (!b.width) continue;
      let box = p, cut = false;
      for (; box && box !== document.body; box = box.parentElement) if (getComputedStyle(box).overflowX !== 'visible') { cut = true; break; }
      if (!cut && (b.right > wide + 1 || b.left < -1)) out.push('outside: ' + n.data.slice(0, 40));
    }
  }
  for (const c of document.querySelectorAll('.grid .hd > *, .grid .s > *')) {
    if (getComputedStyle(c).display !== 'none' && c.getClientRects().length && c.getBoundingClientRect().width < 8) out.push('0 px column: ' + c.className);
  }
  for (const c of document.querySelectorAll('.grid .s > *, .btn, .st, .chip')) {
    if (c.getClientRects().length && c.scrollWidth > c.clientWidth + 1 && !c.querySelector('.cut') && !c.classList.contains('cut')) out.push('does not fit: ' + c.className + ' ' + c.textContent.slice(0, 30));
  }
  for (const c of document.querySelectorAll('button, a, select, input')) {
    const b = c.getBoundingClientRect();
    if (b.width && b.height < 23.5 && !c.closest('p, .sr, .skip, dd, li, .small')) out.push('target ' + Math.round(b.height) + ' px high: ' + c.textContent.slice(0, 30));
  }
  return [...new Set(out)];
})()`

func TestPageSignsInAndFits(t *testing.T) {
	f := newFake(picture(time.Now(), 500, 143))
	f.heat = years(time.Now())
	w := start(t, f)
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`document.querySelectorAll('.grid .s').length > 10`)
	if got, want := b.text("h1 + .two"), "8 live, 500 in all, 143 hidden"; got != want {
		t.Errorf("counts = %q, want %q", got, want)
	}
	b.until(`document.title === '(2) Sessions · Tower'`)
	for _, view := range []string{"sessions", "history", "health"} {
		b.run(fmt.Sprintf(`location.hash = %q`, view))
		b.until(map[string]string{"sessions": `document.querySelector('.grid .s')`, "history": `document.querySelector('.heat path')`, "health": `document.querySelector('tbody tr .st')`}[view])
		for _, theme := range []string{"light", "dark"} {
			for _, width := range widths {
				b.size(width, 900)
				b.run(fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme))
				b.frames()
				for _, what := range js[[]string](b, overflowing) {
					t.Errorf("%s, %d px, %s: %s", view, width, theme, what)
				}
				b.look(fmt.Sprintf("%s-%s-%d", view, theme, width))
			}
		}
	}
	// The measure itself: what sticks out is found.
	b.run(`document.body.append(Object.assign(document.createElement('p'), {id: 'probe', textContent: 'x'.repeat(400)})); probe.style.whiteSpace = 'nowrap'; probe.style.overflowWrap = 'normal'`)
	if len(js[[]string](b, overflowing)) == 0 {
		t.Error("text that sticks out of the window was not found")
	}
	b.run(`probe.remove(); location.hash = 'sessions'`)
	for _, width := range widths {
		b.size(width, 900)
		b.run(`scrollTo(0, 0)`)
		b.frames()
		b.run(`document.querySelectorAll('.grid .s')[1].click()`)
		b.until(`document.querySelector('.grid .op dd')?.textContent.length > 3 && document.querySelector('.op').innerText.includes('1 run')`)
		b.frames()
		for _, what := range js[[]string](b, overflowing) {
			t.Errorf("open row, %d px: %s", width, what)
		}
		b.look(fmt.Sprintf("open-%d", width))
		b.run(`document.querySelectorAll('.grid .s')[1].click()`)
		b.until(`!document.querySelector('.grid .op')`)
	}
}

// TestPageWithLargeType gives the browser twice the usual type: the page counts as half as wide, rows grow
// with their text, and the list still knows where everything stands.
func TestPageWithLargeType(t *testing.T) {
	w := start(t, newFake(picture(time.Now(), 200, 0)))
	b := newTab(t)
	b.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, page.SetFontSizes, page.SetFontSizesParams{FontSizes: &page.FontSizes{Standard: 32, Fixed: 26}})
		return chromedp.Void{}, err
	})
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`document.querySelectorAll('.grid .s').length > 5`)
	if got := js[string](b, `getComputedStyle(document.documentElement).fontSize`); got != "32px" {
		t.Fatalf("type is %s, want 32px: the test does not do what it says", got)
	}
	for _, view := range []string{"history", "health", "sessions"} {
		b.run(fmt.Sprintf(`location.hash = %q`, view))
		for _, width := range []int64{720, 1400} {
			b.size(width, 900)
			b.frames()
			for _, what := range js[[]string](b, overflowing) {
				t.Errorf("%s, %d px: %s", view, width, what)
			}
			b.look(fmt.Sprintf("large-%s-%d", view, width))
		}
	}
	b.run(`scrollTo(0, document.documentElement.scrollHeight)`)
	b.frames()
	if gap := js[float64](b, `(r => r.at(-1).getBoundingClientRect().bottom - document.querySelector('.grid').getBoundingClientRect().bottom)([...document.querySelectorAll('.grid .s')])`); gap < -3 || gap > 3 {
		t.Errorf("the last row ends %v px from the end of the list", gap)
	}
	if got := js[bool](b, `[...document.querySelectorAll('.grid .s')].every(s => s.scrollHeight <= s.clientHeight + 1)`); !got {
		t.Error("a row is lower than its text")
	}
}

// frames lets the page paint twice, so that what a resize asked for has been done.
func (b *tab) frames() {
	b.t.Helper()
	b.run(`new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))`)
}

// years is a history of three years for one agent and of one for the other.
func years(now time.Time) []core.Heat {
	var out []core.Heat
	for i := range 1000 {
		day := now.AddDate(0, 0, -i).Format(isoDay)
		if i%7 > 4 && i%3 > 0 || (i/60)%4 == 3 {
			continue
		}
		out = append(out, core.Heat{Day: day, Agent: "claude", Turns: i * 7919 % 31})
		if i < 380 {
			out = append(out, core.Heat{Day: day, Agent: "codex", Turns: i * 104729 % 17})
		}
	}
	return out
}

func TestPagePaintsInPlace(t *testing.T) {
	now := time.Now()
	f := newFake(picture(now, 500, 143))
	w := start(t, f)
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`__tower.rows === 500 && document.querySelectorAll('.grid .s').length > 10`)
	b.until(`document.title.startsWith('(2)')`)
	before := js[[]int](b, `[__tower.renders, __tower.built]`)
	b.run(`window.kept = document.querySelectorAll('.grid .s')[2]; window.seen = 0; new MutationObserver(l => { for (const m of l) if (m.type === 'childList' && [...m.addedNodes].some(n => n.nodeType === 1 && n.matches('.s, .gp'))) seen++; }).observe(document.querySelector('.grid'), {childList: true, subtree: true});`)
	// Two ticks on which nothing that is shown changed but times, then one on which a pill did.
	id := f.Snapshot().Rows[2].ID
	for tick := range 2 {
		snap := f.publish(func(s *core.Snapshot) {
			r := *s.Rows[2].Session
			r.LastSeen = core.InstantOf(now.Add(time.Duration(tick+1) * time.Second))
			s.Rows[2].Session = &r
		})
		b.until(fmt.Sprintf(`__tower.revision === %d`, snap.Revision))
	}
	f.publish(func(s *core.Snapshot) {
		l := *s.Rows[2].Live
		l.Pill = core.PillIdle
		s.Rows[2].Live = &l
		r := *s.Rows[2].Session
		r.ContextTokens = ref(int64(180000))
		s.Rows[2].Session = &r
	})
	b.until(fmt.Sprintf(`document.querySelector('[data-id="%s"] .st').textContent === 'Idle'`, id))
	b.until(fmt.Sprintf(`document.querySelector('[data-id="%s"] .c-ctx .bar.full') && document.querySelector('[data-id="%s"] .c-ctx .p').textContent === '90 %%'`, id, id))
	if !js[bool](b, `kept.isConnected && kept === document.querySelectorAll('.grid .s')[2]`) {
		t.Error("the row was built anew instead of painted")
	}
	if after := js[[]int](b, `[__tower.renders, __tower.built]`); !slices.Equal(before, after) {
		t.Errorf("renders, built = %v after three ticks, want %v", after, before)
	}
	if n := js[int](b, `seen`); n != 0 {
		t.Errorf("%d rows were put into the list on ticks, want 0", n)
	}
	// A session that starts to wait changes its group: that is a render.
	f.publish(func(s *core.Snapshot) {
		r := s.Rows[3]
		l := *r.Live
		l.Pill, l.Wait, l.Ask = core.PillWaiting, core.WaitDialog, "Trust this folder?"
		r.Live, r.Group = &l, core.GroupNeedsYou
		s.Rows = slices.Insert(slices.Delete(s.Rows, 3, 4), 0, r)
	})
	b.until(`document.title.startsWith('(3)') && document.querySelectorAll('.grid .s')[0].querySelector('.st').textContent === 'Waits: dialog'`)
	if after := js[int](b, `__tower.renders`); after != before[0]+1 {
		t.Errorf("renders = %d after a session changed its group, want %d", after, before[0]+1)
	}
}

func TestPageShowsEveryPill(t *testing.T) {
	snap := picture(time.Now(), 60, 4)
	at := func(i int, change func(*core.Session, *core.Row)) {
		s := *snap.Rows[i].Session
		change(&s, &snap.Rows[i])
		snap.Rows[i].Session = &s
	}
	at(20, func(s *core.Session, _ *core.Row) { s.Status, s.EndReason = core.StatusEnded, "clear" })
	at(21, func(s *core.Session, _ *core.Row) { s.Status, s.EndReason = core.StatusKilled, "" })
	at(22, func(s *core.Session, _ *core.Row) { s.Status, s.EndReason = core.StatusLost, "" })
	at(23, func(s *core.Session, _ *core.Row) { s.Status, s.EndReason = core.StatusEnded, "launch_failed" })
	at(24, func(s *core.Session, _ *core.Row) { s.Status = core.StatusStarting })
	at(25, func(s *core.Session, _ *core.Row) { s.Status = core.StatusLive })
	w := start(t, newFake(snap))
	b := newTab(t)
	b.size(1400, 3000)
	b.signIn(w, "/")
	b.until(`document.querySelectorAll('.grid .s').length === 60`)
	for _, c := range []struct {
		row               int
		class, word, hint string
	}{
		{0, "st waiting", "Waits: permission", "Bash: systemctl restart vault-signer"},
		{1, "st waiting", "Waits: question", "Keep the old entry point as a thin wrapper, or break callers now?"},
		{2, "st working", "Working", ""},
		{4, "st shell", "Shell", ""},
		{5, "st idle", "Idle", ""},
		{6, "st starting", "Starting", ""},
		{7, "st raw", "compacting", "The agent reports a status Tower does not know"},
		{20, "st ended", "Ended", "Exited (clear)"},
		{21, "st ended", "Ended", "Ended by you"},
		{22, "st ended", "Ended", "Its process went away untold"},
		{23, "st bad", "Failed", "Its launch failed"},
		{24, "st starting", "Starting", "Launched, not yet heard of"},
		{25, "st raw", "No reading", "It was running when last seen; nobody can say what it does now"},
	} {
		got := js[[]string](b, fmt.Sprintf(`(s => [s.className, s.textContent, s.title, s.querySelector('use').getAttribute('href')])(document.querySelector('[data-id="%s"] .st'))`, snap.Rows[c.row].ID))
		want := []string{c.class, c.word, c.hint, "#g-" + strings.TrimPrefix(c.class, "st ")}
		if !slices.Equal(got, want) {
			t.Errorf("pill of row %d = %q, want %q", c.row, got, want)
		}
	}
	// No reading is said in words beside a hatched track, never as a number.
	row := snap.Rows[4].ID
	if got := js[[]string](b, fmt.Sprintf(`(c => [c.querySelector('.bar').className, c.innerText.trim(), getComputedStyle(c.querySelector('.bar')).backgroundImage.slice(0, 25)])(document.querySelector('[data-id="%s"] .c-ctx'))`, row)); !slices.Equal(got, []string{"bar none", "no reading", "repeating-linear-gradient"}) {
		t.Errorf("context without a reading = %q", got)
	}
	// The pill's ground is really painted: a token that does not exist would leave it bare.
	if got := js[string](b, `getComputedStyle(document.querySelector('.st.waiting')).backgroundColor`); got != "rgb(255, 181, 46)" {
		t.Errorf("ground of a waiting pill = %s", got)
	}
}

func TestPageTenThousandRows(t *testing.T) {
	w := start(t, newFake(picture(time.Now(), 10000, 1500)))
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`__tower.rows === 10000`)
	for _, where := range []string{"document.documentElement.scrollHeight", "150000", "0"} {
		b.run(`scrollTo(0, ` + where + `)`)
		b.frames()
		if n := js[int](b, `document.querySelectorAll('.grid .s').length`); n < 20 || n > 120 {
			t.Errorf("rows in the document at %s = %d, want a window's worth", where, n)
		}
		if !js[bool](b, `(() => { const e = document.elementFromPoint(300, 500); return !!(e && e.closest('.s')); })()`) {
			t.Errorf("nothing is drawn at %s", where)
		}
	}
	// The row that has the focus keeps it, however far the list is scrolled, and is no second row there.
	b.run(`document.querySelectorAll('.grid .s')[3].focus(); window.mine = document.activeElement`)
	b.run(`scrollTo(0, 200000)`)
	b.frames()
	if !js[bool](b, `document.activeElement === mine && mine.classList.contains('away')`) {
		t.Error("scrolling took the focus from the row that had it")
	}
	b.do(chromedp.KeyEvent("j"))
	b.frames()
	if !js[bool](b, `document.activeElement.matches('.s:not(.away)') && document.activeElement !== mine && document.activeElement.getBoundingClientRect().top > 0 && !document.querySelector('.away')`) {
		t.Error("the next row was not brought into the window")
	}
	if got := js[int](b, `+document.querySelector('.grid').getAttribute('aria-rowcount')`); got < 10000 || got > 10010 {
		t.Errorf("aria-rowcount = %d", got)
	}
	// Typing filters what is loaded and says how much that is.
	b.run(`document.getElementById("find").focus()`)
	b.do(chromedp.KeyEvent("idempotnecy"))
	b.until(`document.querySelector('.void').innerText.includes('No match for “idempotnecy”')`)
	if got := b.text(".void p"); got != "10,000 of 10,000 titles, first messages and folders were compared. Message text was not read." {
		t.Errorf("no match = %q", got)
	}
	b.look("no-match")
	b.do(chromedp.KeyEvent("\u001b"))
	b.until(`document.querySelectorAll('.grid .s').length > 20`)
	// Hidden ones come on demand and go again.
	b.run(`document.querySelector('[data-show=hidden]').click()`)
	b.until(`__tower.rows === 11500 && document.querySelector('.grid').getAttribute('aria-rowcount') > 11500`)
}

func TestPageEmptyStates(t *testing.T) {
	agents := picture(time.Now(), 0, 0).Agents
	none := slices.Clone(agents)
	for i := range none {
		none[i].Installed, none[i].Why = false, "Looked for it on PATH: /usr/local/bin, /usr/bin."
	}
	for _, c := range []struct {
		name, want string
		snap       *core.Snapshot
		change     func(*core.Snapshot)
	}{
		{"no agent", "No agent is installed", picture(time.Now(), 0, 0), func(s *core.Snapshot) { s.Agents = none }},
		{"no sessions", "No sessions yet\nTower looked for Claude Code, Codex and found no transcripts.", picture(time.Now(), 0, 0), nil},
		{"all hidden", "Every session is hidden", picture(time.Now(), 0, 5), nil},
		{"importing", "Reading what was there before", picture(time.Now(), 0, 0), func(s *core.Snapshot) { s.Import = core.Progress{Running: true, First: true, Done: 412, Total: 612} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.change != nil {
				c.change(c.snap)
			}
			w := start(t, newFake(c.snap))
			b := newTab(t)
			b.size(800, 600)
			b.signIn(w, "/")
			b.until(`!document.querySelector('.void').hidden && document.querySelector('.void').textContent`)
			if got := strings.ReplaceAll(b.text(".void"), "\n\n", "\n"); !strings.HasPrefix(got, c.want) {
				t.Errorf("page says %q, want %q", got, c.want)
			}
			if c.name == "no agent" && !strings.Contains(b.text(".void"), "npm install -g @openai/codex") {
				t.Errorf("page does not say how to get an agent: %q", b.text(".void"))
			}
			if c.name == "importing" && b.text("#notes") != "First import: 412 of 612 transcripts read." {
				t.Errorf("progress = %q", b.text("#notes"))
			}
			b.look("empty-" + strings.ReplaceAll(c.name, " ", "-"))
		})
	}
}

func TestPageWhenTheTowerIsDown(t *testing.T) {
	w := start(t, newFake(picture(time.Now(), 40, 0)))
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`document.querySelectorAll('.grid .s').length > 10 && document.querySelector('.link.ok')`)
	b.run(`navigator.serviceWorker.ready.then(() => 0)`)
	b.until(`navigator.serviceWorker.controller`)
	w.stop()
	b.until(`document.querySelector('#notes .no.sick')`)
	got := b.text("#notes")
	for _, want := range []string{"Tower is down since ", "Below is the last picture; nothing on it can be pressed.", "their events are kept for its return", "Start it with tower."} {
		if !strings.Contains(got, want) {
			t.Errorf("banner %q lacks %q", got, want)
		}
	}
	if !js[bool](b, `main.inert && getComputedStyle(main).filter.includes('grayscale') && document.querySelectorAll('.grid .s').length > 10`) {
		t.Error("the last picture is not grey and inert")
	}
	if got := js[string](b, `getComputedStyle(document.querySelector('#notes .no')).borderLeftColor`); got != "rgb(173, 46, 10)" {
		t.Errorf("banner's edge = %s, want vermilion", got)
	}
	if got := js[string](b, `document.title`); got != "Down · Sessions · Tower" {
		t.Errorf("title = %q", got)
	}
	b.frames()
	b.look("down")
	// Loaded anew while the tower is down, the page still says so: the document is kept, no session is.
	b.run(`location.reload()`)
	b.until(`document.querySelector('#notes .no.sick') && !document.querySelector('.grid .s')`)
	if got := b.text("#notes"); !strings.HasPrefix(got, "Tower is down since ") || strings.Contains(got, "last picture") {
		t.Errorf("banner of a page without a picture = %q", got)
	}
	kept := js[[]string](b, `caches.keys().then(ks => Promise.all(ks.map(k => caches.open(k).then(c => c.keys())))).then(l => l.flat().map(r => new URL(r.url).pathname))`)
	if !slices.Equal(kept, []string{"/"}) {
		t.Errorf("the worker keeps %q, want the document alone", kept)
	}
	// It comes back by itself, signed in as before, on the picture of the new process.
	start(t, newFake(picture(time.Now(), 25, 0)), func(o *Options) { o.Secrets, o.Port = w.kept, w.port })
	b.until(`!main.inert && document.querySelector('.link.ok') && __tower.rows === 25 && !document.querySelector('#notes .no')`)
	if got := b.text("h1 + .two"); got != "8 live, 25 in all, 0 hidden" {
		t.Errorf("counts after the return = %q", got)
	}
}

func TestPageActs(t *testing.T) {
	f := newFake(picture(time.Now(), 40, 0))
	f.resume = &core.Launch{Argv: []string{"claude", "--resume", "it's"}, Dir: "/home/dev/code/vault"}
	f.answer = func(c core.Command) (core.Result, error) {
		if c.Kind == core.CommandTag {
			return core.Result{}, &core.Refusal{What: "Not tagged.", Why: "The ledger is read-only.", Hint: "See Health."}
		}
		if c.Kind == core.CommandRename {
			f.publish(func(s *core.Snapshot) {
				for i := range s.Rows {
					if s.Rows[i].ID == c.Session {
						v := *s.Rows[i].Session
						v.Name = c.Text
						s.Rows[i].Session, s.Rows[i].TitleText = &v, c.Text
					}
				}
			})
		}
		return core.Result{Said: "Done."}, nil
	}
	w := start(t, f)
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`document.querySelectorAll('.grid .s').length > 10`)
	// Keys: down nine, open, and what stands there.
	for range 9 {
		b.do(chromedp.KeyEvent("j"))
	}
	b.do(chromedp.KeyEvent("x"))
	b.until(`document.activeElement.matches('.s[aria-expanded=true]') && document.querySelector('.op .copy:not([hidden])')`)
	if got, want := b.text(".op .copy code"), `cd /home/dev/code/vault && claude --resume 'it'\''s'`; got != want {
		t.Errorf("resume command = %q, want %q", got, want)
	}
	id := js[string](b, `document.activeElement.dataset.id`)
	b.run(`[...document.querySelectorAll('.op .btn')].find(x => x.textContent === 'Rename').click()`)
	b.until(`document.activeElement.id === 'asked'`)
	b.look("rename")
	b.do(chromedp.KeyEvent("Signer, second try\r"))
	b.until(`!document.querySelector('dialog') && document.querySelector('[data-id="` + id + `"] .t').textContent === 'Signer, second try'`)
	// A refusal stands in the dialog, in its own words.
	b.run(`[...document.querySelectorAll('.op .btn')].find(x => x.textContent === 'Tag').click()`)
	b.until(`document.activeElement.id === 'asked'`)
	b.do(chromedp.KeyEvent("infra, #night\r"))
	b.until(`document.querySelector('dialog .no')`)
	if got := b.text("dialog .no"); got != "Not tagged. The ledger is read-only. See Health." {
		t.Errorf("refusal = %q", got)
	}
	b.do(chromedp.KeyEvent("\u001b"))
	b.until(`!document.querySelector('dialog')`)
	b.run(`[...document.querySelectorAll('.op .btn')].find(x => x.textContent === 'Hide').click()`)
	b.until(`document.querySelector('.notice').textContent.includes('Undo')`)
	want := []core.Command{
		{Kind: core.CommandRename, Session: core.SessionID(id), Text: "Signer, second try", By: "page"},
		{Kind: core.CommandTag, Session: core.SessionID(id), Tags: []string{"infra", "night"}, By: "page"},
		{Kind: core.CommandHide, Session: core.SessionID(id), By: "page"},
	}
	if diff := cmp.Diff(want, f.commands()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	// The rest of the keys.
	b.do(chromedp.KeyEvent("?"))
	b.until(`document.querySelector('dialog kbd')`)
	b.look("keys")
	b.do(chromedp.KeyEvent("\u001b"))
	b.until(`!document.querySelector('dialog')`)
	for keys, hash := range map[string]string{"gh": "#history", "ge": "#health", "gs": "#sessions"} {
		for _, k := range keys {
			b.do(chromedp.KeyEvent(string(k)))
		}
		b.until(`location.hash === '` + hash + `'`)
	}
	b.do(chromedp.KeyEvent("/"))
	b.until(`document.activeElement.id === 'find'`)
}

func TestPageNameAccentTheme(t *testing.T) {
	snap := picture(time.Now(), 20, 0)
	snap.Name, snap.Accent = "Leuchtturm", "#ffd84d"
	w := start(t, newFake(snap))
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/?theme=light")
	b.until(`document.title === '(2) Sessions · Leuchtturm'`)
	// A pale yellow cannot be read on white: it is moved until it can.
	contrast := func(of string) float64 {
		return js[float64](b, `(() => {
			const lum = c => { const [r, g, b] = c.map(x => (x /= 255) <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
			const rgb = v => { const d = document.createElement('i'); d.style.color = v; document.body.append(d); const c = getComputedStyle(d).color.match(/\d+/g).slice(0, 3).map(Number); d.remove(); return c; };
			const [x, y] = [lum(rgb('var(--accent)')), lum(rgb('`+of+`'))];
			return (Math.max(x, y) + .05) / (Math.min(x, y) + .05); })()`)
	}
	for _, theme := range []string{"light", "dark"} {
		if got := js[string](b, `document.documentElement.dataset.theme`); got != theme {
			t.Fatalf("theme = %s, want %s", got, theme)
		}
		for _, ground := range []string{"var(--surface)", "var(--accent-bg)", "var(--on-accent)"} {
			if c := contrast(ground); c < 4.45 {
				t.Errorf("%s: contrast of the accent with %s = %.2f, want 4.5", theme, ground, c)
			}
		}
		b.run(`theme.click()`)
	}
}

func TestPageSignedOut(t *testing.T) {
	w := start(t, newFake(picture(time.Now(), 20, 0)))
	b := newTab(t)
	b.size(800, 700)
	b.do(chromedp.Navigate(w.URL() + "/"))
	b.until(`location.pathname === '/login'`)
	if got := b.text(".gate"); !strings.Contains(got, "tower url --ticket") || js[bool](b, `!!document.querySelector('input')`) {
		t.Errorf("log-in page without a password says %q", got)
	}
	b.look("login")
	if a := w.over("POST", "/api/password", `{"password":"correct horse"}`); a.Code != 200 {
		t.Fatalf("set password = %d %s", a.Code, a.Body)
	}
	b.do(chromedp.Navigate(w.URL() + "/login"))
	b.until(`document.activeElement.id === 'pw'`)
	b.do(chromedp.KeyEvent("wrong horse\r"))
	b.until(`document.querySelector('.gate .no')`)
	if got := b.text(".gate .no"); got != "That is not the password. Next try in 1 s." {
		t.Errorf("wrong password = %q", got)
	}
	b.look("login-wrong")
	w.word.mu.Lock()
	w.word.until = time.Time{}
	w.word.mu.Unlock()
	b.run(`pw.focus()`)
	b.do(chromedp.KeyEvent("correct horse\r"))
	b.until(`location.pathname === '/' && document.querySelectorAll('.grid .s').length === 20`)
	// The secrets that are kept are not those that were given, and the cookie is out of a script's reach.
	if got := js[string](b, `document.cookie`); got != "" {
		t.Errorf("a script can read the cookie %q", got)
	}
	key := js[string](b, `localStorage.getItem('tower.key')`)
	if kept, _ := w.kept.Get(secretDevices); key == "" || strings.Contains(kept, key) {
		t.Errorf("the page key %q is kept as it is, or missing: %s", key, kept)
	}
	// Signed out elsewhere, the page leaves by itself.
	for _, d := range w.devices.all() {
		if _, err := w.devices.remove(d.ID); err != nil {
			t.Fatal(err)
		}
	}
	b.run(`location.reload()`)
	b.until(`location.pathname === '/login'`)
}
