package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tower/core"
)

// fault is a request that was not answered as asked: the one form of every error of the API.
type fault struct {
	code    int
	wait    time.Duration // 429: when to come again
	Text    string        `json:"error"`
	Hint    string        `json:"hint"`
	Refused bool          `json:"refused"`
}

func tooLarge(most int64) fault {
	return fault{code: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf("The request is larger than %d KiB.", most>>10)}
}

// faultOf gives an error of a handler its place. A refusal is shown verbatim; what is nobody's fault but
// the tower's keeps its chain, which names files but never contents.
func (s *Server) faultOf(r *http.Request, err error) fault {
	var f fault
	var refusal *core.Refusal
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &refusal):
		return fault{code: http.StatusConflict, Text: refusal.Verdict(), Hint: refusal.Hint, Refused: true}
	case errors.As(err, &large):
		return tooLarge(large.Limit)
	case errors.Is(err, fs.ErrNotExist):
		return fault{code: http.StatusNotFound, Text: "There is no such session."}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault{code: http.StatusServiceUnavailable, Text: "The tower is stopping."}
	}
	s.log.Error("request failed", "path", r.URL.Path, "error", err)
	return fault{code: http.StatusInternalServerError, Text: err.Error()}
}

// Error makes a fault an error, so that handlers return it like any other.
func (f fault) Error() string { return f.Text }

func bad(format string, a ...any) error {
	return fault{code: http.StatusBadRequest, Text: fmt.Sprintf(format, a...)}
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, f fault) {
	if f.wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((f.wait+time.Second-1)/time.Second)))
	}
	s.log.Debug("request turned away", "method", r.Method, "path", r.URL.Path, "code", f.code, "why", f.Text)
	send(w, f.code, f)
}

// send writes v as JSON. HTML escaping is off: the answer is never read as HTML (nosniff).
func send(w http.ResponseWriter, code int, v any) {
	b, err := encode(v)
	if err != nil {
		http.Error(w, `{"error":"The answer cannot be written.","hint":"","refused":false}`, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(code)
	w.Write(b)
}

// tell answers with facts: what is not known is null.
func tell(w http.ResponseWriter, v any) error {
	b, err := facts(v)
	if err != nil {
		return err
	}
	still(w, "application/json; charset=utf-8", b)
	return nil
}

// facts is encode for answers that tell what is so: a text that is empty is one that is not known, or
// that there is none, and that is null. The two quotes behind a colon are always such a value: inside a
// text no quote stands bare.
func facts(v any) ([]byte, error) {
	b, err := encode(v)
	if err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(b, []byte(`:""`), []byte(`:null`)), nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return b.Bytes(), nil
}

// packed is an answer that can be given again: it is encoded once and compressed once.
type packed struct {
	tag string
	raw []byte
	gz  []byte // nil when not worth it
}

const worthPacking = 4 << 10

func pack(tag string, raw []byte) *packed {
	p := &packed{tag: tag, raw: raw}
	if len(raw) < worthPacking {
		return p
	}
	var b bytes.Buffer
	b.Grow(len(raw) / 4)
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	z.Write(raw)
	z.Close()
	p.gz = b.Bytes()
	return p
}

// tagOf names an answer: the process, its revision, and what was asked.
func (s *Server) tagOf(revision int64, asked string) string {
	h := fnv.New32a()
	io.WriteString(h, asked)
	return fmt.Sprintf(`"%s-%d-%08x"`, s.run, revision, h.Sum32())
}

func (p *packed) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("ETag", p.tag)
	h.Set("Vary", "Accept-Encoding")
	if same(r, p.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	body := p.raw
	if p.gz != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = p.gz
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	w.Write(body)
}

func same(r *http.Request, tag string) bool {
	for have := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		have = strings.TrimPrefix(strings.TrimSpace(have), "W/")
		if have == tag || have == "*" {
			return true
		}
	}
	return false
}

// read takes the JSON body of a POST into v. Only the named fields exist; anything else is a mistake
// worth telling. The content type is asked for because a foreign form cannot set it.
func read(r *http.Request, v any) error {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if r.ContentLength == 0 && kind == "" {
		return nil
	}
	if !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return bad("The body has to be application/json.")
	}
	body, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return err
	case err != nil:
		return bad("The body was cut off.")
	case !utf8.Valid(body): // the decoder would put another character in its place, and a text is a text to the byte
		return bad("The body is not UTF-8.")
	case !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")): // null would be taken for one that says nothing
		return bad("The body has to be a JSON object.")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return bad("The body cannot be read: %s.", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return bad("The body holds more than one value.")
	}
	return nil
}
