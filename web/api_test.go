package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

// asPeer asks the socket's door as the kernel would have told it.
func (w *tower) asPeer(p peer) int {
	r := httptest.NewRequest("GET", "/api/live", nil)
	rec := httptest.NewRecorder()
	w.Socket().ServeHTTP(rec, r.WithContext(context.WithValue(r.Context(), peerKey{}, p)))
	return rec.Code
}

type listAnswer struct {
	Revision int64
	Run      string
	Full     bool
	Total    int
	Next     *string
	Rows     []struct {
		ID     string `json:"asm_id"`
		Title  string
		Hidden string `json:"hidden_why"`
		At     *int
		Status string
	}
	Gone []string
}

func (w *tower) sessions(query string) listAnswer {
	w.t.Helper()
	a := w.over("GET", "/api/sessions?"+query, "")
	if a.Code != 200 {
		w.t.Fatalf("GET /api/sessions?%s = %d %s", query, a.Code, a.Body)
	}
	var v listAnswer
	a.into(w.t, &v)
	return v
}

func TestSessionsPageByPage(t *testing.T) {
	w := start(t, newFake(picture(noon, 450, 50)))
	var got []string
	after, pages := "", 0
	for {
		v := w.sessions("limit=100&after=" + after)
		if pages++; v.Total != 450 || !v.Full || v.Revision != 7 {
			t.Fatalf("page %d: total %d, full %v, revision %d", pages, v.Total, v.Full, v.Revision)
		}
		for _, r := range v.Rows {
			if r.Hidden != "" {
				t.Errorf("a hidden session is listed: %s", r.ID)
			}
			got = append(got, r.ID)
		}
		if v.Next == nil {
			break
		}
		after = *v.Next
	}
	var want []string
	for _, r := range w.engine.Snapshot().Rows {
		if r.Hidden == "" {
			want = append(want, string(r.ID))
		}
	}
	if pages != 5 || !cmp.Equal(got, want) {
		t.Errorf("%d pages with %d sessions, want 5 with %d in the tower's order", pages, len(got), len(want))
	}
	if v := w.sessions("all=1&limit=1000"); len(v.Rows) != 500 || v.Total != 500 {
		t.Errorf("all=1 lists %d of %d, want 500", len(v.Rows), v.Total)
	}
	if v := w.sessions(""); len(v.Rows) != usualPage {
		t.Errorf("a page without a limit has %d rows, want %d", len(v.Rows), usualPage)
	}
	if v := w.sessions("limit=999999&all=1"); len(v.Rows) != 500 {
		t.Errorf("a huge limit lists %d", len(v.Rows))
	}
}

func TestSessionsFilters(t *testing.T) {
	w := start(t, newFake(picture(noon, 60, 6)))
	rows := w.engine.Snapshot().Rows
	count := func(f func(r core.Row) bool) (n int) {
		for _, r := range rows {
			if f(r) {
				n++
			}
		}
		return n
	}
	for query, want := range map[string]int{
		"agent=codex":               count(func(r core.Row) bool { return r.Hidden == "" && r.Agent == "codex" }),
		"agent=codex&all=1":         count(func(r core.Row) bool { return r.Agent == "codex" }),
		"status=live":               8,
		"status=killed":             count(func(r core.Row) bool { return r.Hidden == "" && r.Status == core.StatusKilled }),
		"status=over&project=Vault": count(func(r core.Row) bool { return r.Hidden == "" && r.Status.Over() && r.Project == "vault" }),
		"agent=nobody":              0,
	} {
		if v := w.sessions(query); v.Total != want || len(v.Rows) != want {
			t.Errorf("%s: %d rows, total %d, want %d", query, len(v.Rows), v.Total, want)
		}
	}
	for query, code := range map[string]int{
		"status=dead": 400, "limit=-1": 400, "limit=x": 400, "since=1e3": 400, "after=../../etc/passwd": 400,
		"after=" + string(core.NewSessionID("claude", "nobody")): 410, "agent=" + strings.Repeat("a", 300): 400,
		"run=other&after=" + string(rows[0].ID): 410,
	} {
		if a := w.over("GET", "/api/sessions?"+query, ""); a.Code != code {
			t.Errorf("%s = %d, want %d", query, a.Code, code)
		}
	}
}

func TestSessionsSince(t *testing.T) {
	f := newFake(picture(noon, 30, 5))
	w := start(t, f)
	first := w.sessions("")
	since := fmt.Sprintf("since=%d&run=%s", first.Revision, first.Run)
	if v := w.sessions(since); v.Full || len(v.Rows) != 0 || len(v.Gone) != 0 {
		t.Errorf("nothing changed: %+v", v)
	}
	var hidden, gone, changed core.SessionID
	f.publish(func(s *core.Snapshot) {
		r := *s.Rows[12].Session
		r.Name, changed = "A new name", r.ID
		s.Rows[12].Session, s.Rows[12].TitleText = &r, r.Name
		s.Rows[20].Hidden, hidden = core.HiddenByHand, s.Rows[20].ID
	})
	w.sessions("limit=1") // the index notices a revision when somebody asks
	f.publish(func(s *core.Snapshot) {
		gone = s.Rows[25].ID
		s.Rows = append(s.Rows[:25], s.Rows[26:]...)
	})
	v := w.sessions(since)
	if v.Full || len(v.Rows) != 1 || v.Rows[0].ID != string(changed) || v.Rows[0].Title != "A new name" || v.Rows[0].At == nil || *v.Rows[0].At != 12 {
		t.Errorf("changed rows = %+v", v.Rows)
	}
	if want := []string{string(hidden), string(gone)}; !cmp.Equal(v.Gone, want) {
		t.Errorf("gone = %v, want %v", v.Gone, want)
	}
	if v := w.sessions(fmt.Sprintf("since=%d", first.Revision+1)); len(v.Rows) != 0 || !cmp.Equal(v.Gone, []string{string(gone)}) {
		t.Errorf("since the revision between: %d rows, gone %v", len(v.Rows), v.Gone)
	}
	if v := w.sessions(since + "&all=1"); len(v.Rows) != 2 || len(v.Gone) != 1 {
		t.Errorf("with hidden ones: %d rows, gone %v", len(v.Rows), v.Gone)
	}
	for _, query := range []string{"since=1", "since=999999", fmt.Sprintf("since=%d&run=other", first.Revision)} {
		if v := w.sessions(query); !v.Full || len(v.Rows) != 28 {
			t.Errorf("%s: full %v with %d rows, want a new start", query, v.Full, len(v.Rows))
		}
	}
	// Unchanged rows that change places among themselves are a new start too.
	now := f.Snapshot().Revision
	f.publish(func(s *core.Snapshot) { s.Rows[3], s.Rows[9] = s.Rows[9], s.Rows[3] })
	if v := w.sessions(fmt.Sprintf("since=%d", now)); !v.Full {
		t.Error("a new order was told as a difference")
	}
}

func TestSessionsAreGivenAgain(t *testing.T) {
	f := newFake(picture(noon, 300, 0))
	w := start(t, f)
	a := w.over("GET", "/api/sessions?limit=300", "", "Accept-Encoding", "gzip")
	if a.Header.Get("Content-Encoding") != "gzip" || a.Header.Get("Vary") != "Accept-Encoding" || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers = %v", a.Header)
	}
	z, err := gzip.NewReader(strings.NewReader(a.Body))
	if err != nil {
		t.Fatal(err)
	}
	open, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if plain := w.over("GET", "/api/sessions?limit=300", "", "Accept-Encoding", "identity"); plain.Body != string(open) {
		t.Error("packed and plain answers differ")
	}
	tag := a.Header.Get("ETag")
	if b := w.over("GET", "/api/sessions?limit=300", "", "If-None-Match", `"x", W/`+tag); b.Code != 304 || b.Body != "" {
		t.Errorf("the same revision = %d", b.Code)
	}
	if b := w.over("GET", "/api/sessions?limit=299", "", "If-None-Match", tag); b.Code != 200 {
		t.Errorf("another question = %d", b.Code)
	}
	f.publish(func(*core.Snapshot) {})
	if b := w.over("GET", "/api/sessions?limit=300", "", "If-None-Match", tag); b.Code != 200 {
		t.Errorf("a new revision = %d", b.Code)
	}
}

func TestLiveWaits(t *testing.T) {
	f := newFake(picture(noon, 20, 5))
	w := start(t, f)
	var v live
	w.over("GET", "/api/live", "").into(t, &v)
	if v.Counts.Live != 8 || v.Counts.Hidden != 5 || len(v.Status) != 8 || v.Status[0].Wait != core.WaitPermission || v.Status[4].Context != nil {
		t.Errorf("live = %+v", v)
	}
	answered := make(chan live, 1)
	go func() {
		var l live
		json.Unmarshal([]byte(w.over("GET", fmt.Sprintf("/api/live?since=%d&wait=50&run=%s", v.Revision, v.Run), "").Body), &l)
		answered <- l
	}()
	w.until(func() bool { return len(w.waiting) == 1 })
	began := time.Now()
	f.publish(func(s *core.Snapshot) { s.Name = "Renamed" })
	if l := <-answered; l.Revision != v.Revision+1 || l.Name != "Renamed" {
		t.Errorf("woken with revision %d, name %q", l.Revision, l.Name)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("woken after %v", d)
	}
	// What is no revision of this run is not waited for.
	for _, query := range []string{"since=1&wait=50", "since=99999&wait=50", fmt.Sprintf("since=%d&wait=50&run=other", v.Revision+1), "wait=50"} {
		if a := w.over("GET", "/api/live?"+query, ""); a.Code != 200 {
			t.Errorf("%s = %d", query, a.Code)
		}
	}
	if a := w.over("GET", fmt.Sprintf("/api/live?since=%d&wait=1", v.Revision+1), ""); a.Code != 200 {
		t.Errorf("a wait that ends = %d", a.Code)
	}
	for range maxWaiting {
		w.waiting <- struct{}{}
	}
	if a := w.over("GET", fmt.Sprintf("/api/live?since=%d&wait=50", v.Revision+1), ""); a.Code != 429 || a.Header.Get("Retry-After") != "5" {
		t.Errorf("too many waiting = %d, Retry-After %q", a.Code, a.Header.Get("Retry-After"))
	}
}

func TestServeEndsWhileSomebodyWaits(t *testing.T) {
	w := start(t, newFake(picture(noon, 5, 0)))
	answered := make(chan int, 1)
	go func() {
		r, err := w.socket.Get("http://tower/api/live?since=7&wait=50")
		if err != nil {
			answered <- 0
			return
		}
		r.Body.Close()
		answered <- r.StatusCode
	}()
	w.until(func() bool { return len(w.waiting) == 1 })
	w.stop()
	if code := <-answered; code != 200 {
		t.Errorf("who waited got %d, want the picture as it stood", code)
	}
}

func TestActions(t *testing.T) {
	f := newFake(picture(noon, 20, 5))
	w := start(t, f)
	id := f.Snapshot().Rows[0].ID
	at := func(verb string) string { return "/api/sessions/" + string(id) + "/" + verb }
	long := strings.Repeat("ä", core.MaxName/2)
	many, _ := json.Marshal(map[string]any{"tags": make([]string, core.MaxTags+1)})
	for _, c := range []struct {
		name, path, body string
		code             int
		want             *core.Command
	}{
		{"rename", at("rename"), `{"name":"  A name  "}`, 200, &core.Command{Kind: core.CommandRename, Session: id, Text: "A name", By: "cli"}},
		{"take the name away", at("rename"), `{"name":""}`, 200, &core.Command{Kind: core.CommandRename, Session: id, By: "cli"}},
		{"longest name", at("rename"), `{"name":"` + long + `"}`, 200, &core.Command{Kind: core.CommandRename, Session: id, Text: long, By: "cli"}},
		{"upper-case id", "/api/sessions/" + strings.ToUpper(string(id)) + "/hide", `{}`, 200, &core.Command{Kind: core.CommandHide, Session: id, By: "cli"}},
		{"describe", at("describe"), `{"description":"Two\nlines"}`, 200, &core.Command{Kind: core.CommandDescribe, Session: id, Text: "Two\nlines", By: "cli"}},
		{"tag", at("tag"), `{"tags":["infra"," night "]}`, 200, &core.Command{Kind: core.CommandTag, Session: id, Tags: []string{"infra", "night"}, By: "cli"}},
		{"no tags", at("tag"), `{"tags":[]}`, 200, &core.Command{Kind: core.CommandTag, Session: id, Tags: []string{}, By: "cli"}},
		{"hide without a body", at("hide"), ``, 200, &core.Command{Kind: core.CommandHide, Session: id, By: "cli"}},
		{"unhide", at("unhide"), `{}`, 200, &core.Command{Kind: core.CommandUnhide, Session: id, By: "cli"}},
		{"name too long", at("rename"), `{"name":"` + long + `x"}`, 400, nil},
		{"name with a line break", at("rename"), `{"name":"a\nb"}`, 400, nil},
		{"name with an escape", at("rename"), `{"name":"a\u001b[31mb"}`, 400, nil},
		{"name that turns the text around", at("rename"), `{"name":"a\u202eb"}`, 400, nil},
		{"name of another kind", at("rename"), `{"name":7}`, 400, nil},
		{"name missing", at("rename"), `{}`, 400, nil},
		{"field that does not exist", at("rename"), `{"name":"a","path":"/etc/passwd"}`, 400, nil},
		{"two values", at("rename"), `{"name":"a"}{"name":"b"}`, 400, nil},
		{"no JSON", at("rename"), `name=a`, 400, nil},
		{"description too long", at("describe"), `{"description":"` + strings.Repeat("x", core.MaxDescription+1) + `"}`, 400, nil},
		{"description with a bell", at("describe"), `{"description":"a\u0007"}`, 400, nil},
		{"too many tags", at("tag"), string(many), 400, nil},
		{"empty tag", at("tag"), `{"tags":[" "]}`, 400, nil},
		{"tag too long", at("tag"), `{"tags":["` + strings.Repeat("x", core.MaxTag+1) + `"]}`, 400, nil},
		{"hide with a field", at("hide"), `{"all":true}`, 400, nil},
		{"body too large", at("describe"), `{"description":"` + strings.Repeat("x", maxBody) + `"}`, 413, nil},
		{"id that is a path", "/api/sessions/..%2f..%2fetc%2fpasswd/hide", `{}`, 400, nil},
		{"id that is a word", "/api/sessions/all/hide", `{}`, 400, nil},
		{"unknown verb", at("delete"), `{}`, 404, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(f.commands())
			a := w.over("POST", c.path, c.body)
			if a.Code != c.code {
				t.Fatalf("POST %s = %d %s, want %d", c.path, a.Code, a.Body, c.code)
			}
			done := f.commands()[before:]
			if c.want == nil {
				var e fault
				if a.into(t, &e); len(done) != 0 || e.Text == "" || e.Refused {
					t.Errorf("commands %v, answer %s", done, a.Body)
				}
				return
			}
			if diff := cmp.Diff([]core.Command{*c.want}, done); diff != "" {
				t.Errorf("command (-want +got):\n%s", diff)
			}
		})
	}
	if a := w.over("POST", at("hide"), "x=1", "Content-Type", "text/plain"); a.Code != 400 {
		t.Errorf("a body that a foreign form can send = %d, want 400", a.Code)
	}
	// A body without a declared length is bounded all the same.
	req, _ := http.NewRequest("POST", "http://tower"+at("describe"), io.MultiReader(strings.NewReader(`{"description":"`), bytes.NewReader(make([]byte, 2*maxBody))))
	req.Header.Set("Content-Type", "application/json")
	res, err := w.socket.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 413 && res.StatusCode != 400 {
		t.Errorf("an endless body = %d", res.StatusCode)
	}
}

func TestRefusalsAreVerbatim(t *testing.T) {
	f := newFake(picture(noon, 5, 0))
	w := start(t, f)
	path := "/api/sessions/" + string(f.Snapshot().Rows[0].ID) + "/rename"
	for _, c := range []struct {
		name string
		err  error
		code int
		want fault
	}{
		{"refusal", fmt.Errorf("do: %w", &core.Refusal{What: "Not renamed.", Why: "The ledger is newer than this program.", Hint: "Install the newer one."}), 409,
			fault{Text: "Not renamed. The ledger is newer than this program.", Hint: "Install the newer one.", Refused: true}},
		{"own mistake", errors.New("write ledger: disk full"), 500, fault{Text: "write ledger: disk full"}},
		{"stopping", context.Canceled, 503, fault{Text: "The tower is stopping."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.answer = func(core.Command) (core.Result, error) { return core.Result{}, c.err }
			a := w.over("POST", path, `{"name":"x"}`)
			var got fault
			if a.into(t, &got); a.Code != c.code || got != c.want {
				t.Errorf("answer = %d %+v, want %d %+v", a.Code, got, c.code, c.want)
			}
		})
	}
	f.answer = func(core.Command) (core.Result, error) { panic("boom") }
	if a := w.over("POST", path, `{"name":"x"}`); a.Code != 500 || strings.Contains(a.Body, "boom") {
		t.Errorf("a panic = %d %s", a.Code, a.Body)
	}
	if a := w.over("GET", "/api/live", ""); a.Code != 200 {
		t.Errorf("after a panic = %d", a.Code)
	}
}

func TestSessionDetail(t *testing.T) {
	f := newFake(picture(noon, 20, 0))
	f.resume = &core.Launch{Argv: []string{"claude", "--resume", "x"}, Dir: "/home/dev"}
	w := start(t, f)
	id := f.Snapshot().Rows[9].ID
	var v struct {
		ID     core.SessionID `json:"asm_id"`
		Title  string
		Runs   []core.Run
		Chain  []core.Link
		Skills map[string]int64
		Resume *core.Launch
	}
	a := w.over("GET", "/api/sessions/"+string(id), "")
	if a.into(t, &v); v.ID != id || len(v.Runs) != 1 || v.Chain == nil || v.Skills["review"] != 2 || v.Resume == nil || v.Title == "" {
		t.Errorf("detail = %s", a.Body)
	}
	f.resume = nil
	if a := w.over("GET", "/api/sessions/"+string(id), ""); !strings.Contains(a.Body, `"resume":null`) {
		t.Errorf("a session that cannot be taken up = %s", a.Body)
	}
	for path, code := range map[string]int{
		"/api/sessions/" + string(core.NewSessionID("claude", "nobody")): 404,
		"/api/sessions/..%2f..":            400,
		"/api/sessions/%00":                400,
		"/api/sessions/" + string(id)[:35]: 400,
	} {
		if a := w.over("GET", path, ""); a.Code != code {
			t.Errorf("GET %s = %d, want %d", path, a.Code, code)
		}
	}
}

func TestHeatmap(t *testing.T) {
	c := &clock{at: time.Date(2026, 11, 30, 23, 30, 0, 0, time.UTC)} // already December in Berlin
	f := newFake(picture(noon, 5, 0))
	f.heat = []core.Heat{{Day: "2026-11-28", Agent: "codex", Turns: 3}, {Day: "2026-11-30", Agent: "codex", Turns: 4}, {Day: "2026-11-30", Agent: "codex", Turns: 1}, {Day: "nonsense", Agent: "codex", Turns: 9}, {Day: "2026-12-03", Agent: "claude", Turns: 2}, {Day: "2026-11-01", Agent: "former", Turns: 6}}
	w := start(t, f, func(o *Options) { o.Now = c.Now })
	var v heatmap
	w.over("GET", "/api/heatmap", "").into(t, &v)
	if len(v.Strips) != 3 {
		t.Fatalf("strips = %+v", v.Strips)
	}
	want := []strip{
		{"claude", "Claude Code", "2026-12-03", 2, []int{2}},
		{"codex", "Codex", "2026-11-28", 8, []int{3, 0, 5, 0}},
	}
	if diff := cmp.Diff(want, v.Strips[:2]); diff != "" || v.Today != "2026-12-01" || v.Zone != "Europe/Berlin" {
		t.Errorf("heatmap today %s in %s (-want +got):\n%s", v.Today, v.Zone, diff)
	}
	if s := v.Strips[2]; s.Display != "former" || len(s.Turns) != 31 || s.Total != 6 {
		t.Errorf("an agent no longer configured = %+v", s)
	}
}

func TestHealthAgentsSnapshot(t *testing.T) {
	f := newFake(picture(noon, 12, 3))
	w := start(t, f)
	var h struct {
		Mode, Build, URL string
		Counts           core.Counts
		Loops            []core.Loop
		Problems         []core.Problem
		BadLines         int64            `json:"bad_lines"`
		Unknown          map[string]int64 `json:"unknown_types"`
		Ports            []string
		Doors            doors
	}
	a := w.over("GET", "/api/health", "")
	if a.into(t, &h); h.URL != w.URL() || h.Mode != "live" || len(h.Loops) != 3 || h.BadLines != 7 || h.Unknown["mode"] != 41 || len(h.Ports) != 2 || h.Problems == nil || h.Counts.All != 15 {
		t.Errorf("health = %s", a.Body)
	}
	var g struct{ Agents []core.AgentState }
	w.over("GET", "/api/agents", "").into(t, &g)
	if len(g.Agents) != 2 || g.Agents[1].Hooks.State != core.HooksNeedTrust {
		t.Errorf("agents = %+v", g.Agents)
	}
	var s struct {
		Revision int64
		Rows     []struct {
			ID     core.SessionID `json:"asm_id"`
			Hidden string         `json:"hidden_why"`
		}
	}
	a = w.over("GET", "/api/snapshot", "")
	if a.into(t, &s); s.Revision != 7 || len(s.Rows) != 15 || s.Rows[14].Hidden == "" || s.Rows[0].ID == "" {
		t.Errorf("snapshot = %.300s", a.Body)
	}
}
