package web

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"tower/core"
)

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
