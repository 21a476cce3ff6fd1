package web

import (
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tower/core"
)

func (s *Server) postRename(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Name *string `json:"name"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	if body.Name == nil {
		return bad("name is missing; an empty one takes the name away.")
	}
	name := strings.TrimSpace(*body.Name)
	if err := line("name", name, core.MaxName); err != nil {
		return err
	}
	return s.onSession(w, r, core.Command{Kind: core.CommandRename, Text: name})
}

func (s *Server) postDescribe(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Description *string `json:"description"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	if body.Description == nil {
		return bad("description is missing; an empty one takes it away.")
	}
	text := strings.TrimSpace(*body.Description)
	if err := prose("description", text, core.MaxDescription); err != nil {
		return err
	}
	return s.onSession(w, r, core.Command{Kind: core.CommandDescribe, Text: text})
}

func (s *Server) postTag(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Tags *[]string `json:"tags"`
	}
	if err := read(r, &body); err != nil {
		return err
	}
	if body.Tags == nil {
		return bad("tags is missing; an empty list takes them away.")
	}
	if len(*body.Tags) > core.MaxTags {
		return bad("A session has at most %d tags.", core.MaxTags)
	}
	tags := []string{}
	for _, t := range *body.Tags {
		t = strings.TrimSpace(t)
		if err := line("a tag", t, core.MaxTag); err != nil {
			return err
		}
		if t == "" {
			return bad("A tag cannot be empty.")
		}
		tags = append(tags, t)
	}
	return s.onSession(w, r, core.Command{Kind: core.CommandTag, Tags: tags})
}

func (s *Server) postHide(w http.ResponseWriter, r *http.Request) error {
	return s.bare(w, r, core.Command{Kind: core.CommandHide})
}

func (s *Server) postUnhide(w http.ResponseWriter, r *http.Request) error {
	return s.bare(w, r, core.Command{Kind: core.CommandUnhide})
}

// bare sends a command that needs nothing but its session.
func (s *Server) bare(w http.ResponseWriter, r *http.Request, c core.Command) error {
	if err := read(r, &struct{}{}); err != nil {
		return err
	}
	return s.onSession(w, r, c)
}

// onSession sends a command about the session of the path.
func (s *Server) onSession(w http.ResponseWriter, r *http.Request, c core.Command) error {
	id, err := sessionOf(r)
	if err != nil {
		return err
	}
	c.Session = id
	return s.do(w, r, c)
}

// do sends a command on and answers what came of it, however late. Who asked may leave meanwhile: that
// ends the waiting, never the action.
func (s *Server) do(w http.ResponseWriter, r *http.Request, c core.Command) error {
	caller, _ := CallerOf(r.Context())
	c.By = caller.face()
	res, err := s.engine.Do(r.Context(), c)
	if err != nil {
		return err
	}
	return tell(w, res)
}

func (s *Server) postImport(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Full bool `json:"full"` // every transcript again from its start
	}
	if err := read(r, &body); err != nil {
		return err
	}
	what := ""
	if body.Full {
		what = "full"
	}
	// A first import takes as long as it takes; the answer has to outlive the usual deadline. A server
	// without deadlines (the socket's) says that it has none to move, which is fine.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	return s.do(w, r, core.Command{Kind: core.CommandImport, Text: what})
}

func (s *Server) postStop(w http.ResponseWriter, r *http.Request) error {
	return s.do(w, r, core.Command{Kind: core.CommandStop})
}

func (s *Server) postRestart(w http.ResponseWriter, r *http.Request) error {
	return s.do(w, r, core.Command{Kind: core.CommandRestart})
}

// line checks text that stands in one line of a face: no control characters, so that no face and no
// terminal can be steered by a name.
func line(what, s string, most int) error {
	return clean(what, s, most, func(r rune) bool { return false })
}

// prose is line for text that may have several lines.
func prose(what, s string, most int) error {
	return clean(what, s, most, func(r rune) bool { return r == '\n' || r == '\t' || r == '\r' })
}

func clean(what, s string, most int, allowed func(rune) bool) error {
	what = strings.ToUpper(what[:1]) + what[1:]
	if len(s) > most {
		return bad("%s has at most %d bytes; this one has %d.", what, most, len(s))
	}
	if !utf8.ValidString(s) {
		return bad("%s is not UTF-8.", what)
	}
	for _, r := range s {
		if unicode.IsControl(r) && !allowed(r) || unicode.Is(unicode.Bidi_Control, r) && what != "Description" {
			return bad("%s holds a control character.", what)
		}
	}
	return nil
}
