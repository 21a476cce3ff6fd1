package web

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

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
