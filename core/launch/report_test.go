package launch

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

func envelope(t *testing.T, event string, r Report) core.Envelope {
	t.Helper()
	payload, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return core.Envelope{V: 1, Event: event, LaunchToken: &r.Token, Payload: payload}
}

func TestReportOf(t *testing.T) {
	good := Report{
		Token: "tok", Proc: core.Process{Boot: "b", PID: 4, Start: 5}, TTY: "/dev/pts/3", TTYDevice: 34819, Window: "42",
		Env: map[string]string{"WINDOWID": "42", "TMUX_PANE": "%1"}, Note: "n",
	}
	other := "other"
	for _, c := range []struct {
		name   string
		event  string
		change func(*Report)
		wrap   func(*core.Envelope)
		want   func(*Report) // nil = no report
	}{
		{"as written", EventExec, nil, nil, func(*Report) {}},
		{"a failure", EventFailed, func(r *Report) { r.Error = "why" }, nil, func(r *Report) { r.Error = "why" }},
		{"a failure without a process", EventFailed, func(r *Report) { r.Proc, r.Error = core.Process{}, "why" }, nil, func(r *Report) { r.Proc, r.Error = core.Process{}, "why" }},
		{"a failure without a reason", EventFailed, nil, nil, func(r *Report) { r.Error = "The launcher did not say why." }},
		{"another event", "SessionStart", nil, nil, nil},
		{"no process", EventExec, func(r *Report) { r.Proc.Start = 0 }, nil, nil},
		{"a bad token", EventExec, func(r *Report) { r.Token = "../x" }, nil, nil},
		{"another token outside", EventExec, nil, func(e *core.Envelope) { e.LaunchToken = &other }, nil},
		{"no token outside", EventExec, nil, func(e *core.Envelope) { e.LaunchToken = nil }, func(*Report) {}},
		{"no JSON", EventExec, nil, func(e *core.Envelope) { e.Payload = []byte("{") }, nil},
		{"endless", EventExec, func(r *Report) { r.Note = strings.Repeat("x", maxReport) }, nil, nil},
		{"a stray variable", EventExec, func(r *Report) { r.Env["SECRET"] = "x" }, nil, func(*Report) {}},
		{"a variable a terminal obeys", EventExec, func(r *Report) { r.Env["TMUX_PANE"] = "\x1b]0;x\a" }, nil, func(r *Report) { delete(r.Env, "TMUX_PANE") }},
		{"a window of its own", EventExec, func(r *Report) { r.Window = "7" }, nil, func(*Report) {}},
		{"no terminal", EventExec, func(r *Report) { r.TTY = "pts/3" }, nil, func(r *Report) { r.TTY = "" }},
		{"two lines", EventFailed, func(r *Report) { r.Error = " a\nb\x1b[0m\u202e\xff " }, nil, func(r *Report) { r.Error = "a b\ufffd[0m\ufffd\ufffd" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good
			r.Env = map[string]string{"WINDOWID": "42", "TMUX_PANE": "%1"}
			if c.change != nil {
				c.change(&r)
			}
			e := envelope(t, c.event, r)
			if c.wrap != nil {
				c.wrap(&e)
			}
			got, ok := ReportOf(e)
			if ok != (c.want != nil) {
				t.Fatalf("ReportOf = %+v, %v", got, ok)
			}
			if !ok {
				return
			}
			want := good
			want.Env = map[string]string{"WINDOWID": "42", "TMUX_PANE": "%1"}
			c.want(&want)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("ReportOf (-want +got):\n%s", d)
			}
		})
	}
}

func FuzzReportOf(f *testing.F) {
	f.Add(EventExec, []byte(`{"token":"t","process":{"boot_id":"b","pid":1,"start":2},"env":{"TMUX":"x"},"error":"é\n"}`))
	f.Add(EventFailed, []byte(`{"token":"t","error":"`+strings.Repeat("ä", 600)+`"}`))
	f.Fuzz(func(t *testing.T, event string, payload []byte) {
		r, ok := ReportOf(core.Envelope{Event: event, Payload: payload})
		if !ok {
			return
		}
		for _, s := range []string{r.TTY, r.Window, r.Note, r.Error} {
			if len(s) > maxHint || strings.ContainsFunc(s, unicode.IsControl) {
				t.Errorf("%q passed", s)
			}
		}
	})
}
