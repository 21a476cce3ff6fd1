package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"tower/core"
)

var noon = time.Date(2026, 11, 30, 11, 0, 0, 0, time.UTC)

func small() *fakeEngine { return newFake(picture(noon, 20, 5)) }

// form posts what a browser's form would, with the headers a browser sends.
func (w *tower) form(fields url.Values, origin string, headers ...string) said {
	w.t.Helper()
	h := append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)
	if origin != "" {
		h = append(h, "Origin", origin)
	}
	return w.tcp("POST", "/login", fields.Encode(), h...)
}

var keyIn = regexp.MustCompile(`data-key="([^"]+)"`)

// signedIn returns the two secrets of a browser that came in with a ticket.
func (w *tower) signedIn() (cookie, key string) {
	w.t.Helper()
	a := w.form(url.Values{"ticket": {w.ticket("/")}}, "null", "User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	return w.secrets(a)
}

func (w *tower) secrets(a said) (cookie, key string) {
	w.t.Helper()
	m := keyIn.FindStringSubmatch(a.Body)
	cookie, _, _ = strings.Cut(a.Header.Get("Set-Cookie"), ";")
	if a.Code != 200 || m == nil || cookie == "" {
		w.t.Fatalf("log-in = %d, cookie %q, %s", a.Code, cookie, a.Body)
	}
	return cookie, m[1]
}

func TestTicketOpensOnce(t *testing.T) {
	c := &clock{at: noon}
	w := start(t, small(), func(o *Options) { o.Now = c.Now })
	ticket := w.ticket("/#history")
	a := w.form(url.Values{"ticket": {ticket}}, "null", "Sec-Fetch-Site", "cross-site")
	cookie, key := w.secrets(a)
	set := a.Header.Get("Set-Cookie")
	for _, want := range []string{fmt.Sprintf("tower_%d=", w.port), "HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(set, want) {
			t.Errorf("Set-Cookie %q lacks %q", set, want)
		}
	}
	if !strings.Contains(a.Body, `data-path="/#history"`) || a.Header.Get("Location") != "" {
		t.Errorf("landing does not lead on by script: %s", a.Body)
	}
	if got := w.tcp("GET", "/api/live", "", "Cookie", cookie, KeyHeader, key); got.Code != 200 {
		t.Errorf("signed in: GET /api/live = %d %s", got.Code, got.Body)
	}
	if got := w.form(url.Values{"ticket": {ticket}}, "null"); got.Code != 401 || got.Header.Get("Set-Cookie") != "" {
		t.Errorf("the same ticket again = %d, want 401", got.Code)
	}
	late := w.ticket("/")
	c.move(ticketLife)
	if got := w.form(url.Values{"ticket": {late}}, "null"); got.Code != 401 {
		t.Errorf("a ticket after 30 s = %d, want 401", got.Code)
	}
	almost := w.ticket("/")
	c.move(ticketLife - time.Millisecond)
	if got := w.form(url.Values{"ticket": {almost}}, "null"); got.Code != 200 {
		t.Errorf("a ticket just before 30 s = %d, want 200", got.Code)
	}
	if got := w.form(url.Values{"ticket": {"guess"}}, "null"); got.Code != 401 {
		t.Errorf("a guessed ticket = %d, want 401", got.Code)
	}
	// More than may be out at a time: the oldest is void, the newest works.
	first := w.ticket("/")
	for range maxTickets - 1 {
		w.ticket("/")
	}
	last := w.ticket("/")
	if got := w.form(url.Values{"ticket": {first}}, "null"); got.Code != 401 {
		t.Errorf("the oldest of too many tickets = %d, want 401", got.Code)
	}
	if got := w.form(url.Values{"ticket": {last}}, "null"); got.Code != 200 {
		t.Errorf("the newest of many tickets = %d, want 200", got.Code)
	}
}

func TestTicketLeadsNowhereElse(t *testing.T) {
	w := start(t, small())
	for _, path := range []string{"//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/\n/evil", "/" + strings.Repeat("a", 300), "/\"><script>"} {
		body := fmt.Sprintf(`{"path":%q}`, path)
		if a := w.over("POST", "/api/tickets", body); a.Code != 400 {
			t.Errorf("ticket to %q = %d, want 400", path, a.Code)
		}
	}
}

func TestTicketPagePostsIt(t *testing.T) {
	p := string(TicketPage("http://127.0.0.1:7433", `a"b<c`))
	if !strings.Contains(p, `action="http://127.0.0.1:7433/login"`) || !strings.Contains(p, `value="a&#34;b&lt;c"`) {
		t.Errorf("TicketPage() = %s", p)
	}
}

func TestBothSecretsAreAsked(t *testing.T) {
	w := start(t, small())
	cookie, key := w.signedIn()
	cookie2, key2 := w.signedIn()
	name, value, _ := strings.Cut(cookie, "=")
	for _, c := range []struct {
		name, cookie, key string
		want              int
	}{
		{"both", cookie, key, 200},
		{"other browser", cookie2, key2, 200},
		{"no key", cookie, "", 401},
		{"no cookie", "", key, 401},
		{"nothing", "", "", 401},
		{"key of another browser", cookie, key2, 401},
		{"cookie of another port", "tower_1=" + value, key, 401},
		{"wrong secret", name + "=" + value[:9] + "AAAA", key, 401},
		{"id alone", name + "=" + value[:8], key, 401},
		{"cookie value as key", cookie, value, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := w.tcp("GET", "/api/live", "", "Cookie", c.cookie, KeyHeader, c.key)
			if a.Code != c.want {
				t.Errorf("GET /api/live = %d, want %d", a.Code, c.want)
			}
			if a.Code == 401 {
				var f fault
				if a.into(t, &f); f.Text == "" || f.Hint == "" || f.Refused {
					t.Errorf("answer = %s", a.Body)
				}
			}
		})
	}
	// Nothing that was given is kept as it is.
	for k, v := range w.kept.kept {
		if strings.Contains(v, key) || strings.Contains(v, value[9:]) {
			t.Errorf("%s holds a secret in the clear", k)
		}
	}
}

func TestEveryRouteAsksWhoIsThere(t *testing.T) {
	w := start(t, small())
	id := string(w.engine.Snapshot().Rows[0].ID)
	cookie, key := w.signedIn()
	for _, r := range apiRoutes {
		path := strings.ReplaceAll(r.path, "{id}", id)
		if a := w.tcp(r.method, path, "{}"); a.Code != 401 {
			t.Errorf("%s %s without a key = %d, want 401", r.method, path, a.Code)
		}
		if !r.local {
			continue
		}
		if a := w.tcp(r.method, path, "{}", "Cookie", cookie, KeyHeader, key); a.Code != 403 {
			t.Errorf("%s %s from a page = %d, want 403", r.method, path, a.Code)
		}
	}
	if got := w.engine.commands(); len(got) != 0 {
		t.Errorf("commands of nobody were carried out: %v", got)
	}
}

func TestHost(t *testing.T) {
	w := start(t, small())
	cookie, key := w.signedIn()
	port := fmt.Sprint(w.port)
	for _, c := range []struct {
		method, host, path string
		want               int
		location           string
	}{
		{"GET", "127.0.0.1:" + port, "/", 200, ""},
		{"GET", "localhost:" + port, "/?theme=dark", 308, w.URL() + "/?theme=dark"},
		{"GET", "[::1]:" + port, "/api/live", 308, w.URL() + "/api/live"},
		{"HEAD", "localhost:" + port, "/", 308, w.URL() + "/"},
		{"POST", "localhost:" + port, "/api/import", 403, ""},
		{"POST", "localhost:" + port, "/login", 403, ""},
		{"GET", "localhost:" + port, "//evil.example/", 308, w.URL() + "//evil.example/"},
		{"GET", "evil.example", "/", 403, ""},
		{"GET", "evil.example:" + port, "/api/live", 403, ""},
		{"GET", "127.0.0.1.evil.example:" + port, "/api/live", 403, ""},
		{"GET", "127.0.0.1", "/", 403, ""},
		{"GET", "127.0.0.1:1", "/", 403, ""},
		{"GET", "127.0.0.2:" + port, "/", 403, ""},
		{"GET", "0.0.0.0:" + port, "/", 403, ""},
	} {
		a := w.tcp(c.method, c.path, "", "Host", c.host, "Cookie", cookie, KeyHeader, key)
		if a.Code != c.want || a.Header.Get("Location") != c.location {
			t.Errorf("%s %s at %s = %d %q, want %d %q", c.method, c.path, c.host, a.Code, a.Header.Get("Location"), c.want, c.location)
		}
	}
}

func TestOrigin(t *testing.T) {
	w := start(t, small())
	cookie, key := w.signedIn()
	for _, c := range []struct {
		name, method, path string
		headers            []string
		want               int
	}{
		{"own", "POST", "/api/import", []string{"Origin", w.URL(), "Sec-Fetch-Site", "same-origin"}, 200},
		{"none, as a program", "POST", "/api/import", nil, 200},
		{"foreign", "POST", "/api/import", []string{"Origin", "http://evil.example"}, 403},
		{"null", "POST", "/api/import", []string{"Origin", "null"}, 403},
		{"other port", "POST", "/api/import", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"other scheme", "POST", "/api/import", []string{"Origin", strings.Replace(w.URL(), "http", "https", 1)}, 403},
		{"localhost", "POST", "/api/import", []string{"Origin", fmt.Sprintf("http://localhost:%d", w.port)}, 403},
		{"foreign read", "GET", "/api/live", []string{"Origin", "http://evil.example"}, 403},
		{"foreign fetch without origin", "GET", "/api/live", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"sibling port", "GET", "/api/live", []string{"Sec-Fetch-Site", "same-site"}, 403},
		{"document from a link", "GET", "/", []string{"Sec-Fetch-Site", "cross-site"}, 200},
		{"null for a GET of the log-in", "GET", "/login", []string{"Origin", "null"}, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := w.tcp(c.method, c.path, "", append(c.headers, "Cookie", cookie, KeyHeader, key)...)
			if a.Code != c.want {
				t.Errorf("%s %s = %d %s, want %d", c.method, c.path, a.Code, a.Body[:min(80, len(a.Body))], c.want)
			}
			if a.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("the answer carries a CORS header")
			}
		})
	}
	// A password may not come from a page on disk; only a ticket may.
	w.over("POST", "/api/password", `{"password":"correct horse"}`)
	if a := w.form(url.Values{"password": {"correct horse"}}, "null"); a.Code != 403 {
		t.Errorf("password from a page on disk = %d, want 403", a.Code)
	}
	if a := w.form(url.Values{"ticket": {w.ticket("/")}}, "http://evil.example"); a.Code != 403 {
		t.Errorf("ticket from a foreign page = %d, want 403", a.Code)
	}
	if a := w.tcp("POST", "/login", `{"ticket":"`+w.ticket("/")+`"}`); a.Code != 400 {
		t.Errorf("ticket as JSON = %d, want 400", a.Code)
	}
}

func TestHeaders(t *testing.T) {
	w := start(t, small())
	for _, path := range []string{"/", "/login", "/api/live", "/nothing", "/worker.js"} {
		a := w.tcp("GET", path, "")
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %s = %q, want %q", path, name, got, want)
			}
		}
		csp := a.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") {
			t.Errorf("%s: Content-Security-Policy = %q", path, csp)
		}
	}
	// The document loads nothing from elsewhere and has no style or handler in an attribute.
	doc := w.tcp("GET", "/", "").Body
	for _, bad := range []string{"http://www.w3.org/1999", "https://", "//cdn", " style=", " onclick=", "{{"} {
		if strings.Contains(doc, bad) {
			t.Errorf("the document holds %q", bad)
		}
	}
	tag := w.tcp("GET", "/", "").Header.Get("ETag")
	if a := w.tcp("GET", "/", "", "If-None-Match", tag); a.Code != 304 || a.Body != "" {
		t.Errorf("the document known = %d", a.Code)
	}
	if a := w.tcp("HEAD", "/", ""); a.Code != 200 || a.Body != "" {
		t.Errorf("HEAD / = %d with %d bytes", a.Code, len(a.Body))
	}
}

func TestMethods(t *testing.T) {
	w := start(t, small())
	cookie, key := w.signedIn()
	in := []string{"Cookie", cookie, KeyHeader, key}
	id := string(w.engine.Snapshot().Rows[0].ID)
	for _, c := range []struct {
		method, path string
		want         int
		allow        string
	}{
		{"OPTIONS", "/api/live", 204, "GET, OPTIONS"},
		{"OPTIONS", "/api/sessions/" + id + "/rename", 204, "POST, OPTIONS"},
		{"HEAD", "/api/live", 200, ""},
		{"POST", "/api/live", 405, "GET, OPTIONS"},
		{"GET", "/api/import", 405, "POST, OPTIONS"},
		{"PUT", "/api/live", 405, "GET, HEAD, POST, OPTIONS"},
		{"DELETE", "/api/sessions/" + id, 405, "GET, HEAD, POST, OPTIONS"},
		{"TRACE", "/", 405, "GET, HEAD, POST, OPTIONS"},
		{"GET", "/api/nothing", 404, ""},
		{"GET", "/api/", 404, ""},
		{"GET", "/ui/page.html", 404, ""},
	} {
		a := w.tcp(c.method, c.path, "", in...)
		if a.Code != c.want || a.Header.Get("Allow") != c.allow {
			t.Errorf("%s %s = %d, Allow %q, want %d, %q", c.method, c.path, a.Code, a.Header.Get("Allow"), c.want, c.allow)
		}
	}
}

func TestScriptToken(t *testing.T) {
	w := start(t, small())
	bearer := func(secret string) said { return w.tcp("GET", "/api/live", "", "Authorization", "Bearer "+secret) }
	if a := bearer(""); a.Code != 401 {
		t.Errorf("empty token while off = %d, want 401", a.Code)
	}
	var v struct {
		On    bool
		Token string
	}
	a := w.over("POST", "/api/token", `{"on":true}`)
	if a.into(t, &v); !v.On || !strings.HasPrefix(v.Token, "tower_") {
		t.Fatalf("POST /api/token = %s", a.Body)
	}
	if a := bearer(v.Token); a.Code != 200 {
		t.Errorf("token = %d, want 200", a.Code)
	}
	if a := bearer(v.Token + "x"); a.Code != 401 {
		t.Errorf("wrong token = %d, want 401", a.Code)
	}
	if a := w.tcp("GET", "/api/live", "", "Authorization", "Basic "+v.Token); a.Code != 401 {
		t.Errorf("token as a password = %d, want 401", a.Code)
	}
	if a := w.tcp("GET", "/api/live", "", "Authorization", "Bearer "+v.Token, "Origin", "http://evil.example"); a.Code != 403 {
		t.Errorf("token from a foreign page = %d, want 403", a.Code)
	}
	if a := w.tcp("POST", "/api/token", `{"on":true}`, "Authorization", "Bearer "+v.Token); a.Code != 403 {
		t.Errorf("a token that makes tokens = %d, want 403", a.Code)
	}
	if a := w.tcp("POST", "/api/import", `{}`, "Authorization", "Bearer "+v.Token); a.Code != 200 {
		t.Errorf("import by a script = %d", a.Code)
	}
	if got := w.engine.commands(); len(got) != 1 || got[0].By != "script" {
		t.Errorf("commands = %v, want one by script", got)
	}
	if kept, _ := w.kept.Get(secretToken); strings.Contains(kept, v.Token) || kept == "" {
		t.Errorf("token is kept as %q", kept)
	}
	w.over("POST", "/api/token", `{"on":false}`)
	if a := bearer(v.Token); a.Code != 401 {
		t.Errorf("token after off = %d, want 401", a.Code)
	}
}

func TestPasswordIsSlow(t *testing.T) {
	c := &clock{at: noon}
	w := start(t, small(), func(o *Options) { o.Now = c.Now })
	try := func(word string) said { return w.form(url.Values{"password": {word}}, w.URL()) }
	if a := try(""); a.Code != 401 {
		t.Errorf("no password set = %d, want 401", a.Code)
	}
	c.move(longestLock)
	if a := w.over("POST", "/api/password", `{"password":"short"}`); a.Code != 400 {
		t.Errorf("a short password = %d, want 400", a.Code)
	}
	if a := w.over("POST", "/api/password", `{"password":"correct horse"}`); a.Code != 200 {
		t.Fatalf("set password = %d %s", a.Code, a.Body)
	}
	if kept, _ := w.kept.Get(secretPassword); !strings.HasPrefix(kept, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("password is kept as %q", kept)
	}
	for i, wait := range []string{"1", "2", "4", "8"} {
		a := try("wrong horse")
		if a.Code != 401 || a.Header.Get("Retry-After") != wait {
			t.Errorf("wrong guess %d = %d, Retry-After %q, want 401, %q", i+1, a.Code, a.Header.Get("Retry-After"), wait)
		}
		if a := try("correct horse"); a.Code != 429 {
			t.Errorf("the right word before the wait is over = %d, want 429", a.Code)
		}
		c.move(time.Duration(1<<i) * time.Second)
	}
	w.secrets(try("correct horse"))
	if a := try("wrong horse"); a.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After after a right word = %q, want 1", a.Header.Get("Retry-After"))
	}
	for range 30 {
		c.move(longestLock)
		try("wrong horse")
	}
	if wait := w.word.locked(); wait > longestLock {
		t.Errorf("the longest wait = %v, want %v at the most", wait, longestLock)
	}
	// A ticket is not held up by guesses.
	w.signedIn()
	w.over("POST", "/api/password", `{"password":""}`)
	if w.word.isSet() {
		t.Error("the password is still set")
	}
}

// TestGuessesAtOnce has two guesses arrive together: the second has passed the look at the lock before
// the first was found wrong, and must not be compared all the same.
func TestGuessesAtOnce(t *testing.T) {
	c := &clock{at: noon}
	p := openPassword(newMemory(), c.Now)
	if err := p.set("correct horse"); err != nil {
		t.Fatal(err)
	}
	if ok, _ := p.try("wrong horse"); ok {
		t.Fatal("a wrong word opened")
	}
	if ok, wait := p.try("correct horse"); ok || wait != time.Second {
		t.Errorf("try() within the wait = %v, %v, want false, 1 s", ok, wait)
	}
	c.move(time.Second)
	if ok, _ := p.try("correct horse"); !ok {
		t.Error("try() after the wait = false")
	}
}

func TestVerifyRefusesForeignHashes(t *testing.T) {
	for _, h := range []string{"", "x", "$argon2id$v=19$m=19456,t=2,p=1$", "$argon2id$v=19$m=19456,t=2,p=1$AAAA$", "$argon2id$v=19$m=99999999,t=2,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA", "$argon2id$v=19$m=0,t=0,p=0$AAAA$AAAAAAAAAAAAAAAAAAAAAA", "$argon2i$v=19$m=64,t=1,p=1$AAAA$AAAAAAAAAAAAAAAAAAAAAA"} {
		if verify("", h) {
			t.Errorf("verify(%q) = true", h)
		}
	}
}

func TestSignInsSurviveARestart(t *testing.T) {
	kept := newMemory()
	same := func(o *Options) { o.Secrets = kept }
	w := start(t, small(), same)
	cookie, key := w.signedIn()
	w.stop()
	again := start(t, small(), same)
	_, value, _ := strings.Cut(cookie, "=")
	ask := func() said {
		return again.tcp("GET", "/api/devices", "", "Cookie", again.cookieName()+"="+value, KeyHeader, key)
	}
	var v struct{ Devices []shownDevice }
	a := ask()
	if a.into(t, &v); a.Code != 200 || len(v.Devices) != 1 || !v.Devices[0].This || v.Devices[0].Label != "Firefox on Linux" || v.Devices[0].By != "ticket" {
		t.Fatalf("after a restart GET /api/devices = %d %s", a.Code, a.Body)
	}
	if a := again.tcp("POST", "/api/devices/this/signout", "{}", "Cookie", again.cookieName()+"="+value, KeyHeader, key); a.Code != 200 || !strings.Contains(a.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("sign out = %d %q", a.Code, a.Header.Get("Set-Cookie"))
	}
	if a := ask(); a.Code != 401 {
		t.Errorf("after signing out = %d, want 401", a.Code)
	}
	if a := again.over("POST", "/api/devices/nobody/signout", "{}"); a.Code != 404 {
		t.Errorf("signing nobody out = %d, want 404", a.Code)
	}
}

func TestDevicesAge(t *testing.T) {
	c := &clock{at: noon}
	kept := newMemory()
	w := start(t, small(), func(o *Options) { o.Now, o.Secrets = c.Now, kept })
	cookie, key := w.signedIn()
	in := func() int { return w.tcp("GET", "/api/live", "", "Cookie", cookie, KeyHeader, key).Code }
	c.move(deviceLife - time.Hour)
	if got := in(); got != 200 {
		t.Errorf("after 90 days less an hour = %d", got)
	}
	c.move(deviceLife - time.Hour)
	if got := in(); got != 200 {
		t.Errorf("a visit did not renew the sign-in: %d", got)
	}
	c.move(deviceLife + time.Hour)
	if got := in(); got != 401 {
		t.Errorf("90 days without a visit = %d, want 401", got)
	}
	for range maxDevices + 3 {
		c.move(time.Second)
		w.signedIn()
	}
	if got := len(w.devices.all()); got != maxDevices {
		t.Errorf("%d browsers are signed in, want %d at the most", got, maxDevices)
	}
	// A store that cannot be written signs nobody in, and says why.
	kept.fail = errors.New("disk full")
	if a := w.form(url.Values{"ticket": {w.ticket("/")}}, "null"); a.Code != 500 || a.Header.Get("Set-Cookie") != "" || !strings.Contains(a.Body, "keep browsers: disk full") {
		t.Errorf("log-in with a full disk = %d %s", a.Code, a.Body)
	}
	if a := w.over("POST", "/api/token", `{"on":true}`); a.Code != 500 || w.token.isOn() {
		t.Errorf("token with a full disk = %d", a.Code)
	}
	// A store that was damaged is an empty one.
	kept.fail = nil
	kept.Set(secretDevices, "{not json")
	if got := New(Options{Engine: small(), Secrets: kept}).devices.all(); len(got) != 0 {
		t.Errorf("browsers out of a damaged store: %v", got)
	}
}

func TestSocketKnowsItsPeer(t *testing.T) {
	w := start(t, small())
	w.engine.answer = func(c core.Command) (core.Result, error) { return core.Result{Said: "Read."}, nil }
	seen := make(chan Caller, 1)
	w.mux.HandleFunc("GET /api/who", func(rw http.ResponseWriter, r *http.Request) {
		c, ok := CallerOf(r.Context())
		if !ok {
			t.Error("a handler does not know who asks")
		}
		seen <- c
		send(rw, 200, struct{}{})
	})
	w.over("GET", "/api/who", "")
	if c := <-seen; c.Door != DoorSocket || c.PID != os.Getpid() {
		t.Errorf("caller = %+v, want this process %d at the socket", c, os.Getpid())
	}
	if a := w.over("GET", "/api/live", "", "Origin", "http://evil.example"); a.Code != 403 {
		t.Errorf("a page at the socket = %d, want 403", a.Code)
	}
	for _, c := range []struct {
		name string
		peer peer
		want int
	}{
		{"same user", peer{known: true, uid: os.Getuid(), pid: 1}, 200},
		{"another user", peer{known: true, uid: 4242, pid: 1}, 403},
		{"the kernel does not say", peer{known: true, err: errors.New("no")}, 403},
		{"a system that does not tell", peer{}, 200},
	} {
		if got := w.asPeer(c.peer); got != c.want {
			t.Errorf("%s = %d, want %d", c.name, got, c.want)
		}
	}
	w.over("POST", "/api/import", "{}")
	w.over("POST", "/api/stop", "{}")
	w.over("POST", "/api/restart", "{}")
	var kinds []core.CommandKind
	for _, c := range w.engine.commands() {
		if kinds = append(kinds, c.Kind); c.By != "cli" {
			t.Errorf("command %s by %q, want cli", c.Kind, c.By)
		}
	}
	if fmt.Sprint(kinds) != "[import stop restart]" {
		t.Errorf("commands = %v", kinds)
	}
}
