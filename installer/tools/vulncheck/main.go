// Vulncheck tells which known vulnerabilities the programs of this repository can reach. It runs
// govulncheck against a database made from the module golang.org/x/vulndb, so that the module proxy
// is all the network it needs, and judges its findings: a vulnerability in a module is an error and
// exits 1; one in the standard library is a warning that names the Go release with the fix, because
// only another Go can cure it. When no data can be had it says "not checked" and exits 0: it never
// calls something clean that nobody looked at.
//
//	vulncheck [-C folder] package...     each package a program, scanned on its own
//
// Programs are scanned one by one: over many mains at once the call graph mixes them and invents
// traces that no program has.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const dataModule = "golang.org/x/vulndb"

func main() {
	dir := flag.String("C", ".", "folder of the module to look at")
	flag.Parse()
	found, err := run(*dir, flag.Args())
	switch {
	case errors.Is(err, errNoData):
		fmt.Printf("vulnerability data not available: not checked (%v)\n", err)
	case err != nil:
		fmt.Fprintln(os.Stderr, "vulncheck:", err)
		os.Exit(2)
	case found:
		os.Exit(1)
	}
}

var errNoData = errors.New("no data")

func run(dir string, programs []string) (bool, error) {
	data, version, err := fetch()
	if err != nil {
		return false, fmt.Errorf("%w: %w", errNoData, err)
	}
	db, err := os.MkdirTemp("", "vulndb")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(db)
	entries, err := index(filepath.Join(data, "data", "osv"), db)
	if err != nil {
		return false, fmt.Errorf("index vulnerability data: %w", err)
	}
	fmt.Printf("vulnerability data: %d entries as of %s\n", entries, version)
	bad := false
	for _, p := range programs {
		out, err := scan(dir, db, p)
		if err != nil {
			return false, err
		}
		found, err := judge(bytes.NewReader(out))
		if err != nil {
			return false, fmt.Errorf("read findings of %s: %w", p, err)
		}
		bad = report(os.Stdout, p, found) || bad
	}
	return bad, nil
}

// fetch returns the folder of the newest data that can be had: that of the module proxy, else the
// newest already in the module cache.
func fetch() (dir, version string, err error) {
	cmd := exec.Command("go", "mod", "download", "-json", dataModule+"@latest")
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	out, runErr := cmd.Output()
	var m struct{ Dir, Version, Error string }
	if err := json.Unmarshal(out, &m); err == nil && m.Dir != "" {
		return m.Dir, m.Version, nil
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return "", "", err
	}
	kept, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(cache)), "golang.org", "x", "vulndb@*"))
	if len(kept) > 0 {
		dir = slices.Max(kept)
		_, version, _ = strings.Cut(filepath.Base(dir), "@")
		return dir, version + " (from the module cache)", nil
	}
	if m.Error != "" {
		return "", "", errors.New(m.Error)
	}
	return "", "", runErr
}

type entry struct {
	ID       string   `json:"id"`
	Modified string   `json:"modified"`
	Aliases  []string `json:"aliases,omitempty"`
	Affected []struct {
		Package struct {
			Name string `json:"name"`
		} `json:"package"`
	} `json:"affected,omitempty"`
}

// index makes a folder that govulncheck accepts as a database: the entries under ID, and three lists
// of them. A list may name an entry for every version of a module; the scanner looks at the rest.
func index(osv, db string) (int, error) {
	files, err := filepath.Glob(filepath.Join(osv, "*.json"))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("no entries in %s", osv)
	}
	if err := os.Mkdir(filepath.Join(db, "index"), 0o755); err != nil {
		return 0, err
	}
	if err := os.Symlink(osv, filepath.Join(db, "ID")); err != nil {
		return 0, err
	}
	type vuln struct {
		ID       string `json:"id"`
		Modified string `json:"modified"`
	}
	type module struct {
		Path  string `json:"path"`
		Vulns []vuln `json:"vulns"`
	}
	var vulns []entry
	modules := map[string]*module{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return 0, err
		}
		var e entry
		if err := json.Unmarshal(b, &e); err != nil {
			return 0, fmt.Errorf("%s: %w", filepath.Base(f), err)
		}
		for _, a := range e.Affected {
			m := modules[a.Package.Name]
			if m == nil {
				m = &module{Path: a.Package.Name}
				modules[m.Path] = m
			}
			if v := (vuln{e.ID, e.Modified}); !slices.Contains(m.Vulns, v) {
				m.Vulns = append(m.Vulns, v)
			}
		}
		e.Affected = nil
		vulns = append(vulns, e)
	}
	list := make([]*module, 0, len(modules))
	for _, m := range modules {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *module) int { return cmp.Compare(a.Path, b.Path) })
	for name, v := range map[string]any{
		"db.json":      map[string]string{"modified": vulns[0].Modified},
		"modules.json": list,
		"vulns.json":   vulns,
	} {
		b, err := json.Marshal(v)
		if err != nil {
			return 0, err
		}
		if err := os.WriteFile(filepath.Join(db, "index", name), b, 0o644); err != nil {
			return 0, err
		}
	}
	return len(files), nil
}

func scan(dir, db, program string) ([]byte, error) {
	tools, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	// Built here, where the tools' module is, then run in the folder to look at.
	where, err := exec.Command("go", "tool", "-n", "govulncheck").Output()
	if err != nil {
		return nil, fmt.Errorf("build govulncheck in %s: %w", tools, err)
	}
	cmd := exec.Command(strings.TrimSpace(string(where)), "-format", "json", "-db", "file://"+filepath.ToSlash(db), program)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("govulncheck %s: %w\n%s", program, err, stderr.Bytes())
	}
	return out, nil
}

type finding struct {
	OSV   string `json:"osv"`
	Fixed string `json:"fixed_version"`
	Trace []struct {
		Module   string `json:"module"`
		Version  string `json:"version"`
		Package  string `json:"package"`
		Function string `json:"function"`
	} `json:"trace"`
}

// judge keeps of a scan's messages the findings in which the program calls the vulnerable function.
func judge(r io.Reader) ([]finding, error) {
	var called []finding
	seen := map[string]bool{}
	d := json.NewDecoder(r)
	for {
		var m struct {
			Finding *finding `json:"finding"`
		}
		err := d.Decode(&m)
		if err == io.EOF {
			return called, nil
		}
		if err != nil {
			return nil, err
		}
		f := m.Finding
		if f == nil || len(f.Trace) == 0 || f.Trace[0].Function == "" || seen[f.OSV+f.Trace[0].Package] {
			continue
		}
		seen[f.OSV+f.Trace[0].Package] = true
		called = append(called, *f)
	}
}

// report prints what was found in a program and tells whether any of it is an error.
func report(w io.Writer, program string, found []finding) bool {
	bad, std := 0, 0
	for _, f := range found {
		t := f.Trace[0]
		fixed := cmp.Or(f.Fixed, "no release yet")
		if t.Module == "stdlib" || t.Module == "toolchain" {
			std++
			fmt.Fprintf(w, "  warning: %s in %s of Go %s, fixed in %s\n", f.OSV, t.Package, strings.TrimPrefix(t.Version, "v"), fixed)
			continue
		}
		bad++
		fmt.Fprintf(w, "  error: %s in %s@%s (%s.%s), fixed in %s\n", f.OSV, t.Module, t.Version, t.Package, t.Function, fixed)
	}
	fmt.Fprintf(w, "%s: %d in modules, %d in the standard library\n", program, bad, std)
	return bad > 0
}
