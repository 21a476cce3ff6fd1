package web

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"

	"tower/core"
)

// longestFolder is how long the path of a folder may be, in bytes: what the kernels take at the most.
const longestFolder = 4096

// Environment is an Engine that gives a launcher the environment of the person's log-in. Without it
// there is none to give. The values live in memory and in the answer, nowhere else.
type Environment interface {
	// LoginEnvironment answers the process that the launch of this token started, and nobody else: pid is
	// the asking process as the kernel told it, 0 where it tells nothing. fs.ErrNotExist when no launch
	// with this token waits for one.
	LoginEnvironment(ctx context.Context, token string, pid int) ([]string, error)
}

func (s *Server) postLaunch(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Agent    string `json:"agent"`
		CWD      string `json:"cwd"`
		Model    string `json:"model"` // "" or no key: the agent's own choice
		Name     string `json:"name"`
		Prompt   string `json:"prompt"`
		Terminal string `json:"terminal"` // "" = as configured
	}
	if err := read(r, &body); err != nil {
		return err
	}
	c := core.Command{Kind: core.CommandLaunch, Agent: core.Agent(body.Agent), CWD: body.CWD, Model: strings.TrimSpace(body.Model),
		Name: strings.TrimSpace(body.Name), Terminal: strings.TrimSpace(body.Terminal), Text: body.Prompt}
	if c.CWD == "" {
		return bad("The folder (cwd) is missing: a session starts in one.")
	}
	return s.start(w, r, c, true)
}

func (s *Server) postResume(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Model    string `json:"model"`
		CWD      string `json:"cwd"` // another folder, where its own is gone
		Terminal string `json:"terminal"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	id, err := sessionOf(r)
	if err != nil {
		return err
	}
	return s.start(w, r, core.Command{Kind: core.CommandResume, Session: id, Model: strings.TrimSpace(body.Model), CWD: body.CWD,
		Terminal: strings.TrimSpace(body.Terminal)}, false)
}

func (s *Server) postContinue(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Agent    string `json:"agent"`
		CWD      string `json:"cwd"` // another folder than that of its predecessor
		Model    string `json:"model"`
		Name     string `json:"name"`   // "" = that of its predecessor
		Prompt   string `json:"prompt"` // is added to what the successor is told of its predecessor
		Terminal string `json:"terminal"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	id, err := sessionOf(r)
	if err != nil {
		return err
	}
	return s.start(w, r, core.Command{Kind: core.CommandContinue, Session: id, Agent: core.Agent(body.Agent), CWD: body.CWD,
		Model: strings.TrimSpace(body.Model), Name: strings.TrimSpace(body.Name), Terminal: strings.TrimSpace(body.Terminal), Text: body.Prompt}, true)
}

// postAttach opens a window, or for a program that has a terminal of its own says what to run in it.
func (s *Server) postAttach(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Here     bool   `json:"here"`
		Terminal string `json:"terminal"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	id, err := sessionOf(r)
	if err != nil {
		return err
	}
	if caller, _ := CallerOf(r.Context()); body.Here && caller.Door != DoorSocket {
		return bad("A browser has no terminal to attach in.")
	}
	return s.start(w, r, core.Command{Kind: core.CommandAttach, Session: id, Here: body.Here, Terminal: strings.TrimSpace(body.Terminal)}, false)
}

// start checks the fields of a command that starts an agent and sends it. Which agents there are, which
// folders, and what a model is called is for the engine to say.
func (s *Server) start(w http.ResponseWriter, r *http.Request, c core.Command, named bool) error {
	if named && c.Agent == "" {
		return bad("The agent is missing.")
	}
	for _, f := range []struct {
		what, text string
		most       int
	}{
		{"agent", string(c.Agent), core.MaxWord}, {"model", c.Model, core.MaxWord}, {"terminal", c.Terminal, core.MaxWord},
		{"name", c.Name, core.MaxName}, {"the folder", c.CWD, longestFolder},
	} {
		if err := line(f.what, f.text, f.most); err != nil {
			return err
		}
	}
	if c.CWD != "" && !filepath.IsAbs(c.CWD) {
		return bad("The folder has to be a full path, from the root on.")
	}
	if err := prompt("prompt", verdicts[c.Kind], c.Text); err != nil {
		return err
	}
	return s.do(w, r, c)
}

// verdicts are how a refusal of a command begins.
var verdicts = map[core.CommandKind]string{
	core.CommandLaunch: "Not launched.", core.CommandContinue: "Not continued.", core.CommandType: "Not delivered.",
}

// postEnvironment answers the launcher before it becomes the agent. What it says is logged nowhere. A
// refusal is told as 410: the launch is not to go on.
func (s *Server) postEnvironment(w http.ResponseWriter, r *http.Request) error {
	if err := read(r, &struct{}{}); err != nil {
		return err
	}
	token := r.PathValue("token")
	if len(token) > core.MaxWord || line("token", token, core.MaxWord) != nil {
		return bad("This is not the token of a launch.")
	}
	e, ok := s.engine.(Environment)
	if !ok {
		return noLaunch
	}
	caller, _ := CallerOf(r.Context())
	env, err := e.LoginEnvironment(r.Context(), token, caller.PID)
	var over *core.Refusal
	switch {
	case errors.As(err, &over):
		f := s.faultOf(r, err)
		f.code = http.StatusGone
		return f
	case errors.Is(err, fs.ErrNotExist):
		return noLaunch
	case err != nil:
		return err
	}
	send(w, http.StatusOK, struct {
		Env []string `json:"env"`
	}{full(env)})
	return nil
}

var noLaunch = fault{code: http.StatusNotFound, Text: "No launch with this token waits for an environment."}
