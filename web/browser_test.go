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
			text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.href + "\n" + (document.querySelector("dialog") || document.body).innerText.slice(0, 900) + "\n" + document.activeElement.outerHTML.slice(0,300)`))
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
