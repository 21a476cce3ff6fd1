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

func TestPageLaunches(t *testing.T) {
	f := newFake(picture(time.Now(), 40, 0))
	shown := f.Snapshot().Rows[20].ID
	refusal := &core.Refusal{What: "Not launched.", Why: "/home/dev/none is no folder.", Hint: "Choose another."}
	f.answer = func(c core.Command) (core.Result, error) {
		switch c.CWD {
		case "/home/dev/none":
			return core.Result{}, refusal
		case "/home/dev/broken":
			return core.Result{}, errors.New("open window: kitty exited with 1")
		}
		return core.Result{Said: "Launched Codex in kitty.", Launch: &core.LaunchResult{Token: "t", Agent: c.Agent, Session: shown, Cautions: []string{"The prompt is in a file."}}}, nil
	}
	w := start(t, f)
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`document.querySelectorAll('.grid .s').length > 10`)
	b.run(`document.querySelectorAll('.grid .s')[4].focus(); window.before = document.activeElement`)
	b.do(chromedp.KeyEvent("n"))
	b.until(`document.activeElement.name === 'cwd'`)
	folders := func() []string {
		return js[[]string](b, `[...document.querySelector('dialog [name=cwd]').list.options].map(o => o.value)`)
	}
	if got, want := folders(), f.Snapshot().Agents[0].Folders; !slices.Equal(got, want) {
		t.Errorf("folders of the first agent = %q, want %q", got, want)
	}
	if js[bool](b, `!!document.querySelector('dialog option b, dialog label b')`) {
		t.Error("a folder's name became markup")
	}
	b.press("dialog", "Codex")
	if got, want := folders(), f.Snapshot().Agents[1].Folders; !slices.Equal(got, want) {
		t.Errorf("folders of the second agent = %q, want %q", got, want)
	}
	// The driver types a key's letter even where the page took the key; a person's browser does not.
	b.run(`document.querySelector('dialog [name=cwd]').value = ''`)
	// Nothing but the tower says what is wrong with it.
	b.press("dialog", "Launch")
	b.says("dialog .no", "The folder (cwd) is missing: a session starts in one.")
	b.fill("dialog [name=cwd]", "~/code\r")
	b.says("dialog .no", "The folder has to be a full path, from the root on.")
	b.fill("dialog [name=cwd]", "/home/dev/none\r")
	b.says("dialog .no", "Not launched. /home/dev/none is no folder. Choose another.")
	for _, theme := range []string{"light", "dark"} {
		b.run(fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme))
		for _, width := range widths {
			b.size(width, 900)
			b.frames()
			for _, what := range js[[]string](b, overflowing) {
				t.Errorf("%d px, %s: %s", width, theme, what)
			}
			b.look(fmt.Sprintf("launch-%s-%d", theme, width))
		}
	}
	b.size(1400, 900)
	b.fill("dialog [name=cwd]", "/home/dev/broken\r")
	b.says("dialog .no.sick", "open window: kitty exited with 1")
	b.fill("dialog [name=cwd]", "/home/dev/it's \"here\"")
	b.fill("dialog [name=model]", "gpt-5.5")
	b.fill("dialog [name=name]", "Tile cache")
	b.fill("dialog textarea", "Look at `x`.\r$(then) 🙂 stop")
	b.press("dialog", "Launch")
	b.says("dialog .no", "Launched Codex in kitty. The prompt is in a file.Show it")
	if got := js[string](b, `document.activeElement.textContent`); got != "Close" {
		t.Errorf("after the launch the focus is on %q", got)
	}
	if js[bool](b, `[...document.querySelectorAll('dialog button')].some(x => x.textContent === 'Launch') || !!document.querySelector('dialog input')`) {
		t.Error("the form can be sent twice")
	}
	b.look("launched")
	want := []core.Command{
		{Kind: core.CommandLaunch, Agent: "codex", CWD: "/home/dev/none", By: "page"},
		{Kind: core.CommandLaunch, Agent: "codex", CWD: "/home/dev/broken", By: "page"},
		{Kind: core.CommandLaunch, Agent: "codex", CWD: "/home/dev/it's \"here\"", Model: "gpt-5.5", Name: "Tile cache", Text: "Look at `x`.\n$(then) 🙂 stop", By: "page"},
	}
	if diff := cmp.Diff(want, f.commands()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	b.press("dialog", "Show it")
	b.until(fmt.Sprintf(`!document.querySelector('dialog') && document.querySelector('.op[data-key="o:%s"]')`, shown))
	b.until(fmt.Sprintf(`document.querySelector('[data-id="%s"]').getAttribute('aria-expanded') === 'true'`, shown))
	// Closed with Escape, the form leaves the focus where it was; the button in the bar opens it too.
	b.run(`document.getElementById('launch').focus(); document.getElementById('launch').click()`)
	b.until(`document.activeElement.name === 'cwd'`)
	b.do(chromedp.KeyEvent("\u001b"))
	b.until(`!document.querySelector('dialog') && document.activeElement.id === 'launch'`)
}

func TestPageResumes(t *testing.T) {
	f := newFake(picture(time.Now(), 40, 0))
	id := f.Snapshot().Rows[20].ID // of Claude Code
	row := f.Snapshot().Rows[20]
	f.answer = func(c core.Command) (core.Result, error) {
		if c.CWD == "" {
			return core.Result{}, &core.Refusal{What: "Not resumed.", Why: "Its folder ~/code/vault-wt2 is gone.", Hint: "Resume in ~/code/vault instead, or continue with another agent."}
		}
		return core.Result{Said: "Resumed it in kitty."}, nil
	}
	w := start(t, f)
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`document.querySelectorAll('.grid .s').length > 10`)
	b.open(id)
	b.press(".op", "Resume")
	b.until(`document.activeElement.name === 'model'`)
	display := map[core.Agent]string{"claude": "Claude Code", "codex": "Codex"}[row.Agent]
	if got := b.text("dialog .v"); got != display+" fixed: only "+display+" can read its own transcript. To change agents use “Continue with…”." {
		t.Errorf("the agent is said to be %q", got)
	}
	if js[bool](b, `!!document.querySelector('dialog .seg, dialog select')`) {
		t.Error("the agent can be chosen")
	}
	b.do(chromedp.KeyEvent("\r"))
	b.says("dialog .no", "Not resumed. Its folder ~/code/vault-wt2 is gone. Resume in ~/code/vault instead, or continue with another agent.")
	for _, width := range widths {
		b.size(width, 900)
		b.frames()
		for _, what := range js[[]string](b, overflowing) {
			t.Errorf("%d px: %s", width, what)
		}
		b.look(fmt.Sprintf("resume-%d", width))
	}
	b.size(1400, 900)
	b.fill("dialog [name=cwd]", "/home/dev/code/other")
	b.fill("dialog [name=model]", "opus")
	b.press("dialog", "Resume")
	b.says(answer, "Resumed it in kitty.")
	b.until(`!document.querySelector('dialog') && document.querySelector('.grid').contains(document.activeElement)`)
	want := []core.Command{
		{Kind: core.CommandResume, Session: id, By: "page"},
		{Kind: core.CommandResume, Session: id, Model: "opus", CWD: "/home/dev/code/other", By: "page"},
	}
	if diff := cmp.Diff(want, f.commands()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

func TestPageContinues(t *testing.T) {
	f := newFake(picture(time.Now(), 40, 0))
	f.publish(func(s *core.Snapshot) {
		s.Agents = append(s.Agents, core.AgentState{Agent: "gemini", Display: "Gemini CLI", Code: "GM", Installed: true}, core.AgentState{Agent: "other", Display: "Other", Code: "OT", Install: "npm install -g other"})
	})
	row := f.Snapshot().Rows[20]
	f.answer = func(c core.Command) (core.Result, error) {
		if c.Text == "" {
			return core.Result{}, &core.Refusal{What: "Not continued.", Why: "It is still running, and two agents never work on one thread.", Hint: "End it first."}
		}
		return core.Result{Said: "Handed over to Gemini CLI."}, nil
	}
	w := start(t, f)
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`document.querySelectorAll('.grid .s').length > 10`)
	b.open(row.ID)
	b.press(".op", "Continue with…")
	b.until(`document.querySelector('dialog .seg button') === document.activeElement`)
	others := []string{"Claude Code", "Codex", "Gemini CLI"}
	others = slices.DeleteFunc(others, func(s string) bool { return strings.HasPrefix(strings.ToLower(s), string(row.Agent)) })
	if got := js[[]string](b, `[...document.querySelectorAll('dialog .seg button')].map(x => x.textContent)`); !slices.Equal(got, others) {
		t.Errorf("who can take over = %q, want %q", got, others)
	}
	b.press("dialog", "Continue")
	b.says("dialog .no", "Not continued. It is still running, and two agents never work on one thread. End it first.")
	b.look("continue")
	b.press("dialog", "Gemini CLI")
	b.fill("dialog [name=model]", "auto")
	b.fill("dialog textarea", "Finish it.")
	b.press("dialog", "Continue")
	b.says(answer, "Handed over to Gemini CLI.")
	first := core.Agent("claude")
	if row.Agent == "claude" {
		first = "codex"
	}
	want := []core.Command{
		{Kind: core.CommandContinue, Session: row.ID, Agent: first, By: "page"},
		{Kind: core.CommandContinue, Session: row.ID, Agent: "gemini", Model: "auto", Text: "Finish it.", By: "page"},
	}
	if diff := cmp.Diff(want, f.commands()); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	// With nobody else installed the form says so, and how to change it.
	f.publish(func(s *core.Snapshot) {
		s.Agents = slices.Clone(s.Agents)
		for i := range s.Agents {
			s.Agents[i].Installed = s.Agents[i].Agent == row.Agent
		}
	})
	b.until(fmt.Sprintf(`__tower.revision === %d`, f.Snapshot().Revision))
	b.press(".op", "Continue with…")
	b.until(`document.querySelector('dialog h2 ~ p')`)
	if got := b.text("dialog .body"); !strings.HasPrefix(got, "No other agent is installed") || !strings.Contains(got, "npm install -g other") {
		t.Errorf("with nobody to take over = %q", got)
	}
}

func TestPageWithoutAgentsOrFolders(t *testing.T) {
	f := newFake(picture(time.Now(), 0, 0))
	f.publish(func(s *core.Snapshot) { s.Agents[0].Folders, s.Agents[1].Folders = nil, nil })
	w := start(t, f)
	b := newTab(t)
	b.size(800, 700)
	b.signIn(w, "/")
	b.press(".void", "Launch")
	b.until(`document.activeElement.name === 'cwd'`)
	if got := b.text("dialog .form > div:nth-of-type(2)"); !strings.Contains(got, "Claude Code has run in no folder yet: write the full path of one that exists.") {
		t.Errorf("without folders = %q", got)
	}
	b.look("launch-no-folder")
	b.press("dialog", "Cancel")
	b.until(`!document.querySelector('dialog')`)
	f.publish(func(s *core.Snapshot) {
		s.Agents = slices.Clone(s.Agents)
		for i := range s.Agents {
			s.Agents[i].Installed, s.Agents[i].Why = false, "Looked for it on PATH: /usr/bin."
		}
	})
	b.until(`document.querySelector('.void').innerText.includes('No agent is installed')`)
	b.do(chromedp.KeyEvent("n"))
	b.until(`document.querySelector('dialog h2 ~ p')`)
	got := b.text("dialog")
	for _, want := range []string{"No agent is installed", "npm install -g @openai/codex", "Looked for it on PATH: /usr/bin."} {
		if !strings.Contains(got, want) {
			t.Errorf("without an agent the form says %q, lacks %q", got, want)
		}
	}
	if js[bool](b, `!!document.querySelector('dialog .btn.main')`) {
		t.Error("there is a button that can launch nothing")
	}
	b.look("launch-no-agent")
}

// TestPageShowsLaunches follows launches through their states; nothing else is rendered for them.
func TestPageShowsLaunches(t *testing.T) {
	now := time.Now()
	f := newFake(picture(now, 60, 0))
	resumed := f.Snapshot().Rows[30]
	w := start(t, f)
	b := newTab(t)
	b.size(1400, 900)
	b.signIn(w, "/")
	b.until(`__tower.rows === 60 && document.title.startsWith('(2)')`)
	before := js[[]int](b, `[__tower.renders, __tower.built]`)
	if !js[bool](b, `document.querySelector('.launches').hidden`) {
		t.Error("launches are shown where there are none")
	}
	entry := core.Launching{Token: "a", Agent: "codex", CWD: "/home/dev/code/atlas", Name: "Tile <b>cache</b>", Terminal: "kitty", RequestedAt: core.InstantOf(now), State: core.LaunchOpening}
	second := core.Launching{Token: "b", Agent: "claude", CWD: "/home/dev/code/vault", RequestedAt: core.InstantOf(now), Expect: resumed.ID, State: core.LaunchStarted}
	set := func(list ...core.Launching) { f.publish(func(s *core.Snapshot) { s.Launches = list }) }
	first := `document.querySelector('.ln')?.innerText.replace(/\s+/g, ' ')`
	set(entry, second)
	b.until(first + `.includes('Opening in kitty.') && document.querySelectorAll('.ln').length === 2`)
	b.run(`window.node = document.querySelector('.ln')`)
	if got := js[string](b, `document.querySelectorAll('.ln')[1].innerText`); !strings.Contains(got, "Started, no session yet.") || !strings.Contains(got, resumed.TitleText) {
		t.Errorf("a resumed session = %q, want the title %q", got, resumed.TitleText)
	}
	if js[bool](b, `!!document.querySelector('.ln .cut b')`) || !js[bool](b, first+`.includes('Tile <b>cache</b>')`) {
		t.Error("a name became markup")
	}
	entry.State, entry.Text = core.LaunchBlocked, "whether this folder is trusted"
	set(entry, second)
	b.until(first + `.includes('Stopped by a dialog: whether this folder is trusted.') && document.querySelector('.ln .st.waiting').textContent === 'Waits: dialog'`)
	for _, theme := range []string{"light", "dark"} {
		b.run(fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme))
		for _, width := range widths {
			b.size(width, 900)
			b.frames()
			for _, what := range js[[]string](b, overflowing) {
				t.Errorf("%d px, %s: %s", width, theme, what)
			}
			b.look(fmt.Sprintf("launches-%s-%d", theme, width))
		}
	}
	b.size(1400, 900)
	b.frames()
	before[1] = js[int](b, `__tower.built`) // the narrow window showed other rows
	entry.State, entry.Text, entry.Lines = core.LaunchFailed, "It ended after 0.8 s.", []string{"error: no such model", "\x1b[31m<script>"}
	set(entry)
	b.until(first + `.includes('It ended after 0.8 s.') && document.querySelectorAll('.ln').length === 1`)
	if got := js[string](b, `document.querySelector('.ln pre').textContent`); got != "error: no such model\n\x1b[31m<script>" {
		t.Errorf("last lines = %q", got)
	}
	if !js[bool](b, `node === document.querySelector('.ln')`) {
		t.Error("an entry was built anew instead of painted")
	}
	if after := js[[]int](b, `[__tower.renders, __tower.built]`); !slices.Equal(before, after) {
		t.Errorf("renders, built = %v after the launches, want %v", after, before)
	}
	b.look("launch-failed")
	b.press(".ln", "Launch again…")
	b.until(`document.activeElement.name === 'cwd'`)
	if got := js[[]string](b, `[document.querySelector('dialog [name=cwd]').value, document.querySelector('dialog [name=name]').value, document.querySelector('dialog [aria-pressed=true]').textContent]`); !slices.Equal(got, []string{"/home/dev/code/atlas", "Tile <b>cache</b>", "Codex"}) {
		t.Errorf("launched again with %q", got)
	}
	b.do(chromedp.KeyEvent("\u001b"))
	set()
	b.until(`document.querySelector('.launches').hidden && !document.querySelector('.ln')`)
}
