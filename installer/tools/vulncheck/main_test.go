package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const findings = `{"config":{"protocol_version":"v1.0.0"}}
{"finding":{"osv":"GO-1","trace":[{"module":"example.org/imported","version":"v1.0.0","package":"example.org/imported"}]}}
{"finding":{"osv":"GO-2","fixed_version":"v1.26.9","trace":[{"module":"stdlib","version":"v1.26.8","package":"net/http","function":"Serve"}]}}
{"finding":{"osv":"GO-2","fixed_version":"v1.26.9","trace":[{"module":"stdlib","version":"v1.26.8","package":"net/http","function":"Get"}]}}
`

const called = `{"finding":{"osv":"GO-3","trace":[{"module":"example.org/called","version":"v1.2.3","package":"example.org/called/x","function":"F"}]}}
`

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		bad          bool
		says, omits  string
	}{
		{"the standard library warns", findings, false, "warning: GO-2 in net/http of Go 1.26.8, fixed in v1.26.9", "GO-1"},
		{"a module that is called fails", findings + called, true, "error: GO-3 in example.org/called@v1.2.3", "GO-1"},
		{"nothing found", "", false, "0 in modules, 0 in the standard library", "warning"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := judge(strings.NewReader(c.stream))
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if bad := report(&out, "./x", found); bad != c.bad {
				t.Errorf("bad = %v, want %v", bad, c.bad)
			}
			if !strings.Contains(out.String(), c.says) || strings.Contains(out.String(), c.omits) {
				t.Errorf("report says, without %q and with %q:\n%s", c.omits, c.says, out.String())
			}
		})
	}
	if _, err := judge(strings.NewReader(`{"finding":`)); err == nil {
		t.Error("a torn stream of findings is no error")
	}
}

func TestIndex(t *testing.T) {
	osv, db := t.TempDir(), t.TempDir()
	if _, err := index(osv, db); err == nil {
		t.Error("a folder without entries makes a database")
	}
	for id, module := range map[string]string{"GO-1": "example.org/a", "GO-2": "stdlib"} {
		text := `{"id":"` + id + `","modified":"2026-01-01T00:00:00Z","affected":[{"package":{"name":"` + module + `"}},{"package":{"name":"` + module + `"}}]}`
		if err := os.WriteFile(filepath.Join(osv, id+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n, err := index(osv, db)
	if err != nil || n != 2 {
		t.Fatalf("index = %d, %v, want 2 entries", n, err)
	}
	b, err := os.ReadFile(filepath.Join(db, "index", "modules.json"))
	if err != nil {
		t.Fatal(err)
	}
	var modules []struct {
		Path  string
		Vulns []struct{ ID string }
	}
	if err := json.Unmarshal(b, &modules); err != nil {
		t.Fatal(err)
	}
	if len(modules) != 2 || modules[0].Path != "example.org/a" || len(modules[0].Vulns) != 1 || modules[1].Vulns[0].ID != "GO-2" {
		t.Errorf("modules.json = %s", b)
	}
	if _, err := os.Stat(filepath.Join(db, "ID", "GO-1.json")); err != nil {
		t.Error(err)
	}
}
