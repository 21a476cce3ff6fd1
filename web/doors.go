package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// Door is the way a request came in.
type Door string

// The doors.
const (
	DoorSocket Door = "socket"
	DoorPage   Door = "page"
	DoorScript Door = "script"
)

// Caller is who asks, as the door found out. No part of it comes from the request's own words.
type Caller struct {
	Door   Door
	PID    int    // socket: the peer, from the kernel; 0 when the system does not tell
	Device string // page: the signed-in browser
}

type callerKey struct{}

// CallerOf returns who asks. It is false for a request that passed no door.
func CallerOf(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}

// face is the caller's name in a Command.
func (c Caller) face() string {
	if c.Door == DoorSocket {
		return "cli"
	}
	return string(c.Door)
}

func admit(r *http.Request, c Caller) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
}

// KeyHeader carries the page key. A foreign page can neither read the key nor send the header.
const KeyHeader = "X-Tower-Key"

func (s *Server) cookieName() string { return fmt.Sprintf("tower_%d", s.port) }

// Socket returns the door of programs. The kernel names the peer; another user is refused even if the
// socket's mode were to allow it. A browser cannot come here, so what only browsers send is refused.
func (s *Server) Socket() http.Handler {
	return s.guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, _ := r.Context().Value(peerKey{}).(peer)
		switch {
		case p.known && p.err != nil:
			s.fail(w, r, fault{code: http.StatusForbidden, Text: "The kernel did not say who asks.", Hint: p.err.Error()})
		case p.known && p.uid != os.Getuid() && p.uid != 0:
			s.fail(w, r, fault{code: http.StatusForbidden, Text: "This tower belongs to another user."})
		case r.Header.Get("Origin") != "":
			s.fail(w, r, fault{code: http.StatusForbidden, Text: "The socket is for programs, not for pages."})
		default:
			s.mux.ServeHTTP(w, admit(r, Caller{Door: DoorSocket, PID: p.pid}))
		}
	}))
}

// TCP returns the door of browsers and scripts.
func (s *Server) TCP() http.Handler {
	return s.guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.place(w, r) {
			return
		}
		if r.URL.Path != "/api" && !strings.HasPrefix(r.URL.Path, "/api/") {
			s.mux.ServeHTTP(w, r)
			return
		}
		c, f := s.identify(r)
		if f != nil {
			s.fail(w, r, *f)
			return
		}
		s.mux.ServeHTTP(w, admit(r, c))
	}))
}

// place checks where the request believes it goes and where it comes from. A name that was rebound to
// loopback shows in Host; a foreign page shows in Origin or Sec-Fetch-Site.
func (s *Server) place(w http.ResponseWriter, r *http.Request) bool {
	port := strconv.Itoa(s.port)
	canonical := "127.0.0.1:" + port
	switch r.Host {
	case canonical:
	case "localhost:" + port, "[::1]:" + port:
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.fail(w, r, fault{code: http.StatusForbidden, Text: "Send this to " + s.URL() + "."})
			return false
		}
		to := url.URL{Scheme: "http", Host: canonical, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
		w.Header().Set("Location", to.String())
		w.WriteHeader(http.StatusPermanentRedirect)
		return false
	default:
		s.fail(w, r, fault{code: http.StatusForbidden, Text: "This is not a name of the tower.", Hint: "Open " + s.URL() + "."})
		return false
	}
	origin := r.Header.Get("Origin")
	// A page opened from a file has the origin "null"; that is how a ticket arrives, and only there.
	ticket := r.Method == http.MethodPost && r.URL.Path == "/login" && origin == "null"
	if origin != "" && origin != s.URL() && !ticket {
		s.fail(w, r, fault{code: http.StatusForbidden, Text: "Another page asked for this."})
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if strings.HasPrefix(r.URL.Path, "/api") && site != "" && site != "same-origin" && site != "none" {
		s.fail(w, r, fault{code: http.StatusForbidden, Text: "Another page asked for this."})
		return false
	}
	return true
}

// identify asks for a script's token, or for both secrets of a signed-in browser.
func (s *Server) identify(r *http.Request) (Caller, *fault) {
	if h := r.Header.Get("Authorization"); h != "" {
		secret, ok := strings.CutPrefix(h, "Bearer ")
		if ok && s.token.ok(secret) {
			return Caller{Door: DoorScript}, nil
		}
		return Caller{}, &fault{code: http.StatusUnauthorized, Text: "This token does not open the tower.",
			Hint: "The token may have been replaced or turned off."}
	}
	if c, err := r.Cookie(s.cookieName()); err == nil {
		if id, ok := s.devices.find(c.Value, r.Header.Get(KeyHeader)); ok {
			return Caller{Door: DoorPage, Device: id}, nil
		}
	}
	return Caller{}, &fault{code: http.StatusUnauthorized, Text: "This browser is not signed in.",
		Hint: "Run tower, or open the dashboard from the menu bar."}
}

// guard is what every request of every door passes first.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				s.log.Error("request panicked", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				s.fail(w, r, fault{code: http.StatusInternalServerError, Text: "The tower made a mistake. Its log says more."})
			}
		}()
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// Not no-referrer: that would turn the Origin of the password form into "null".
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'")
		h.Set("Cache-Control", "no-store")
		switch r.Method {
		case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions:
		default:
			h.Set("Allow", "GET, HEAD, POST, OPTIONS")
			s.fail(w, r, fault{code: http.StatusMethodNotAllowed, Text: "There is no such method here."})
			return
		}
		if r.ContentLength > maxPromptBody { // each route has its own bound besides
			s.fail(w, r, tooLarge(maxPromptBody))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxPromptBody)
		next.ServeHTTP(w, r)
	})
}
