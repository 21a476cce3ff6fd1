package codex

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/adapters/jsonl"
	"tower/core"
)

func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "codex-test-home")
	if err != nil {
		panic(err)
	}
	os.Setenv("HOME", home)
	os.Setenv("CODEX_HOME", filepath.Join(home, ".codex"))
	code := m.Run()
	os.Remove(home)
	os.Exit(code)
}

// info describes an installation below root.
func info(root string) core.AgentInfo {
	return core.AgentInfo{
		Agent: Name, Display: "Codex", Code: "CX", Tag: "codex",
		Exe:     []string{"*/codex"},
		Argv:    []string{"*/@openai/codex/bin/codex.js", "*/bin/codex"},
		Helpers: []string{"*codex app-server*"},
		Shared:  true,
		Root:    root, RootEnv: "CODEX_HOME",
		Transcripts: []string{"sessions", "archived_sessions"},
		HookFile:    "hooks.json", Instructions: "AGENTS.md", Closeout: "closeout",
	}
}

// poisoned makes a slice kept by mistake read wrong.
func poisoned() context.Context { return jsonl.Poison(context.Background()) }

func scanFile(t *testing.T, a *Adapter, path string, from core.Cursor) core.Scan {
	t.Helper()
	s, err := a.Scan(poisoned(), core.Source{Agent: Name, Path: path}, from)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// printed is a delta as `tower scan` prints it.
func printed(t *testing.T, d core.Delta) map[string]any {
	t.Helper()
	null := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	number := func(n *int64) any {
		if n == nil {
			return nil
		}
		return *n
	}
	days := map[string]int{}
	for _, turn := range d.Turns {
		days[turn.At.String()[:10]]++
	}
	counts := func(m map[string]int64) any {
		if m == nil {
			return map[string]int64{}
		}
		return m
	}
	f := d.Facts
	title := f.Name
	if title == "" {
		title = f.AgentTitle
	}
	b, err := json.Marshal(map[string]any{
		"agent": f.Agent, "agent_session_id": null(f.Native), "kind": f.Class, "parent_id": null(f.Parent),
		"forked_from": null(f.ForkedFrom), "cwd": null(f.CWD), "title": null(title), "first_message": null(f.First),
		"version": null(f.Version), "entrypoint": null(f.Entrypoint),
		"typed_prompts": f.Typed, "slash_to_model": f.Slash, "typed_mid_turn": f.MidTurn, "copied": f.Copied,
		"turns": f.Turns, "turns_per_day": days, "model": null(f.Model), "models": counts(f.Models),
		"context_tokens": number(f.ContextTokens), "context_window": number(f.ContextWindow),
		"skills": counts(f.Skills), "closeout": null(string(f.Closeout)), "folders": counts(f.Folders),
		"first_ts": f.FirstAt, "last_ts": f.LastAt, "bytes": f.Bytes, "lines": f.Lines, "bad_lines": f.Bad,
		"unknown_types": counts(f.Unknown),
	})
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestScanSamples(t *testing.T) {
	var want map[string]map[string]any
	b, err := os.ReadFile("testdata/rollouts/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob("testdata/rollouts/*.jsonl")
	if len(paths) != len(want) || len(paths) < 14 {
		t.Fatalf("%d samples, %d expected results", len(paths), len(want))
	}
	a := New(info(t.TempDir()))
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s := scanFile(t, a, path, core.Cursor{})
			if len(s.Deltas) != 1 || !s.Reset {
				t.Fatalf("Scan: %d deltas, reset %v", len(s.Deltas), s.Reset)
			}
			if d := cmp.Diff(want[filepath.Base(path)], printed(t, s.Deltas[0])); d != "" {
				t.Errorf("Scan (-want +got):\n%s", d)
			}
			if int64(len(s.Deltas[0].Turns)) != s.Deltas[0].Facts.Turns {
				t.Errorf("%d turns told, %d counted", len(s.Deltas[0].Turns), s.Deltas[0].Facts.Turns)
			}
		})
	}
}

// Lines of rollouts, in the vocabulary of the cases: every helper gives one line.

func line(at, kind, payload string) string {
	return `{"timestamp":"` + at + `","type":"` + kind + `","payload":` + payload + "}\n"
}

func meta(at, id, more string) string {
	return line(at, "session_meta", `{"id":"`+id+`","timestamp":"`+at+`","cwd":"/p/demo","originator":"codex_cli_rs","cli_version":"0.98.0","source":"cli"`+more+`}`)
}

func um(at, text string) string {
	return line(at, "event_msg", `{"type":"user_message","message":`+quoted(text)+`,"images":[]}`)
}

func item(at, id, text string) string {
	return line(at, "event_msg", `{"type":"item_completed","thread_id":"x","item":{"type":"UserMessage","id":"`+id+`","content":[{"type":"text","text":`+quoted(text)+`}]}}`)
}

func said(at, text string) string {
	return line(at, "response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":`+quoted(text)+`}]}`)
}

func labelled(at, kind, text string) string {
	return line(at, "response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":`+quoted(text)+`}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["`+kind+`"]}}`)
}

func tc(at string, last, total string) string {
	return line(at, "event_msg", `{"type":"token_count","info":{"total_token_usage":{"total_tokens":`+total+`},"last_token_usage":{"input_tokens":1,"total_tokens":`+last+`},"model_context_window":272000}}`)
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

const (
	idP = "019a0000-0000-7000-8000-00000000000a"
	idC = "019a0000-0000-7000-8000-00000000000c"
	d1  = "2026-11-01T10:00:0"
	d9  = "2026-11-09T12:00:00."
)

func write(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func rolloutName(id string) string { return "rollout-2026-11-01T10-00-00-" + id + ".jsonl" }

// only compares the members that a case names.
func only(t *testing.T, d core.Delta, want map[string]any) {
	t.Helper()
	got := printed(t, d)
	b, _ := json.Marshal(want)
	var w map[string]any
	if err := json.Unmarshal(b, &w); err != nil {
		t.Fatal(err)
	}
	for key := range got {
		if _, asked := w[key]; !asked {
			delete(got, key)
		}
	}
	if diff := cmp.Diff(w, got); diff != "" {
		t.Errorf("Scan (-want +got):\n%s", diff)
	}
}

func TestScanGenerations(t *testing.T) {
	env := "<environment_context>\n  <cwd>/p/env</cwd>\n</environment_context>"
	cases := map[string]struct {
		lines []string
		want  map[string]any
	}{
		"flat header, no times": {[]string{
			`{"id":"` + idP + `","timestamp":"2025-07-01T09:00:00.000Z","instructions":null,"git":{}}` + "\n",
			`{"record_type":"state"}` + "\n",
			`{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"<environment_context>\nCurrent working directory: /p/old\nApproval policy: never\n</environment_context>"}]}` + "\n",
			`{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"again"}]}` + "\n",
			`{"type":"reasoning","id":"r","summary":[]}` + "\n",
			`{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}` + "\n",
			`{"type":"function_call_output","call_id":"c","output":"x"}` + "\n",
			`{"record_type":"state"}` + "\n",
			`{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"again"}]}` + "\n",
		}, map[string]any{"agent_session_id": idP, "cwd": "/p/old", "typed_prompts": 2, "turns": 2, "turns_per_day": map[string]int{"2025-07-01": 2},
			"first_message": "again", "model": nil, "context_tokens": nil, "unknown_types": map[string]int{}, "kind": "main", "lines": 9}},
		"only response items": {[]string{
			meta(d1+"0.000Z", idP, ""), said(d1+"1.000Z", env), said(d1+"2.000Z", "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>"),
			said(d1+"3.000Z", "do it"), said(d1+"4.000Z", "<turn_aborted>\nby the user</turn_aborted>"), said(d1+"5.000Z", env+"\n\nand that"),
		}, map[string]any{"typed_prompts": 2, "turns": 2, "first_message": "do it", "cwd": "/p/demo"}},
		"events beside items": {[]string{
			meta(d1+"0.000Z", idP, ""), said(d1+"1.000Z", env), um(d1+"1.001Z", env),
			said(d1+"2.000Z", "one"), um(d1+"2.001Z", "one"), said(d1+"3.000Z", "<user_shell_command>ls</user_shell_command>"), said(d1+"4.000Z", "two"), um(d1+"4.001Z", "two"),
		}, map[string]any{"typed_prompts": 2, "turns": 2, "first_message": "one"}},
		"an event with only an image": {[]string{
			meta(d1+"0.000Z", idP, ""),
			line(d1+"1.000Z", "event_msg", `{"type":"user_message","message":"","local_images":["/p/a.png"]}`),
			line(d1+"2.000Z", "event_msg", `{"type":"user_message","message":"","images":[]}`),
			um(d1+"3.000Z", "look"),
		}, map[string]any{"typed_prompts": 2, "turns": 2, "first_message": "look"}},
		"the editor's context goes": {[]string{
			meta(d1+"0.000Z", idP, `,"thread_source":null`),
			um(d1+"1.000Z", "# Context from my IDE setup:\n\n## Active file: a.go\n\n## My request for Codex:\nfix a"),
			um(d1+"2.000Z", "# Context from my IDE setup:\n\n## Active file: a.go\n"),
			um(d1+"3.000Z", "# A heading of my own\n\nand text"),
		}, map[string]any{"typed_prompts": 2, "turns": 2, "first_message": "fix a"}},
		"an item that looks like a wrapper was typed": {[]string{
			meta(d1+"0.000Z", idP, ""), labelled(d1+"1.000Z", "user.text", "<skill><name>closeout</name></skill>"), item(d1+"1.001Z", "u1", "<skill><name>closeout</name></skill>"),
		}, map[string]any{"typed_prompts": 1, "turns": 1, "skills": map[string]int{}, "closeout": "open"}},
		"one prompt reported in both ways": {[]string{
			meta(d1+"0.000Z", idP, ""), um(d1+"1.000Z", "same"), item(d1+"1.002Z", "u1", "same"), item(d1+"3.000Z", "u2", "other"), um(d1+"3.001Z", "other"), um(d1+"9.000Z", "same"),
		}, map[string]any{"typed_prompts": 3, "turns": 3}},
		"the same line twice": {[]string{
			meta(d1+"0.000Z", idP, ""), um(d1+"1.000Z", "same"), um(d1+"1.000Z", "same"), um(d1+"2.000Z", "same"),
		}, map[string]any{"typed_prompts": 2, "turns": 2}},
		"resumed by appending its meta again": {[]string{
			meta(d1+"0.000Z", idP, ""), um(d1+"1.000Z", "a"), meta(d1+"2.000Z", idP, ""), um(d1+"3.000Z", "b"), meta("2026-11-02T00:00:00.000Z", idP, ""), um("2026-11-02T00:00:01.000Z", "c"),
		}, map[string]any{"typed_prompts": 3, "turns": 3, "copied": 0, "forked_from": nil, "turns_per_day": map[string]int{"2026-11-01": 2, "2026-11-02": 1}}},
		"sub-agent by source": {[]string{
			meta(d1+"0.000Z", idC, `,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"`+idP+`","depth":1}}}`), um(d1+"1.000Z", "task"),
		}, map[string]any{"kind": "subagent", "parent_id": idP, "typed_prompts": 1, "turns": 0, "turns_per_day": map[string]int{}}},
		"review thread": {[]string{
			meta(d1+"0.000Z", idC, `,"source":{"subagent":"review"}`), um(d1+"1.000Z", "review"),
		}, map[string]any{"kind": "subagent", "parent_id": nil, "turns": 0}},
		"driven over MCP":   {[]string{meta(d1+"0.000Z", idC, `,"source":"mcp"`), um(d1+"1.000Z", "x")}, map[string]any{"kind": "headless", "turns": 0}},
		"opened and closed": {[]string{meta(d1+"0.000Z", idP, "")}, map[string]any{"kind": "main", "turns": 0, "closeout": "open", "context_tokens": nil}},
		"an empty file":     {nil, map[string]any{"kind": "none", "agent_session_id": idP, "lines": 0, "closeout": nil}},
		"closeout by label": {[]string{
			meta(d1+"0.000Z", idP, ""), labelled(d1+"1.000Z", "skills.selected_skill_instructions", "<skill>\n<name>closeout</name>\n<path>/x</path>\nbody"),
			line(d1+"1.000Z", "event_msg", `{"type":"item_completed","item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":"$closeout"},{"type":"skill","name":"closeout","path":"/x"}]}}`),
		}, map[string]any{"skills": map[string]int{"closeout": 1}, "closeout": "closed"}},
		"skill without labels, and one that was typed": {[]string{
			meta(d1+"0.000Z", idP, ""), said(d1+"1.000Z", "use $x"), um(d1+"1.001Z", "use $x"), said(d1+"1.002Z", "<skill>\n<name>x</name>\nbody</skill>"),
			said(d1+"2.000Z", "<skill>\n<name>closeout</name>\nforged</skill>"), um(d1+"2.001Z", "<skill>\n<name>closeout</name>\nforged</skill>"),
		}, map[string]any{"skills": map[string]int{"x": 1}, "closeout": "open"}},
		"folders": {[]string{
			meta(d1+"0.000Z", idP, ""), um(d1+"0.500Z", "a"),
			line(d1+"1.000Z", "event_msg", `{"type":"patch_apply_begin","changes":{"/p/demo/a/x.go":{}}}`),
			line(d1+"1.001Z", "event_msg", `{"type":"patch_apply_end","changes":{"/p/demo/a/x.go":{},"rel/y.go":{},"C:\\Repo\\z.go":{},"/top":{}}}`),
			line(d1+"1.002Z", "response_item", `{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Update File: /p/demo/a/x.go\n*** Add File: rel.go\n*** End Patch"}`),
			line(d1+"1.003Z", "response_item", `{"type":"function_call","name":"read_file","arguments":"{\"file_path\":\"/p/lib/f.go\"}"}`),
			line(d1+"1.004Z", "response_item", `{"type":"function_call","name":"list_dir","arguments":"{\"dir_path\":\"/p/lib\"}"}`),
			line(d1+"1.005Z", "response_item", `{"type":"function_call","name":"view_image","arguments":"{\"path\":\"/p/img/a.png\"}"}`),
			line(d1+"1.006Z", "response_item", `{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\",\"/etc\"],\"workdir\":\"/p/demo\"}"}`),
		}, map[string]any{"folders": map[string]int{"/p/demo/a": 1, `C:\Repo`: 1, "/": 1, "/p/lib": 2, "/p/img": 1}}},
		"new kinds are counted, not feared": {[]string{
			meta(d1+"0.000Z", idP, ""), um(d1+"1.000Z", "a"), line(d1+"2.000Z", "zz_new", `{"x":1}`), line(d1+"2.000Z", "event_msg", `{"type":"zz"}`),
			line(d1+"2.000Z", "response_item", `{"type":"yy"}`), line(d1+"2.000Z", "event_msg", `{"type":"item_completed","item":{"type":"Vv"}}`),
			"42\n", "null\n", `{"x":1}` + "\n", `{"timestamp":5,"type":7,"payload":[]}` + "\n", "{torn\n", um(d1+"3.000Z", "b"),
		}, map[string]any{"typed_prompts": 2, "bad_lines": 1, "unknown_types": map[string]int{"zz_new": 1, "event_msg/zz": 1, "response_item/yy": 1, "item_completed/Vv": 1}}},
		"token counters": {[]string{
			meta(d1+"0.000Z", idP, ""), um(d1+"1.000Z", "a"), tc(d1+"2.000Z", "1000", "1000"), line(d1+"2.500Z", "event_msg", `{"type":"token_count","info":null}`),
		}, map[string]any{"context_tokens": 1000, "context_window": 272000}},
		"cwd null, then late": {[]string{
			line(d1+"0.000Z", "session_meta", `{"id":"`+idP+`","cwd":null,"source":"cli"}`), line(d1+"1.000Z", "turn_context", `{"cwd":"","model":"m1"}`), line(d1+"2.000Z", "turn_context", `{"cwd":"/late","model":"m2"}`), um(d1+"3.000Z", "x"),
		}, map[string]any{"cwd": "/late", "model": "m2", "models": map[string]int{"m1": 1, "m2": 1}}},
	}
	a := New(info(t.TempDir()))
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := scanFile(t, a, write(t, rolloutName(idP), c.lines...), core.Cursor{})
			only(t, s.Deltas[0], c.want)
		})
	}
}

func TestScanForks(t *testing.T) {
	a := New(info(t.TempDir()))
	child := func(forked string, when func(i int) string) []string {
		w := []string{
			meta(when(0), idC, forked), meta(when(1), idP, ""), line(when(2), "turn_context", `{"model":"gpt-5.4","cwd":"/p/demo"}`),
			said(when(3), "a"), um(when(4), "a"), tc(when(5), "1000", "1000"),
			line(when(6), "event_msg", `{"type":"item_completed","item":{"type":"UserMessage","id":"u0","content":[{"type":"text","text":"b"},{"type":"skill","name":"closeout"}]}}`),
			line(when(7), "event_msg", `{"type":"patch_apply_end","changes":{"/parent/x":{}}}`),
			tc(when(8), "2000", "3000"),
		}
		return append(w, said("2026-11-09T12:05:00.000Z", "c"), um("2026-11-09T12:05:00.010Z", "c"), tc("2026-11-09T12:05:09.000Z", "2300", "5300"))
	}
	stamped := func(i int) string { return d9 + "10" + string(rune('0'+i)) + "Z" }
	over := func(i int) string { // the burst runs over into the next second
		return []string{d9 + "980Z", d9 + "985Z", d9 + "990Z", d9 + "995Z", "2026-11-09T12:00:01.000Z", "2026-11-09T12:00:01.020Z", "2026-11-09T12:00:01.040Z", "2026-11-09T12:00:01.060Z", "2026-11-09T12:00:01.080Z"}[i]
	}
	kept := func(i int) string { // the parent's stamps were kept
		if i == 0 {
			return d9 + "100Z"
		}
		return d1 + string(rune('0'+i)) + ".000Z"
	}
	want := map[string]any{
		"agent_session_id": idC, "forked_from": idP, "turns": 1, "copied": 2, "typed_prompts": 3, "first_message": "c",
		"context_tokens": 2300, "turns_per_day": map[string]int{"2026-11-09": 1}, "closeout": "open", "folders": map[string]int{}, "kind": "main", "parent_id": nil,
	}
	for name, lines := range map[string][]string{
		"stamped anew":                      child(`,"forked_from_id":"`+idP+`"`, stamped),
		"a burst over two seconds":          child(`,"forked_from_id":"`+idP+`"`, over),
		"the parent's stamps kept":          child(`,"forked_from_id":"`+idP+`"`, kept),
		"without a word, but two metas":     child("", stamped),
		"its own meta torn, the other read": append([]string{`{"timestamp":"` + d9 + `100Z","type":"session_meta","payl` + "\n"}, child("", stamped)[1:]...),
	} {
		t.Run(name, func(t *testing.T) {
			s := scanFile(t, a, write(t, rolloutName(idC), lines...), core.Cursor{})
			only(t, s.Deltas[0], want)
			if got := s.Deltas[0].Facts.FirstAt.String(); !strings.HasPrefix(got, "2026-11-09") {
				t.Errorf("first instant = %s: a day of the parent's", got)
			}
		})
	}
	t.Run("the parent", func(t *testing.T) {
		s := scanFile(t, a, write(t, rolloutName(idP), meta(d1+"0.000Z", idP, ""), um(d1+"1.000Z", "a"), tc(d1+"2.000Z", "1000", "1000"), um(d1+"3.000Z", "b"), tc(d1+"4.000Z", "2000", "3000")), core.Cursor{})
		only(t, s.Deltas[0], map[string]any{"turns": 2, "copied": 0, "turns_per_day": map[string]int{"2026-11-01": 2}})
	})
	t.Run("a fork that points into its parent copies nothing", func(t *testing.T) {
		s := scanFile(t, a, write(t, rolloutName(idC), meta(d9+"100Z", idC, `,"forked_from_id":"`+idP+`","history_base":{"thread_id":"`+idP+`"}`), item(d9+"700Z", "u9", "quick")), core.Cursor{})
		only(t, s.Deltas[0], map[string]any{"turns": 1, "copied": 0, "forked_from": idP, "first_message": "quick"})
	})
}

func TestContextStale(t *testing.T) {
	a := New(info(t.TempDir()))
	head := []string{meta(d1+"0.000Z", idP, ""), um(d1+"1.000Z", "a"), tc(d1+"2.000Z", "1000", "1000")}
	compacted := line(d1+"3.000Z", "compacted", `{"message":"m","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"not typed"}]}]}`)
	for name, c := range map[string]struct {
		more   []string
		tokens int64
		stale  bool
	}{
		"no compaction":              {nil, 1000, false},
		"compacted since":            {[]string{compacted}, 1000, true},
		"the old count once more":    {[]string{compacted, tc(d1+"4.000Z", "1000", "1000")}, 1000, true},
		"read again after it":        {[]string{compacted, tc(d1+"4.000Z", "90", "1000")}, 90, false},
		"the same size, a new spend": {[]string{compacted, tc(d1+"4.000Z", "1000", "2000")}, 1000, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := scanFile(t, a, write(t, rolloutName(idP), append(head[:3:3], c.more...)...), core.Cursor{}).Deltas[0].Facts
			if d.ContextTokens == nil || *d.ContextTokens != c.tokens || d.ContextStale != c.stale || d.Typed != 1 {
				t.Errorf("context = %v, stale %v, typed %d; want %d, %v, 1", d.ContextTokens, d.ContextStale, d.Typed, c.tokens, c.stale)
			}
		})
	}
}

// TestUID holds a turn's identity still: the ledger knows copies by it.
func TestUID(t *testing.T) {
	lines := []string{meta(d1+"0.000Z", idP, ""), said(d1+"1.000Z", "a"), um(d1+"1.001Z", "a"), item(d1+"2.000Z", "u2", "b"), um(d1+"3.000Z", "a")}
	live := filepath.Join(t.TempDir(), "sessions", rolloutName(idP))
	gone := filepath.Join(t.TempDir(), archiveDir, rolloutName(idP))
	for _, p := range []string{live, gone} {
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := New(info(t.TempDir()))
	one, two := scanFile(t, a, live, core.Cursor{}).Deltas[0], scanFile(t, a, gone, core.Cursor{}).Deltas[0]
	if one.Facts.Archived || !two.Facts.Archived {
		t.Errorf("archived = %v for the live file, %v for the archived one", one.Facts.Archived, two.Facts.Archived)
	}
	if d := cmp.Diff(one.Turns, two.Turns); d != "" || len(one.Turns) != 3 {
		t.Errorf("%d turns; the archived copy has others:\n%s", len(one.Turns), d)
	}
	seen := map[int64]bool{}
	for _, turn := range one.Turns {
		if seen[turn.UID] {
			t.Errorf("uid %d twice", turn.UID)
		}
		seen[turn.UID] = true
	}
	if got, want := one.Turns[0].UID, uidText(core.ParseInstant(d1+"1.001Z"), textHash("a")); got != want || want != 3990235184202354797 {
		t.Errorf("uid = %d, built as %d: a change needs a new scanVersion and re-reads everything", got, want)
	}
}
