package web

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"tower/core"
)

type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"` // a name, or a list of them
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	OneOf      []*schema          `json:"oneOf"`
	Additional any                `json:"additionalProperties"`
}

type operation struct {
	Summary string `json:"summary"`
	Local   bool   `json:"x-socket-only"`
	Body    *struct {
		Content map[string]struct{ Schema *schema }
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]struct{ Schema *schema }
	} `json:"responses"`
}

type openAPI struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

func (d *openAPI) resolve(t *testing.T, s *schema) *schema {
	t.Helper()
	if s == nil || s.Ref == "" {
		return s
	}
	r := d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	if r == nil {
		t.Fatalf("%s is not there", s.Ref)
	}
	return r
}

// check holds an answer to its schema: no field that is not described, none missing, null only where it
// is described and an empty text only where it is not.
func (d *openAPI) check(t *testing.T, at string, s *schema, v any) {
	t.Helper()
	if s = d.resolve(t, s); s == nil {
		return
	}
	if len(s.OneOf) > 0 {
		if v != nil {
			d.check(t, at, s.OneOf[0], v)
		}
		return
	}
	if v == nil || v == "" {
		names, _ := s.Type.([]any)
		if v == nil && !slices.Contains(names, any("null")) {
			t.Errorf("%s is null, which is not described", at)
		}
		if v == "" && slices.Contains(names, any("null")) {
			t.Errorf("%s is an empty text where null is described", at)
		}
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range s.Required {
			if _, ok := v[k]; !ok {
				t.Errorf("%s: the answer lacks %s", at, k)
			}
		}
		for k, e := range v {
			p, known := s.Properties[k]
			if !known && s.Additional == false {
				t.Errorf("%s: %s is not described", at, k)
			}
			if known {
				d.check(t, at+"."+k, p, e)
			}
		}
	case []any:
		for _, e := range v {
			d.check(t, at+"[]", s.Items, e)
		}
	}
}

func TestOpenAPIIsTheRoutes(t *testing.T) {
	w := start(t, small())
	var d openAPI
	w.over("GET", "/api/openapi.json", "").into(t, &d)
	described := map[string]bool{}
	for path, ops := range d.Paths {
		for method := range ops {
			described[strings.ToUpper(method)+" "+path] = true
		}
	}
	for _, r := range apiRoutes {
		key := r.method + " " + r.path
		if !described[key] {
			t.Errorf("%s is not described", key)
			continue
		}
		delete(described, key)
		op := d.Paths[r.path][strings.ToLower(r.method)]
		if op.Local != r.local {
			t.Errorf("%s: x-socket-only = %v, want %v", key, op.Local, r.local)
		}
		if op.Summary == "" {
			t.Errorf("%s has no summary", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(described)) {
		t.Errorf("%s is described but not there", key)
	}

	f := w.engine
	id := string(f.Snapshot().Rows[0].ID)
	f.token, f.env = "token-1", func() ([]string, error) { return []string{"A=b"}, nil }
	f.answer = func(core.Command) (core.Result, error) {
		return core.Result{Said: "Done.", End: &core.EndResult{Ended: true}, Launch: &core.LaunchResult{Token: "t", Agent: "claude"},
			Run: &core.Launch{Argv: []string{"tmux"}, Set: map[string]string{"A": "b"}}}, nil
	}
	f.publish(func(s *core.Snapshot) {
		s.Launches = []core.Launching{{Token: "t", Agent: "claude", CWD: "/home/dev", State: core.LaunchOpening}, {Token: "u", Agent: "codex", CWD: "/", State: core.LaunchFailed, Text: "It ended after 0.8 s.", Lines: []string{"no such model"}}}
	})
	bodies := map[string]string{
		"/api/launch":                 `{"agent":"claude","cwd":"/home/dev","model":"m","name":"n","prompt":"p","terminal":"t"}`,
		"/api/sessions/{id}/resume":   `{"model":"m","cwd":"/home/dev","terminal":"t"}`,
		"/api/sessions/{id}/continue": `{"agent":"codex","cwd":"/","model":"m","name":"n","prompt":"p","terminal":"t"}`,
		"/api/sessions/{id}/attach":   `{"here":true,"terminal":"t"}`,
		"/api/sessions/{id}/end":      `{"force":true}`,
		"/api/sessions/{id}/type":     `{"text":"t"}`,
		"/api/import":                 `{"full":true}`,
		"/api/sessions/{id}/rename":   `{"name":"n"}`, "/api/sessions/{id}/describe": `{"description":"d"}`, "/api/sessions/{id}/tag": `{"tags":["t"]}`,
		"/api/tickets": `{"path":"/"}`, "/api/token": `{"on":true}`, "/api/password": `{"password":"correct horse"}`,
	}
	w.signedIn() // so that there is a browser to list
	device := w.devices.all()[0].ID
	for path, ops := range d.Paths {
		for method, op := range ops {
			real := strings.NewReplacer("{id}", id, "{token}", f.token).Replace(path)
			if strings.HasPrefix(path, "/api/devices/") {
				continue // after the others, below
			}
			body := bodies[path]
			if op.Body != nil {
				var given map[string]any
				if body == "" {
					body = "{}"
				}
				json.Unmarshal([]byte(body), &given)
				s := d.resolve(t, op.Body.Content["application/json"].Schema)
				for k := range s.Properties {
					if _, ok := given[k]; !ok {
						t.Errorf("%s %s: the body's %s is described, this test does not send it", method, path, k)
					}
				}
			}
			a := w.over(strings.ToUpper(method), real, body)
			var v any
			if a.into(t, &v); a.Code != 200 {
				t.Errorf("%s %s = %d %s", method, real, a.Code, a.Body)
			}
			d.check(t, path, op.Responses["200"].Content["application/json"].Schema, v)
			for code, r := range op.Responses {
				if code != "200" && r.Content["application/json"].Schema.Ref != "#/components/schemas/Fault" {
					t.Errorf("%s %s: %s is not a Fault", method, path, code)
				}
			}
		}
	}
	var v any
	a := w.over("POST", "/api/devices/"+device+"/signout", "{}")
	a.into(t, &v)
	d.check(t, "signout", d.Paths["/api/devices/{id}/signout"]["post"].Responses["200"].Content["application/json"].Schema, v)
	var refused any
	w.over("GET", "/api/sessions?limit=x", "").into(t, &refused)
	d.check(t, "fault", d.Components.Schemas["Fault"], refused)
}
