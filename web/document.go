package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

//go:embed ui openapi.json
var files embed.FS

// styles and scripts in the order in which they stand in the document. Every script is an ES module of
// its own on disk, so that an editor and `node --check` understand it; in the document they are functions
// of one module, in this order.
var (
	styles  = []string{"tokens", "ground", "parts", "frame", "list", "views", "widths"}
	scripts = []string{"dom", "words", "accent", "api", "store", "dialog", "acts", "forms", "bar", "cells", "row", "open", "list", "launching", "sessions", "history", "health", "frame", "live", "keys", "main"}
)

// document is the whole page and its two small sisters, assembled once.
type document struct {
	page    []byte
	tag     string
	csp     string
	login   *sheet
	landing *sheet
	worker  []byte
}

// assemble builds the documents from the embedded files. A file that is missing or a template that does
// not parse is a mistake in the program and panics; every test of the package would show it.
func assemble(build string) *document {
	var css, js strings.Builder
	for _, name := range styles {
		css.WriteString(ui(name + ".css"))
	}
	for _, name := range scripts {
		js.WriteString(flatten(name, ui(name+".js")))
	}
	style, script, first := css.String(), js.String(), ui("boot.js")
	page := strings.NewReplacer(
		"{{build}}", template.HTMLEscapeString(build),
		"{{style}}", style,
		"{{boot}}", first,
		"{{icons}}", ui("icons.svg"),
		"{{script}}", script,
	).Replace(ui("page.html"))
	d := &document{
		page:    []byte(page),
		csp:     policy(style, first, script),
		login:   newSheet("login.html", style, first+"\n"+ui("login.js")),
		landing: newSheet("landing.html", style, ui("landing.js")),
	}
	sum := sha256.Sum256(d.page)
	d.tag = fmt.Sprintf(`"%x"`, sum[:8])
	// The worker's own bytes change with the document, which is what makes a browser renew it.
	d.worker = []byte(strings.ReplaceAll(ui("worker.js"), "{{build}}", fmt.Sprintf("%x", sum[:8])))
	return d
}

func ui(name string) string {
	b, err := files.ReadFile("ui/" + name)
	if err != nil {
		panic("web: " + err.Error())
	}
	return string(b)
}

var (
	importLine = regexp.MustCompile(`(?m)^import (\{[^}]*\}) from './(\w+)\.js';$`)
	exportWord = regexp.MustCompile(`(?m)^export ((?:async )?(?:function|const|class) (\w+))`)
)

// flatten turns a module into a function of its own whose value is what it exports. It may import only
// from modules that stand before it.
func flatten(name, module string) string {
	var exports []string
	for _, m := range exportWord.FindAllStringSubmatch(module, -1) {
		exports = append(exports, m[2])
	}
	module = importLine.ReplaceAllString(module, "const $1 = of_$2;")
	module = exportWord.ReplaceAllString(module, "$1")
	return "const of_" + name + " = (() => {\n" + module + "return { " + strings.Join(exports, ", ") + " };\n})();\n"
}

// policy allows exactly these inline texts and nothing from elsewhere. Styles set by script (element.style)
// are not inline styles; style attributes are, and there are none.
func policy(style string, scripts ...string) string {
	var b strings.Builder
	b.WriteString("default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; connect-src 'self'; img-src 'self' data:; manifest-src 'self'; worker-src 'self'; style-src '" + hash(style) + "'; script-src")
	for _, s := range scripts {
		b.WriteString(" '" + hash(s) + "'")
	}
	return b.String()
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// sheet is a small page with a few values filled in by the server.
type sheet struct {
	page *template.Template
	csp  string
	html map[string]any
}

func newSheet(name, style, script string) *sheet {
	return &sheet{
		page: template.Must(template.New(name).Parse(ui(name))),
		csp:  policy(style, script),
		html: map[string]any{"Style": template.HTML("<style>" + style + "</style>"), "Script": template.HTML("<script>" + script + "</script>"), "Icons": template.HTML(ui("icons.svg"))},
	}
}

func (t *sheet) send(w http.ResponseWriter, code int, values map[string]any) {
	for k, v := range t.html {
		values[k] = v
	}
	var b bytes.Buffer
	if err := t.page.Execute(&b, values); err != nil {
		http.Error(w, "The page cannot be made.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", t.csp)
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(code)
	w.Write(b.Bytes())
}

// getDocument serves the page. It holds no fact about any session, so it is the same for everybody.
func (s *Server) getDocument(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("ETag", s.doc.tag)
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", s.doc.csp)
	if same(r, s.doc.tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	still(w, "text/html; charset=utf-8", s.doc.page)
	return nil
}

func (s *Server) getManifest(w http.ResponseWriter, _ *http.Request) error {
	name := s.engine.Snapshot().Name
	if name == "" {
		name = "Tower"
	}
	b, err := encode(map[string]any{
		"name": name, "short_name": name, "start_url": "/", "scope": "/", "display": "standalone",
		"background_color": "#0d1014", "theme_color": "#14181d",
		"icons": []map[string]string{{"src": "/icon.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "any"}},
	})
	if err != nil {
		return err
	}
	still(w, "application/manifest+json", b)
	return nil
}

func (s *Server) getIcon(w http.ResponseWriter, _ *http.Request) error {
	still(w, "image/svg+xml", []byte(ui("icon.svg")))
	return nil
}

func (s *Server) getWorker(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'; frame-ancestors 'none'")
	still(w, "text/javascript; charset=utf-8", s.doc.worker)
	return nil
}

func (s *Server) getOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	b, err := fs.ReadFile(files, "openapi.json")
	if err != nil {
		return fmt.Errorf("read openapi.json: %w", err)
	}
	still(w, "application/json; charset=utf-8", b)
	return nil
}

func still(w http.ResponseWriter, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	w.Write(body)
}
