package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rule says what a folder may import. Direct imports are checked, since fmt alone pulls in os.
type rule struct {
	from []string // folders of this module; a trailing "/*" takes every folder below
	std  bool     // nothing but the standard library otherwise
	pure bool     // neither os nor net nor the clock
}

// rules has a row for every package of the module; a package without one fails the test, so adding a
// package means deciding here what it may know.
var rules = map[string]rule{
	"core":          {std: true, pure: true},
	"core/inbox":    {from: []string{"core"}, std: true},
	"core/home":     {from: []string{"core"}, std: true},
	"core/proc":     {from: []string{"core"}, std: true},
	"core/live":     {from: []string{"core"}, std: true, pure: true},
	"core/project":  {from: []string{"core"}, std: true, pure: true},
	"core/classify": {from: []string{"core"}, std: true, pure: true},
	"core/launch":   {from: []string{"core", "core/inbox", "core/home", "core/proc"}},
	"core/*":        {from: []string{"core"}},
	"core/engine":   {from: []string{"core", "core/*"}},

	"adapters":             {from: []string{"core", "adapters/*"}},
	"adapters/jsonl":       {from: []string{"core"}},
	"adapters/jsonedit":    {from: []string{"core"}},
	"adapters/rosqlite":    {from: []string{"core"}},
	"adapters/adaptertest": {from: []string{"core", "adapters/jsonl"}},
	"adapters/*":           {from: []string{"core", "adapters/jsonl", "adapters/jsonedit", "adapters/rosqlite"}},

	"board":      {from: []string{"core", "board/*"}},
	"board/plan": {from: []string{"core", "board/card"}, std: true, pure: true},
	"board/card": {from: []string{"core"}, std: true, pure: true},
	"board/*":    {from: []string{"core"}},

	"web":   {from: []string{"core"}},
	"web/*": {from: []string{"core"}},

	"installer": {from: []string{"core", "core/home"}},
	"hooks":     {from: []string{"core", "core/inbox", "core/home", "core/proc"}, std: true},

	"tray":       {from: []string{"*"}},
	"tray/cli":   {from: []string{"*"}},
	"tray/e2e":   {from: []string{"*"}},
	"tray/bench": {from: []string{"*"}},
	"tray/menu":  {from: []string{"core"}, std: true, pure: true},
	"tray/icon":  {},
}

func ruleFor(dir string) (rule, bool) {
	if r, ok := rules[dir]; ok {
		return r, true
	}
	r, ok := rules[path.Dir(dir)+"/*"]
	return r, ok
}

func (r rule) allows(dir string) bool {
	for _, f := range r.from {
		if f == "*" && !strings.HasPrefix(dir, "tray/e2e") || f == dir {
			return true
		}
		if p, ok := strings.CutSuffix(f, "/*"); ok && strings.HasPrefix(dir, p+"/") && dir != "core/engine" {
			return true
		}
	}
	return false
}

func TestImports(t *testing.T) {
	for dir, files := range packages(t) {
		r, ok := ruleFor(dir)
		if !ok {
			t.Errorf("package %s has no import rule", dir)
			continue
		}
		for name, f := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			checkFile(t, dir, name, f, r)
		}
	}
}

func checkFile(t *testing.T, dir, name string, f *ast.File, r rule) {
	for _, spec := range f.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		if own, ok := strings.CutPrefix(p, "tower/"); ok {
			if own != dir && !r.allows(own) {
				t.Errorf("%s/%s imports %s, which %s may not know", dir, name, p, dir)
			}
			continue
		}
		first, _, _ := strings.Cut(p, "/")
		if r.std && strings.Contains(first, ".") {
			t.Errorf("%s/%s imports %s: %s is standard library only", dir, name, p, dir)
		}
		if r.pure && (p == "os" || p == "net" || strings.HasPrefix(p, "os/") || strings.HasPrefix(p, "net/")) {
			t.Errorf("%s/%s imports %s: %s is pure", dir, name, p, dir)
		}
	}
	if !r.pure {
		return
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Sleep", "After", "Since", "NewTimer", "NewTicker"}, s.Sel.Name) {
				t.Errorf("%s/%s uses time.%s: %s is pure", dir, name, s.Sel.Name, dir)
			}
		}
		return true
	})
}

// TestHookClosure keeps what makes the hook slow out of everything it links.
func TestHookClosure(t *testing.T) {
	if _, err := os.Stat(filepath.Join(root(t), "hooks")); err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{"linux/amd64", "darwin/arm64", "windows/amd64"} {
		goos, goarch, _ := strings.Cut(system, "/")
		cmd := exec.Command("go", "list", "-deps", "./hooks")
		cmd.Dir = root(t)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list for %s: %v", system, err)
		}
		for _, p := range strings.Fields(string(out)) {
			first, _, _ := strings.Cut(p, "/")
			switch {
			case p == "net" || strings.HasPrefix(p, "net/") || p == "os/user" || p == "runtime/cgo" || p == "log/slog" || p == "regexp":
				t.Errorf("%s: tower-hook links %s", system, p)
			case first == "tower":
				if !slices.Contains([]string{"tower/hooks", "tower/core", "tower/core/inbox", "tower/core/home", "tower/core/proc"}, p) {
					t.Errorf("%s: tower-hook links %s", system, p)
				}
			case strings.Contains(first, "."):
				t.Errorf("%s: tower-hook links %s, which is not the standard library", system, p)
			}
		}
	}
}

// root returns the module's folder.
func root(t *testing.T) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(wd)
}

// packages parses every Go file of the module, by folder. Build constraints are not looked at: a
// file for another system is held to the same rules.
func packages(t *testing.T) map[string]map[string]*ast.File {
	t.Helper()
	found := map[string]map[string]*ast.File{}
	top := root(t)
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(top, p)
		if d.IsDir() {
			if name := d.Name(); p != top && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || rel == "installer/tools") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(rel))
		if found[dir] == nil {
			found[dir] = map[string]*ast.File{}
		}
		found[dir][filepath.Base(p)] = f
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 2 {
		t.Fatalf("found %d packages below %s: the walk is broken", len(found), top)
	}
	return found
}
