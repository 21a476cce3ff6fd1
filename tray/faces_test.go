package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/core"
	"tower/core/home"
	"tower/core/live"
	"tower/core/proc"
	"tower/tray/cli"
	"tower/tray/menu"
	"tower/web"
)

// still is an engine whose picture never moves.
type still struct{ s *core.Snapshot }

func (e still) Snapshot() *core.Snapshot { return e.s }
func (e still) Wait(ctx context.Context, since int64) *core.Snapshot {
	if e.s.Revision <= since {
		<-ctx.Done()
	}
	return e.s
}
func (still) Do(context.Context, core.Command) (core.Result, error) { return core.Result{}, nil }
func (e still) Detail(_ context.Context, id core.SessionID) (core.Detail, error) {
	for _, r := range e.s.Rows {
		if r.ID == id {
			return core.Detail{Row: r}, nil
		}
	}
	return core.Detail{}, fs.ErrNotExist
}
func (still) Heat() []core.Heat { return nil }

type noSecrets struct{}

func (noSecrets) Get(string) (string, bool) { return "", false }
func (noSecrets) Set(string, string) error  { return nil }

// everyPill is a picture, made by the reducer, that holds a session of every kind a face can show.
func everyPill() *core.Snapshot {
	p := live.New(nil)
	old := core.ParseInstant("2026-01-02T03:04:05.000Z")
	n := 0
	session := func(title string, kind core.EventKind, change func(*core.Event)) {
		n++
		at := old + core.Instant(n*1000)
		ev := core.Event{
			Kind: core.EventStart, At: at, Agent: "claude", Native: fmt.Sprintf("%08d-0000-4000-8000-000000000000", n), CWD: "/home/dev/shopfront", Title: title,
			Proc: core.Process{Boot: "b", PID: 1000 + n, Start: uint64(n)}, Alive: true,
		}
		p.Apply(ev)
		ev.Kind = kind
		if change != nil {
			change(&ev)
		}
		p.Apply(ev)
	}
	seen := func(pill core.Pill, raw string) func(*core.Event) {
		return func(ev *core.Event) {
			ev.Sighting = &core.Sighting{Agent: ev.Agent, Native: ev.Native, Proc: ev.Proc, Pill: pill, Raw: raw, Final: true, Grade: core.GradeRecord, At: ev.At}
		}
	}
	wait := func(w core.Wait, ask string) func(*core.Event) {
		return func(ev *core.Event) { ev.Wait, ev.Ask = w, ask }
	}
	twice := func(ev *core.Event) {
		ev.Facts = &core.Facts{Agent: ev.Agent, Native: ev.Native, Lines: 9, Bytes: 9, Turns: 7, Class: core.ClassMain}
	}
	session("Rotate signing keys", core.EventWait, wait(core.WaitPermission, "Bash systemctl restart vault-signer"))
	session("Split the invoice parser", core.EventWait, wait(core.WaitQuestion, "Keep the old entry point?"))
	session("Map tiles cache", core.EventWait, wait(core.WaitDialog, "trust this folder?"))
	session("Flaky checkout test", core.EventSeen, seen(core.PillWorking, "busy"))
	session("Docs: retry policy", core.EventSeen, seen(core.PillIdle, "idle"))
	session("Search index rebuild", core.EventSeen, seen(core.PillShell, "shell"))
	session("Tile store", core.EventSeen, seen(core.PillStarting, ""))
	session("Nightly audit", core.EventSeen, seen(core.PillOther, "compacting"))
	for _, x := range []struct {
		title string
		kind  core.EventKind
	}{{"Login throttle", core.EventEnd}, {"Dark palette", core.EventGone}, {"Upgrade", core.EventKill}} {
		session(x.title, core.EventFacts, twice)
		p.Apply(core.Event{Kind: x.kind, At: old + core.Instant(n*1000), Agent: "claude", Native: fmt.Sprintf("%08d-0000-4000-8000-000000000000", n), Proc: core.Process{Boot: "b", PID: 1000 + n, Start: uint64(n)}, Reason: "other"})
	}
	nested := true
	session("A helper's", core.EventSeen, func(ev *core.Event) { seen(core.PillWorking, "busy")(ev); ev.Nested = &nested })
	rows, counts, per := p.Rows()
	return &core.Snapshot{
		Revision: 7, At: old, Mode: core.ModeLive, Name: "Tower", Build: "b1", Zone: "UTC", Counts: counts, Rows: rows,
		Agents: []core.AgentState{{Agent: "claude", Display: "Claude Code", Code: "CC", Installed: true, Counts: per["claude"]}},
	}
}

// TestThreeFaces draws one picture on all three faces: every pill against its golden text, and the
// same counts everywhere.
func TestThreeFaces(t *testing.T) {
	s := everyPill()
	api, command := facesOf(t, s)

	var b strings.Builder
	m, _ := menu.Build(s, s.At.Time(), menu.State{}, menu.Options{GOOS: "linux"})
	fmt.Fprintf(&b, "icon %s\ntooltip %s\n", m.Icon, m.Tooltip)
	for _, section := range m.Sections {
		for _, it := range section.Items {
			if it.Shown {
				fmt.Fprintf(&b, "menu  %-12s %s\n", section.ID, it.Text)
			}
		}
	}
	for _, r := range api.Sessions {
		pill, wait := "-", ""
		if r.Live != nil {
			pill, wait = string(r.Live.Pill), string(r.Live.Wait)+r.Live.Raw
		}
		fmt.Fprintf(&b, "api   %-9s %-8s %-10s %-11s %s\n", r.Group, r.Status, pill, wait, r.TitleText)
	}
	for line := range strings.Lines(command["sessions"]) {
		if f := strings.Fields(line); len(f) > 0 {
			fmt.Fprintf(&b, "cli   %s\n", strings.Join(f, " "))
		}
	}
	golden(t, "testdata/faces.golden", b.String())

	want := s.Counts
	for where, got := range map[string]core.Counts{"api": api.Counts, "status --json": snapshotOf(t, command["status"]).Counts} {
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s counts otherwise (-picture +face):\n%s", where, d)
		}
	}
	if n := len(api.Sessions); n != want.Visible {
		t.Errorf("the page lists %d sessions, the picture counts %d", n, want.Visible)
	}
	if n := strings.Count(command["sessions"], "\n") - 1; n != want.Visible {
		t.Errorf("the command line lists %d sessions, the picture counts %d", n, want.Visible)
	}
	if head := fmt.Sprintf("%d wait for you", want.Waiting); !strings.Contains(b.String(), head) || !strings.Contains(command["plain"], head) {
		t.Errorf("menu or status do not say %q", head)
	}
}

type apiList struct {
	Counts   core.Counts `json:"-"`
	Sessions []core.Row  `json:"rows"`
}

// facesOf serves the picture on a socket and asks API and command line for it.
func facesOf(t *testing.T, s *core.Snapshot) (apiList, map[string]string) {
	dir := t.TempDir()
	env := map[string]string{"TOWER_HOME": filepath.Join(dir, "tower"), "HOME": dir, "XDG_RUNTIME_DIR": dir, "PATH": os.Getenv("PATH")}
	h, err := home.Resolve(func(k string) string { return env[k] }, "linux")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Make(); err != nil {
		t.Fatal(err)
	}
	l, err := listenSocket(h.Socket())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	server := web.New(web.Options{Engine: still{s}, Build: s.Build, Secrets: noSecrets{}})
	go func() { served <- server.Serve(ctx, nil, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	me := proc.Self()
	text, _ := json.Marshal(cli.Endpoint{URL: "http://127.0.0.1:1", Socket: h.Socket(), PID: me.PID, Start: me.Start, Boot: me.Boot})
	if err := os.WriteFile(h.Endpoint(), text, 0o600); err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for name, args := range map[string][]string{"status": {"status", "--json"}, "plain": {"status"}, "sessions": {"sessions"}} {
		var out, errs bytes.Buffer
		if code := cli.Run(ctx, cli.Program{Version: "1", Out: &out, Err: &errs, Getenv: func(k string) string { return env[k] }}, args); code != 0 {
			t.Fatalf("tower %v exited with %d: %s", args, code, errs.String())
		}
		said[name] = out.String()
	}
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", h.Socket())
	}}}
	var list apiList
	var now struct {
		Counts core.Counts `json:"counts"`
	}
	for path, into := range map[string]any{"/api/sessions?limit=100": &list, "/api/live": &now} {
		res, err := client.Get("http://tower" + path)
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(res.Body).Decode(into)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	list.Counts = now.Counts
	client.CloseIdleConnections()
	return list, said
}

func snapshotOf(t *testing.T, text string) (s core.Snapshot) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-golden +now; -update takes it over):\n%s", file, d)
	}
}
