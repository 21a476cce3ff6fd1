// Gotest runs "go test" over packages and counts what happened, because "ok" alone does not tell
// whether a test ran or was left out. It prints a line a package, the output of every test that
// failed, the reason of every test that was skipped, and at the end one line of totals.
//
//	gotest [-C folder] [-race packages] [-tags list] [-flags "flags of go test"] [-v] package...
//
// Packages named with -race (import paths below the module, a trailing "..." takes all below) are run
// with the race detector and the others without, each package once: the detector needs its own build
// of everything, the C of SQLite included, and is worth that only where goroutines share state.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

type options struct {
	dir, race, tags string
	verbose         bool
	flags           []string
}

func main() {
	var o options
	flag.StringVar(&o.dir, "C", ".", "folder of the module to test")
	flag.StringVar(&o.race, "race", "", "packages for the race detector, separated by commas")
	flag.StringVar(&o.tags, "tags", "", "build tags")
	flag.BoolVar(&o.verbose, "v", false, "print everything as it comes")
	extra := flag.String("flags", "", "further flags of go test, separated by blanks")
	flag.Parse()
	o.flags = strings.Fields(*extra)
	began := time.Now()
	c := counter{verbose: o.verbose, w: os.Stdout}
	err := run(o, flag.Args(), &c)
	fmt.Printf("%d passed, %d failed, %d skipped in %d packages, %.0f s\n", c.passed, c.failed, c.skipped, c.packages, time.Since(began).Seconds())
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

func run(o options, patterns []string, c *counter) error {
	list := exec.Command("go", append([]string{"list", "-tags", o.tags}, patterns...)...)
	list.Dir, list.Stderr = o.dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("list packages: %w", err)
	}
	plain, raced := split(strings.Fields(string(out)), strings.Split(o.race, ","))
	var failed error
	for _, group := range []struct {
		packages []string
		race     bool
	}{{plain, false}, {raced, true}} {
		if len(group.packages) == 0 {
			continue
		}
		args := []string{"test", "-json", "-tags", o.tags}
		if group.race {
			args = append(args, "-race")
		}
		args = append(append(args, o.flags...), group.packages...)
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Stderr = o.dir, os.Stderr
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		readErr := c.read(pipe)
		if err := cmd.Wait(); err != nil {
			failed = fmt.Errorf("go test: %w", err)
		}
		if readErr != nil {
			return fmt.Errorf("read test output: %w", readErr)
		}
	}
	if failed == nil && c.failed > 0 {
		failed = fmt.Errorf("%d tests failed", c.failed)
	}
	if failed == nil && c.packages == 0 {
		failed = fmt.Errorf("no package was tested")
	}
	return failed
}

// split divides packages by whether a pattern names them; the module's own name may be left out.
func split(packages, patterns []string) (plain, raced []string) {
	for _, p := range packages {
		_, short, _ := strings.Cut(p, "/")
		if slices.ContainsFunc(patterns, func(pat string) bool {
			if below, ok := strings.CutSuffix(pat, "/..."); ok {
				return short == below || strings.HasPrefix(short, below+"/")
			}
			return pat == "..." || pat != "" && short == pat
		}) {
			raced = append(raced, p)
		} else {
			plain = append(plain, p)
		}
	}
	return plain, raced
}

type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

type counter struct {
	w                                 io.Writer
	verbose                           bool
	passed, failed, skipped, packages int
	inPackage, failedIn               map[string]int
	output                            map[[2]string]*strings.Builder
}

func (c *counter) read(r io.Reader) error {
	c.inPackage, c.failedIn, c.output = map[string]int{}, map[string]int{}, map[[2]string]*strings.Builder{}
	s := bufio.NewScanner(r)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var e event
		if json.Unmarshal(s.Bytes(), &e) != nil {
			fmt.Fprintln(c.w, s.Text()) // a message of the go command itself
			continue
		}
		c.take(e)
	}
	return s.Err()
}

func (c *counter) take(e event) {
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(c.w, e.Output)
	case "output":
		if c.verbose {
			fmt.Fprint(c.w, e.Output)
			return
		}
		b := c.output[key]
		if b == nil {
			b = &strings.Builder{}
			c.output[key] = b
		}
		b.WriteString(e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			c.endPackage(e)
			return
		}
		c.endTest(e, key)
	}
}

func (c *counter) endTest(e event, key [2]string) {
	c.inPackage[e.Package]++
	text := ""
	if b := c.output[key]; b != nil {
		text = b.String()
	}
	delete(c.output, key)
	switch e.Action {
	case "pass":
		c.passed++
	case "skip":
		c.skipped++
		fmt.Fprintf(c.w, "SKIP  %s %s: %s\n", e.Package, e.Test, reason(text))
	case "fail":
		c.failed++
		c.failedIn[e.Package]++
		fmt.Fprintf(c.w, "FAIL  %s %s (%.2f s)\n%s", e.Package, e.Test, e.Elapsed, text)
	}
}

func (c *counter) endPackage(e event) {
	c.packages++
	n := c.inPackage[e.Package]
	key := [2]string{e.Package, ""}
	switch e.Action {
	case "pass":
		fmt.Fprintf(c.w, "ok    %s  %d tests, %.1f s\n", e.Package, n, e.Elapsed)
	case "skip":
		fmt.Fprintf(c.w, "-     %s  no tests\n", e.Package)
	case "fail":
		// What stopped a whole package (a panic, a time limit, TestMain) is written under no test, or
		// under one that never ended.
		fmt.Fprintf(c.w, "FAIL  %s  %d tests, %.1f s\n", e.Package, n, e.Elapsed)
		for k, b := range c.output {
			if k[0] == e.Package {
				fmt.Fprint(c.w, b.String())
			}
		}
		if c.failedIn[e.Package] == 0 {
			c.failed++ // it did not build, or died within a test or before the first
		}
	}
	delete(c.output, key)
}

// reason is the line of a skipped test's output that says why.
func reason(output string) string {
	why := "no reason given"
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			why = line
		}
	}
	return why
}
