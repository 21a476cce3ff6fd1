package web

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"tower/core"
)

// maxPromptBody bounds a request that carries a prompt: each byte of it may have been written as an
// escape of six, and the other fields need their room.
const maxPromptBody = 6*core.MaxPrompt + maxBody

func (s *Server) postFocus(w http.ResponseWriter, r *http.Request) error {
	return s.bare(w, r, core.Command{Kind: core.CommandJump})
}

func (s *Server) postCloseout(w http.ResponseWriter, r *http.Request) error {
	return s.bare(w, r, core.Command{Kind: core.CommandCloseout})
}

// postCloseoutLive asks for the closeout of a session that runs, and never for a resume.
func (s *Server) postCloseoutLive(w http.ResponseWriter, r *http.Request) error {
	return s.bare(w, r, core.Command{Kind: core.CommandCloseout, Text: "live"})
}

func (s *Server) postEnd(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Force bool `json:"force"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	return s.onSession(w, r, core.Command{Kind: core.CommandEnd, Force: body.Force})
}

func (s *Server) postType(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Text string `json:"text"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	if body.Text == "" {
		return bad("text is missing: there is nothing to deliver.")
	}
	if err := prompt("text", verdicts[core.CommandType], body.Text); err != nil {
		return err
	}
	return s.onSession(w, r, core.Command{Kind: core.CommandType, Text: body.Text})
}

// prompt checks text that an agent is given as a whole and to the byte. A NUL cannot stand in an
// argument and no terminal passes it on; all else is the deliverer's to make harmless.
func prompt(what, verdict, s string) error {
	what = strings.ToUpper(what[:1]) + what[1:]
	if len(s) > core.MaxPrompt {
		return bad("%s has at most %d bytes; this one has %d.", what, core.MaxPrompt, len(s))
	}
	if !utf8.ValidString(s) {
		return bad("%s is not UTF-8.", what)
	}
	if strings.ContainsRune(s, 0) {
		return &core.Refusal{What: verdict, Why: "The text holds a NUL character, which no agent can be given."}
	}
	return nil
}
