package web

import (
	"net/http"
	"slices"
	"strings"
)

// route is one line of the API. Everything but the document and the log-in lies below /api.
type route struct {
	method string
	path   string
	local  bool // only through the socket: what opens doors or ends the tower
	handle func(*Server, http.ResponseWriter, *http.Request) error
}

// apiRoutes is the whole API; openapi.json is held to it by a test.
var apiRoutes = []route{
	{"GET", "/api/live", false, (*Server).getLive},
	{"GET", "/api/sessions", false, (*Server).getSessions},
	{"GET", "/api/sessions/{id}", false, (*Server).getSession},
	{"POST", "/api/sessions/{id}/rename", false, (*Server).postRename},
	{"POST", "/api/sessions/{id}/describe", false, (*Server).postDescribe},
	{"POST", "/api/sessions/{id}/tag", false, (*Server).postTag},
	{"POST", "/api/sessions/{id}/hide", false, (*Server).postHide},
	{"POST", "/api/sessions/{id}/unhide", false, (*Server).postUnhide},
	{"POST", "/api/launch", false, (*Server).postLaunch},
	{"POST", "/api/sessions/{id}/resume", false, (*Server).postResume},
	{"POST", "/api/sessions/{id}/continue", false, (*Server).postContinue},
	{"POST", "/api/sessions/{id}/attach", false, (*Server).postAttach},
	{"POST", "/api/sessions/{id}/focus", false, (*Server).postFocus},
	{"POST", "/api/sessions/{id}/end", false, (*Server).postEnd},
	{"POST", "/api/sessions/{id}/type", false, (*Server).postType},
	{"POST", "/api/sessions/{id}/closeout", false, (*Server).postCloseout},
	{"POST", "/api/sessions/{id}/closeout-live", false, (*Server).postCloseoutLive},
	{"GET", "/api/agents", false, (*Server).getAgents},
	{"GET", "/api/heatmap", false, (*Server).getHeatmap},
	{"GET", "/api/health", false, (*Server).getHealth},
	{"POST", "/api/import", false, (*Server).postImport},
	{"GET", "/api/devices", false, (*Server).getDevices},
	{"POST", "/api/devices/{id}/signout", false, (*Server).postSignOut},
	{"GET", "/api/openapi.json", false, (*Server).getOpenAPI},

	{"GET", "/api/snapshot", true, (*Server).getSnapshot},
	{"POST", "/api/launches/{token}/environment", true, (*Server).postEnvironment},
	{"POST", "/api/tickets", true, (*Server).postTicket},
	{"POST", "/api/token", true, (*Server).postToken},
	{"POST", "/api/password", true, (*Server).postPassword},
	{"POST", "/api/stop", true, (*Server).postStop},
	{"POST", "/api/restart", true, (*Server).postRestart},
}

// pageRoutes are for browsers and need no key: they tell nothing of any session.
var pageRoutes = []route{
	{"GET", "/{$}", false, (*Server).getDocument},
	{"GET", "/login", false, (*Server).getLogin},
	{"POST", "/login", false, (*Server).postLogin},
	{"GET", "/manifest.webmanifest", false, (*Server).getManifest},
	{"GET", "/icon.svg", false, (*Server).getIcon},
	{"GET", "/worker.js", false, (*Server).getWorker},
}

// bodies are the routes whose request may be larger than maxBody: those that carry a prompt.
var bodies = map[string]int64{
	"/api/launch": maxPromptBody, "/api/sessions/{id}/continue": maxPromptBody, "/api/sessions/{id}/type": maxPromptBody,
}

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range slices.Concat(apiRoutes, pageRoutes) {
		most := max(bodies[r.path], maxBody)
		mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) {
			if req.ContentLength > most {
				s.fail(w, req, tooLarge(most))
				return
			}
			req.Body = http.MaxBytesReader(w, req.Body, most)
			if c, _ := CallerOf(req.Context()); r.local && c.Door != DoorSocket {
				s.fail(w, req, fault{code: http.StatusForbidden, Text: "This is only for programs on this machine.",
					Hint: "Use the command line: tower help"})
				return
			}
			if err := r.handle(s, w, req); err != nil {
				s.fail(w, req, s.faultOf(req, err))
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) { s.stray(mux, w, req) })
	return mux
}

// stray answers what no route takes: OPTIONS, a wrong method, a path that is not there.
func (s *Server) stray(mux *http.ServeMux, w http.ResponseWriter, req *http.Request) {
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost} {
		probe := req.Clone(req.Context())
		probe.Method = m
		if _, pattern := mux.Handler(probe); pattern != "/" && pattern != "" {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) == 0 {
		s.fail(w, req, fault{code: http.StatusNotFound, Text: "There is nothing here.", Hint: "The routes are in /api/openapi.json."})
		return
	}
	w.Header().Set("Allow", strings.Join(append(allowed, http.MethodOptions), ", "))
	if req.Method == http.MethodOptions {
		// No CORS header, on purpose: a foreign page's preflight fails here.
		w.WriteHeader(http.StatusNoContent)
		return
	}
	s.fail(w, req, fault{code: http.StatusMethodNotAllowed, Text: "This route does not take " + req.Method + "."})
}
