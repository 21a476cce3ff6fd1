package launch

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/core/proc"
)

// TestExecFails shows every reason why nothing is started: the sentence is printed and in the inbox.
func TestExecFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("#!/nowhere/node\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Order)
		answer http.HandlerFunc
		want   string
	}{
		"missing folder":    {func(o *Order) { o.Dir += "/gone" }, nil, "/gone does not exist."},
		"folder is a file":  {func(o *Order) { o.Dir = file }, nil, file + " is a file, not a folder."},
		"folder below one":  {func(o *Order) { o.Dir = file + "/x" }, nil, "a part of its path is a file."},
		"missing program":   {func(o *Order) { o.Argv[0] = "no-such-agent" }, nil, "no-such-agent is not installed: it is not in /usr/bin, /bin."},
		"missing path":      {func(o *Order) { o.Argv[0] = "/nowhere/agent" }, nil, "/nowhere/agent cannot be started: it does not exist."},
		"program is folder": {func(o *Order) { o.Argv[0] = "/usr" }, nil, "/usr cannot be started: it is a folder."},
		"not executable":    {func(o *Order) { o.Argv[0] = "/etc/passwd" }, nil, "/etc/passwd cannot be started: it is not executable."},
		"relative program":  {func(o *Order) { o.Argv[0] = "./agent" }, nil, "./agent is neither a full path nor a plain name."},
		"no interpreter":    {func(o *Order) { o.Argv[0] = file }, nil, file + " needs a program that is not there, the one its first line names."},
		"over": {func(o *Order) {}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusGone)
			fmt.Fprintln(w, `{"error":"This launch was cancelled at 14:02."}`)
		}, "This launch was cancelled at 14:02."},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			if c.answer == nil {
				c.answer = says("PATH=/usr/bin:/bin")
			}
			p.tower(t, c.answer)
			o := p.agent(t, "t")
			c.change(&o)
			got := run(t, write(t, p, o, ""), nil)
			list := p.reports(t)
			last := list[len(list)-1]
			r, ok := ReportOf(last)
			if got.code != 1 || !ok || last.Event != EventFailed || !strings.HasSuffix(r.Error, c.want) {
				t.Errorf("%+v, %s %+v, want %q", got, last.Event, r, c.want)
			}
			if want := "tower: not started: " + r.Error + "\n"; got.stderr != want {
				t.Errorf("it printed %q, want %q", got.stderr, want)
			}
			if *last.LaunchToken != "t" || r.Proc.PID != got.pid {
				t.Errorf("the report is of %q, pid %d, want t, %d", *last.LaunchToken, r.Proc.PID, got.pid)
			}
		})
	}
}

// TestExecWithoutOrder: a file that cannot be read is told under the name it has.
func TestExecWithoutOrder(t *testing.T) {
	p := newPlace(t)
	if err := os.MkdirAll(p.inbox, 0o700); err != nil {
		t.Fatal(err)
	}
	got := run(t, filepath.Join(p.launches, "tok.json"), nil)
	r, _ := p.report(t, EventFailed)
	if got.code != 1 || r.Token != "tok" || !strings.Contains(r.Error, "no such file") {
		t.Errorf("%+v, %+v", got, r)
	}
	// Where there is no home none is made.
	elsewhere := t.TempDir()
	got = run(t, filepath.Join(elsewhere, "launches", "tok.json"), nil)
	if entries, _ := os.ReadDir(elsewhere); got.code != 1 || len(entries) > 0 {
		t.Errorf("%+v, it made %v", got, entries)
	}
}

// TestExecOldBoot: a window that comes back after the machine was started anew starts nothing.
func TestExecOldBoot(t *testing.T) {
	p := newPlace(t)
	path := write(t, p, p.agent(t, "t"), "")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Replace(string(text), proc.Boot(), "00000000-0000-4000-8000-000000000000", 1)
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, path, nil)
	r, _ := p.report(t, EventFailed)
	if got.code != 1 || !strings.Contains(r.Error, "before the machine was started anew") {
		t.Errorf("%+v, %+v", got, r)
	}
}
