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
