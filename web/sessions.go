package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"tower/core"
)

const (
	usualPage   = 200
	longestPage = 1000
	longestName = 200 // of a filter's value
)

// getSessions answers a page of the list, or with ?since=REV&run=RUN what changed after REV. An answer
// with full=true replaces what the page had.
func (s *Server) getSessions(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	f, err := filterOf(q.Get("agent"), q.Get("status"), q.Get("project"), q.Get("all"))
	if err != nil {
		return err
	}
	limit, err := number(r, "limit", 0, longestPage)
	if err != nil {
		return err
	}
	if limit == 0 {
		limit = usualPage
	}
	since, err := number(r, "since", -1, 1<<62)
	if err != nil {
		return err
	}
	after := core.SessionID(q.Get("after"))
	if after != "" && !core.IsUUID(string(after)) {
		return bad("after has to be the id of a session.")
	}
	if run := q.Get("run"); run != "" && run != s.run {
		since = -1
		if after != "" {
			return listMoved
		}
	}
	asked := strings.Join([]string{"sessions", string(f.agent), f.status, f.project, strconv.FormatBool(f.all),
		strconv.FormatInt(limit, 10), strconv.FormatInt(since, 10), string(after)}, "\x00")
	// The picture may move on between here and the answer; the answer is of one picture all the same.
	snap := s.engine.Snapshot()
	p, err := s.given(asked, snap, func() ([]byte, error) {
		if since >= 0 && s.list.snap == snap {
			if rows, gone, total, ok := s.list.since(since, &f); ok {
				return s.diff(snap.Revision, rows, gone, total), nil
			}
		}
		rows, total, more, ok := s.list.page(after, int(limit), &f)
		if !ok {
			return nil, listMoved
		}
		return s.page(s.list.snap.Revision, rows, total, more), nil
	})
	if err != nil {
		return err
	}
	p.send(w, r)
	return nil
}

var listMoved = fault{code: http.StatusGone, Text: "The list moved on.", Hint: "Ask for its first page again."}

func filterOf(agent, status, project, all string) (filter, error) {
	f := filter{agent: core.Agent(agent), status: status, project: project, all: all == "1" || all == "true"}
	if len(agent) > longestName || len(project) > longestName {
		return f, bad("A filter has at most %d bytes.", longestName)
	}
	if status != "" && status != "over" && !slices.Contains(core.Statuses[1:], core.Status(status)) {
		return f, bad("status is one of starting, live, ended, lost, killed, over.")
	}
	return f, nil
}

func (s *Server) page(revision int64, rows []*core.Row, total int, more bool) []byte {
	b := make([]byte, 0, 256+len(rows)*800)
	b = s.head(b, revision, true, total)
	b = append(b, `,"next":`...)
	if more {
		b = appendString(b, string(rows[len(rows)-1].ID))
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"rows":[`...)
	for i, r := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendRow(b, r, -1)
	}
	return append(b, `],"gone":[]}`+"\n"...)
}

func (s *Server) diff(revision int64, rows []place, gone []core.SessionID, total int) []byte {
	b := s.head(make([]byte, 0, 256+len(rows)*800), revision, false, total)
	b = append(b, `,"next":null,"rows":[`...)
	for i, r := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendRow(b, r.row, r.at)
	}
	b = append(b, `],"gone":[`...)
	for i, id := range gone {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, string(id))
	}
	return append(b, "]}\n"...)
}

func (s *Server) head(b []byte, revision int64, whole bool, total int) []byte {
	b = append(b, `{"revision":`...)
	b = strconv.AppendInt(b, revision, 10)
	b = append(b, `,"run":`...)
	b = appendString(b, s.run)
	b = append(b, `,"full":`...)
	b = strconv.AppendBool(b, whole)
	b = append(b, `,"total":`...)
	return strconv.AppendInt(b, int64(total), 10)
}

// detail is a session's own view. Resume is null when nobody can say; it stands as it is, because an
// empty value in an environment is a value.
type detail struct {
	core.Detail
	Revision int64 `json:"revision"`
}

func (s *Server) getSession(w http.ResponseWriter, r *http.Request) error {
	id, err := sessionOf(r)
	if err != nil {
		return err
	}
	revision := s.engine.Snapshot().Revision
	d, err := s.engine.Detail(r.Context(), id)
	if err != nil {
		return err
	}
	d.Runs, d.Chain = full(d.Runs), full(d.Chain)
	out, err := facts(detail{Detail: d, Revision: revision})
	if err != nil {
		return err
	}
	again := []byte("null\n")
	if e, ok := s.engine.(Resumer); ok {
		// A session that cannot be taken up again is still a session to look at.
		if l, err := e.ResumeCommand(r.Context(), id); err == nil {
			if again, err = encode(l); err != nil {
				return err
			}
		}
	}
	out = append(out[:len(out)-len("}\n")], `,"resume":`...)
	still(w, "application/json; charset=utf-8", append(append(out, again[:len(again)-1]...), "}\n"...))
	return nil
}

// sessionOf reads the id of the path. An id is a UUID and nothing else, so nothing in it can be a path.
func sessionOf(r *http.Request) (core.SessionID, error) {
	id := strings.ToLower(r.PathValue("id"))
	if !core.IsUUID(id) {
		return "", bad("This is not the id of a session.")
	}
	return core.SessionID(id), nil
}

// getSnapshot gives a program on this machine the whole picture.
func (s *Server) getSnapshot(w http.ResponseWriter, r *http.Request) error {
	snap := s.engine.Snapshot()
	rows := []core.Row{}
	if r.URL.Query().Get("rows") != "0" {
		rows = full(snap.Rows)
	}
	send(w, http.StatusOK, struct {
		*core.Snapshot
		Run  string     `json:"run"`
		Rows []core.Row `json:"rows"`
	}{snap, s.run, rows})
	return nil
}
