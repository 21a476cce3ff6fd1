package web

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"tower/core"
)

// getLogin is the page of a browser that is not signed in.
func (s *Server) getLogin(w http.ResponseWriter, r *http.Request) error {
	s.loginPage(w, http.StatusOK, "", 0)
	return nil
}

func (s *Server) loginPage(w http.ResponseWriter, code int, said string, wait time.Duration) {
	name := s.engine.Snapshot().Name
	if name == "" {
		name = "Tower"
	}
	if wait > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(int((wait+time.Second-1)/time.Second)))
	}
	s.doc.login.send(w, code, map[string]any{"Name": name, "Password": s.word.isSet(), "Said": said})
}

// postLogin takes a ticket or a password. The answer is a page with status 200 that stores the page key
// and moves on by script: a redirect of a request that a foreign page started would lose the Strict
// cookie it has just set.
func (s *Server) postLogin(w http.ResponseWriter, r *http.Request) error {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if kind != "application/x-www-form-urlencoded" {
		return bad("The log-in takes a form.")
	}
	if err := r.ParseForm(); err != nil {
		return fmt.Errorf("read form: %w", err)
	}
	path, by := "/", "ticket"
	if secret := r.PostForm.Get("ticket"); secret != "" {
		var ok bool
		if path, ok = s.tickets.take(s.now(), secret); !ok {
			s.loginPage(w, http.StatusUnauthorized, "This ticket has been used, or it is older than 30 s. Open the dashboard again.", 0)
			return nil
		}
	} else {
		by = "password"
		if r.Header.Get("Origin") == "null" {
			return fault{code: http.StatusForbidden, Text: "Another page asked for this."}
		}
		if wait := s.word.locked(); wait > 0 {
			s.loginPage(w, http.StatusTooManyRequests, fmt.Sprintf("Not compared. Next try in %s.", words(wait)), wait)
			return nil
		}
		if ok, wait := s.word.try(r.PostForm.Get("password")); !ok {
			s.log.Info("wrong password", "wait", wait)
			s.loginPage(w, http.StatusUnauthorized, fmt.Sprintf("That is not the password. Next try in %s.", words(wait)), wait)
			return nil
		}
	}
	id, cookie, key, err := s.devices.add(r.UserAgent(), by)
	if err != nil {
		return err
	}
	s.log.Info("browser signed in", "browser", id, "by", by)
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: id + "." + cookie, Path: "/", MaxAge: int(deviceLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	s.doc.landing.send(w, http.StatusOK, map[string]any{"Key": key, "Path": path})
	return nil
}

func words(d time.Duration) string {
	if s := int((d + time.Second - 1) / time.Second); s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%d min", int((d+time.Minute-1)/time.Minute))
}

// postTicket mints a ticket for the browser of the person who runs the program at the socket.
func (s *Server) postTicket(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Path string `json:"path"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	if body.Path == "" {
		body.Path = "/"
	}
	if !inside(body.Path) {
		return bad("path has to be a place on the page, such as /#sessions.")
	}
	send(w, http.StatusOK, struct {
		Ticket string `json:"ticket"`
		URL    string `json:"url"`
	}{s.tickets.mint(s.now(), body.Path), s.URL()})
	return nil
}

// inside tells whether a path stays on the page's own origin.
func inside(path string) bool {
	if len(path) > 200 || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return false
	}
	for i := range len(path) {
		if c := path[i]; c <= 0x20 || c >= 0x7f || c == '\\' || c == '"' || c == '<' || c == '>' {
			return false
		}
	}
	return true
}

func (s *Server) postToken(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		On *bool `json:"on"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	if body.On == nil {
		return bad("on is missing.")
	}
	out := struct {
		On    bool   `json:"on"`
		Token string `json:"token,omitempty"`
	}{On: *body.On}
	var err error
	if out.On {
		out.Token, err = s.token.on()
	} else {
		err = s.token.off()
	}
	if err != nil {
		return err
	}
	s.log.Info("script token changed", "on", out.On)
	send(w, http.StatusOK, out)
	return nil
}

func (s *Server) postPassword(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Password *string `json:"password"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	if body.Password == nil {
		return bad("password is missing; an empty one takes it away.")
	}
	if n := len(*body.Password); n != 0 && n < minPassword || n > maxPassword {
		return bad("A password has %d to %d bytes.", minPassword, maxPassword)
	}
	if err := s.word.set(*body.Password); err != nil {
		return err
	}
	s.log.Info("password changed", "set", *body.Password != "")
	said := "Password set."
	if *body.Password == "" {
		said = "Password taken away."
	}
	send(w, http.StatusOK, core.Result{Said: said})
	return nil
}

// shownDevice is a signed-in browser without its secrets.
type shownDevice struct {
	ID    string       `json:"id"`
	Label string       `json:"label"`
	By    string       `json:"by"`
	Since core.Instant `json:"since"`
	Seen  core.Instant `json:"seen"`
	This  bool         `json:"this"`
}

func (s *Server) getDevices(w http.ResponseWriter, r *http.Request) error {
	c, _ := CallerOf(r.Context())
	list := []shownDevice{}
	for _, d := range s.devices.all() {
		list = append(list, shownDevice{d.ID, d.Label, d.By, d.Since, d.Seen, d.ID == c.Device})
	}
	send(w, http.StatusOK, struct {
		Devices []shownDevice `json:"devices"`
	}{list})
	return nil
}

func (s *Server) postSignOut(w http.ResponseWriter, r *http.Request) error {
	c, _ := CallerOf(r.Context())
	id := r.PathValue("id")
	if id == "this" {
		id = c.Device
	}
	was, err := s.devices.remove(id)
	if err != nil {
		return err
	}
	if !was {
		return fault{code: http.StatusNotFound, Text: "No such browser is signed in."}
	}
	s.log.Info("browser signed out", "browser", id)
	if id == c.Device {
		http.SetCookie(w, &http.Cookie{Name: s.cookieName(), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
	send(w, http.StatusOK, core.Result{Said: "Signed out."})
	return nil
}
