package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tower/core/config"
	"tower/core/ledger"
	"tower/core/live"
)

var update = flag.Bool("update", false, "rewrite what is derived from the code")

const runbook = "../installer/README.md"

// TestRunbook holds the runbook's tables to the code: a row that is wrong there is worse than none.
func TestRunbook(t *testing.T) {
	text, err := os.ReadFile(runbook)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(text)
	for _, part := range []struct{ name, table string }{
		{"transitions", transitions()},
		{"schema", schema(t)},
		{"settings", settingsTable()},
		{"packages", packageTable(t)},
	} {
		begin, end := "<!-- "+part.name+" -->\n", "<!-- end of "+part.name+" -->\n"
		i, j := strings.Index(doc, begin), strings.Index(doc, end)
		if i < 0 || j < i {
			t.Errorf("the runbook has no part %q", part.name)
			continue
		}
		if got := doc[i+len(begin) : j]; got != part.table {
			if !*update {
				t.Errorf("the runbook's part %q is not what the code says; run: go test ./tray -run TestRunbook -update", part.name)
			}
			doc = doc[:i+len(begin)] + part.table + doc[j:]
		}
	}
	if *update && doc != string(text) {
		if err := os.WriteFile(runbook, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// transitions groups the rows of one status that lead to the same end.
func transitions() string {
	var b strings.Builder
	b.WriteString("| from | event | when | to | and |\n| --- | --- | --- | --- | --- |\n")
	word := func(s string, none string) string {
		if s == "" {
			return none
		}
		return s
	}
	var last live.Transition
	var kinds []string
	flush := func() {
		if len(kinds) > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", word(string(last.From), "(none)"), strings.Join(kinds, " "), word(string(last.When), "always"), word(string(last.To), "(none)"), word(last.Then, "nothing else"))
		}
		kinds = nil
	}
	for _, r := range live.Table {
		if len(kinds) > 0 && (r.From != last.From || r.When != last.When || r.To != last.To || r.Then != last.Then) {
			flush()
		}
		last = r
		kinds = append(kinds, string(r.On))
	}
	flush()
	return b.String()
}

func schema(t *testing.T) string {
	dir := t.TempDir()
	db, err := ledger.Open(context.Background(), filepath.Join(dir, "ledger.sqlite"), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tables, err := db.Schema(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| table | columns |\n| --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		var columns []string
		for _, c := range tables[name] {
			columns = append(columns, c.Name)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, strings.Join(columns, " "))
	}
	return b.String()
}

func settingsTable() string {
	var b strings.Builder
	b.WriteString("| key | default | allowed | why |\n| --- | --- | --- | --- |\n")
	for _, k := range config.Keys {
		fmt.Fprintf(&b, "| `%s` | `%v` | %s | %s |\n", k.Name, k.Default, k.Allowed, k.Why)
	}
	return b.String()
}

// packageTable is the file map: every package with the first sentence of its comment.
func packageTable(t *testing.T) string {
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Doc}}", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var b strings.Builder
	b.WriteString("| folder | what it is |\n| --- | --- |\n")
	for line := range strings.Lines(string(out)) {
		path, doc, _ := strings.Cut(strings.TrimSpace(line), "\t")
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimPrefix(path, "tower/"), strings.ReplaceAll(doc, "|", "\\|"))
	}
	return b.String()
}
