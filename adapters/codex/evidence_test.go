package codex

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tower/adapters/jsonl"
	"tower/core"
)

const (
	native = "/usr/lib/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
	server = "/home/dev/.codex/packages/app-server-daemon/releases/0.171.0-x86_64-unknown-linux-musl/bin/codex"
	script = "/usr/lib/node_modules/@openai/codex/bin/codex.js"

	t1 = "01a22d78-4adb-76e2-811e-3f453ff66974" // opened 2026-11-30T17:19
	t2 = "01a22d79-ce13-7ea0-b34f-9f4c45d970ad"
	t3 = "01a22d7a-bece-79c2-b864-0307f7d3b016"
)

var (
	early = time.Date(2026, 11, 30, 17, 20, 0, 0, time.UTC)
	later = early.Add(10 * time.Minute)
)

func begun(id string, more ...string) string {
	s := meta("2026-11-30T17:20:02.336Z", id, "")
	for _, m := range more {
		s += m
	}
	return s
}

func task(at, kind string) string {
	return line("2026-11-30T17:"+at+".000Z", "event_msg", `{"type":"`+kind+`","turn_id":"x"}`)
}

func natives(all []core.Sighting) []string {
	ids := []string{}
	for _, s := range all {
		ids = append(ids, s.Native)
	}
	slices.Sort(ids)
	return ids
}

func TestEvidenceTerminal(t *testing.T) {
	h := newHome(t)
	h.tab.add(10, 9, "/usr/bin/node", "node", script, "--no-daemon")
	h.tab.add(11, 10, native, native, "--no-daemon")
	h.lock(t1, 11, early)
	path := h.rollout(t1, begun(t1, task("20:03", "task_started"))+line("2026-11-30T17:20:04.000Z", "turn_context", `{"model":"gpt-5.5"}`))
	want := core.Sighting{
		Agent: Name, Native: t1, Proc: proc(11), Signal: []core.Process{proc(11)}, MustGo: []core.Process{proc(11), proc(10)},
		Grade: core.GradeLock, Pill: core.PillWorking, Mark: 2, At: core.ParseInstant("2026-11-30T17:20:03.000Z"),
		Class: core.ClassMain, CWD: "/p/demo", Transcript: path, Entrypoint: "codex_cli_rs", Model: "gpt-5.5", Version: "0.98.0", TTY: 34816,
	}
	if d := cmp.Diff([]core.Sighting{want}, h.evidence()); d != "" {
		t.Errorf("Evidence (-want +got):\n%s", d)
	}
	call := line("2026-11-30T17:21:01.000Z", "response_item", `{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"c"}`)
	spent := line("2026-11-30T17:21:01.010Z", "token_usage_record", `{"thread_id":"x"}`)
	done := line("2026-11-30T17:21:30.000Z", "response_item", `{"type":"function_call_output","call_id":"c","output":"x"}`)
	for _, step := range []struct {
		line string
		pill core.Pill
		mark int64
	}{
		{call, core.PillWorking, 2}, {spent, core.PillWorking, 2}, {done, core.PillWorking, 3},
		{task("21:40", "task_complete"), core.PillIdle, 4}, {task("22:00", "task_started"), core.PillWorking, 5}, {task("23:00", "turn_aborted"), core.PillIdle, 6},
	} {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(step.line); err != nil {
			t.Fatal(err)
		}
		f.Close()
		all := h.evidence()
		if len(all) != 1 || all[0].Pill != step.pill || all[0].Mark != step.mark || all[0].Final {
			t.Errorf("after %s: %+v, want pill %s, mark %d", step.line, all, step.pill, step.mark)
		}
	}
}

func TestEvidenceProves(t *testing.T) {
	terminal := func(h *home, args ...string) { h.tab.add(11, 1, native, append([]string{native}, args...)...) }
	cases := map[string]struct {
		set  func(h *home)
		want []string
	}{
		"an empty composer":     {func(h *home) { terminal(h); h.lock(t1, 11, early) }, []string{t1}},
		"a lock file left over": {func(h *home) { terminal(h); h.lock(t1, 0, early); h.rollout(t1, begun(t1)) }, nil},
		"the holder is gone":    {func(h *home) { h.lock(t1, 11, early) }, nil},
		"the holder is a zombie": {func(h *home) {
			terminal(h)
			p := h.tab.procs[11]
			p.State = 'Z'
			h.tab.procs[11] = p
			h.lock(t1, 11, early)
		}, nil},
		"another program holds it":          {func(h *home) { h.tab.add(11, 1, "/usr/bin/rsync", "rsync", "-a"); h.lock(t1, 11, early) }, nil},
		"nothing is readable of the holder": {func(h *home) { h.tab.add(11, 1, ""); h.lock(t1, 11, early) }, nil},
		"a replaced executable":             {func(h *home) { h.tab.add(11, 1, native+" (deleted)", "codex"); h.lock(t1, 11, early) }, []string{t1}},
		"another device":                    {func(h *home) { terminal(h); h.lock(t1, 11, early); h.tab.locks[0].Device++ }, nil},
		"the coordination lock": {func(h *home) {
			terminal(h)
			print, ok := jsonl.Fingerprint(filepath.Join(h.a.locks(), ".coordination.lock"))
			if !ok {
				h.t.Fatal("no coordination lock")
			}
			h.tab.locks = append(h.tab.locks, core.Lock{PID: 11, Device: print.Device, Inode: print.Inode})
		}, nil},
		"after /clear the newest thread counts": {func(h *home) {
			terminal(h)
			h.lock(t1, 11, early)
			h.rollout(t1, begun(t1, task("20:03", "task_started"), task("20:09", "task_complete")))
			h.lock(t2, 11, later)
		}, []string{t2}},
		"a resumed older thread counts": {func(h *home) {
			terminal(h)
			h.lock(t2, 11, early)
			h.lock(t1, 11, later)
			h.rollout(t1, begun(t1, task("20:03", "task_started"), task("20:09", "task_complete")))
		}, []string{t1}},
		"sub-agents are nobody's": {func(h *home) {
			terminal(h)
			h.lock(t1, 11, early)
			h.rollout(t1, begun(t1))
			h.lock(t2, 11, later)
			h.rollout(t2, meta("2026-11-30T17:21:00.000Z", t2, `,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"`+t1+`"}}}`))
		}, []string{t1}},
		"two terminals": {func(h *home) {
			terminal(h)
			h.tab.add(12, 1, native, native)
			h.lock(t1, 11, early)
			h.lock(t2, 12, early)
		}, []string{t1, t2}},
		"every thread of a server": {func(h *home) {
			h.tab.add(20, 1, server, server, "app-server", "--listen", "unix://", "--managed-daemon")
			h.lock(t1, 20, early)
			h.lock(t2, 20, early)
		}, []string{t1, t2}},
		"a thread archived while it runs": {func(h *home) {
			terminal(h)
			h.lock(t1, 11, early)
			h.file("archived_sessions/rollout-2026-11-30T17-19-47-"+t1+".jsonl", begun(t1))
		}, []string{t1}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			c.set(h)
			if c.want == nil {
				c.want = []string{}
			}
			if d := cmp.Diff(c.want, natives(h.evidence())); d != "" {
				t.Errorf("Evidence (-want +got):\n%s", d)
			}
		})
	}
}

func TestEvidenceShared(t *testing.T) {
	for name, args := range map[string][]string{
		"daemon":             {server, "app-server", "--listen", "unix://", "--analytics-default-enabled", "--managed-daemon"},
		"an editor's":        {native, "app-server"},
		"with an option":     {native, "-c", "x=app-server", "app-server"},
		"by the helper list": {"codex", "--quiet", "app-server"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.tab.add(20, 1, server, args...)
			h.lock(t1, 20, early)
			h.rollout(t1, begun(t1, task("20:03", "task_started")))
			all := h.evidence()
			if len(all) != 1 {
				t.Fatalf("Evidence = %+v", all)
			}
			s := all[0]
			if kind := map[bool]string{true: "daemon", false: "server"}[name == "daemon"]; s.NoEnd != s.Caution || s.NoEnd != "Codex serves this thread from a shared "+kind+" (pid 20). Ending it would end more than this thread." {
				t.Errorf("NoEnd = %q, Caution = %q", s.NoEnd, s.Caution)
			}
			if !s.Shared || s.Grade != core.GradeShared || s.Caution == "" || s.Signal != nil || s.MustGo != nil || s.TTY != 0 || s.Proc != proc(20) || s.Pill != core.PillWorking {
				t.Errorf("sighting = %+v, want a shared one that cannot be signalled", s)
			}
		})
	}
}

// TestEvidenceNoEnd counts the threads that would end with one: of the same process, sub-agents left out.
func TestEvidenceNoEnd(t *testing.T) {
	const t4, t5 = "01a22d7b-0000-7000-8000-000000000001", "01a22d7c-0000-7000-8000-000000000001"
	h := newHome(t)
	h.tab.add(20, 1, server, server, "app-server", "--listen", "unix://", "--managed-daemon")
	h.tab.add(21, 1, native, native, "app-server")
	h.tab.add(11, 1, native, native, "--no-daemon")
	h.lock(t1, 20, early)
	h.lock(t2, 20, early)
	h.lock(t3, 21, early)
	h.lock(t4, 11, early)
	h.lock(t5, 20, early)
	h.rollout(t5, meta("2026-11-30T17:21:00.000Z", t5, `,"source":{"subagent":{}}`))
	want := map[string]string{
		t1: "Codex serves this thread from a shared daemon (pid 20). Ending it would end 1 other thread.",
		t2: "Codex serves this thread from a shared daemon (pid 20). Ending it would end 1 other thread.",
		t3: "Codex serves this thread from a shared server (pid 21). Ending it would end more than this thread.",
		t4: "",
	}
	told := func() map[string]string {
		got := map[string]string{}
		for _, s := range h.evidence() {
			got[s.Native] = s.NoEnd
		}
		return got
	}
	if d := cmp.Diff(want, told()); d != "" {
		t.Errorf("NoEnd (-want +got):\n%s", d)
	}
	h.rollout(t5, begun(t5, task("20:03", "task_started")))
	if got := told()[t1]; got != "Codex serves this thread from a shared daemon (pid 20). Ending it would end 2 other threads." {
		t.Errorf("NoEnd among three = %q", got)
	}
}

// TestEvidenceWrapper takes the parent for the package's wrapper only where it can be nothing else.
func TestEvidenceWrapper(t *testing.T) {
	for name, c := range map[string]struct {
		exe   string
		args  []string
		group int
		want  []core.Process
	}{
		"the wrapper":           {"/usr/bin/node", []string{"node", script, "--no-daemon"}, 9, []core.Process{proc(11), proc(10)}},
		"in another group":      {"/usr/bin/node", []string{"node", script, "--no-daemon"}, 8, []core.Process{proc(11)}},
		"a shell":               {"/bin/bash", []string{"bash"}, 9, []core.Process{proc(11)}},
		"a script of another":   {"/usr/bin/node", []string{"node", "/srv/app.js"}, 9, []core.Process{proc(11)}},
		"the daemon started it": {server, []string{server, "app-server"}, 9, []core.Process{proc(11)}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.tab.add(10, 9, c.exe, c.args...)
			h.tab.add(11, 10, native, native, "--no-daemon")
			for pid, group := range map[int]int{10: c.group, 11: 9} {
				p := h.tab.procs[pid]
				p.Group = group
				h.tab.procs[pid] = p
			}
			h.lock(t1, 11, early)
			all := h.evidence()
			if len(all) != 1 {
				t.Fatalf("Evidence = %+v", all)
			}
			if d := cmp.Diff(c.want, all[0].MustGo); d != "" {
				t.Errorf("MustGo (-want +got):\n%s", d)
			}
			if d := cmp.Diff([]core.Process{proc(11)}, all[0].Signal); d != "" {
				t.Errorf("Signal (-want +got):\n%s", d)
			}
		})
	}
}

func TestEvidenceHeadless(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want core.Class
	}{
		"exec":                {[]string{native, "exec", "hi"}, core.ClassHeadless},
		"exec behind options": {[]string{native, "-m", "gpt-5.5", "--full-auto", "exec", "hi"}, core.ClassHeadless},
		"short":               {[]string{native, "e", "hi"}, core.ClassHeadless},
		"a prompt":            {[]string{native, "--", "exec"}, ""},
		"a model called exec": {[]string{native, "-m", "exec"}, ""},
		"plain":               {[]string{native}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.tab.add(11, 1, native, c.args...)
			h.lock(t1, 11, early)
			if all := h.evidence(); len(all) != 1 || all[0].Class != c.want {
				t.Errorf("Evidence = %+v, want class %q", all, c.want)
			}
		})
	}
}

func TestEvidenceNames(t *testing.T) {
	h := newHome(t)
	h.tab.add(11, 1, native, native)
	h.lock(t1, 11, early)
	h.rollout(t1, begun(t1, um("2026-11-30T17:20:03.000Z", "please do the thing")))
	index := func(at, name string) string {
		return `{"id":"` + t1 + `","thread_name":"` + name + `","updated_at":"` + at + `"}` + "\n"
	}
	h.file(indexFile, index("2026-11-30T17:20:05.123456789Z", "Do the thing"))
	if s := h.evidence()[0]; s.Name != "" || s.Title != "Do the thing" {
		t.Errorf("name %q, title %q: the client's own title is no name", s.Name, s.Title)
	}
	h.file(indexFile, index("2026-11-30T17:20:05.123456789Z", "Do the thing")+index("2026-11-30T17:20:30Z", "Mine"))
	if s := h.evidence()[0]; s.Name != "Mine" || s.Title != "Do the thing" {
		t.Errorf("name %q, title %q, want Mine, Do the thing", s.Name, s.Title)
	}
}

func TestEvidenceWithoutLocks(t *testing.T) {
	a := New(info(filepath.Join(t.TempDir(), "none")))
	if all, err := a.Evidence(t.Context(), &table{}); err != nil || all != nil {
		t.Errorf("Evidence without a home = %v, %v", all, err)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "thread-writer-locks"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(info(root)).Evidence(t.Context(), &table{}); err == nil {
		t.Error("a folder of locks that cannot be read is no error: sessions would be called lost")
	}
}

func TestTailsForget(t *testing.T) {
	h := newHome(t)
	h.tab.add(11, 1, native, native)
	h.lock(t1, 11, early)
	h.evidence()
	if len(h.a.tails.all) != 1 {
		t.Fatalf("%d threads kept", len(h.a.tails.all))
	}
	h.tab.locks = nil
	h.evidence()
	h.evidence()
	if len(h.a.tails.all) != 0 {
		t.Errorf("%d threads kept that nobody holds", len(h.a.tails.all))
	}
}

func TestSubcommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"codex"}, ""},
		{[]string{"codex", "resume", "id"}, "resume"},
		{[]string{"node", script, "exec", "x"}, "exec"},
		{[]string{"codex", "-C", "/p", "-c", "a=b", "fork"}, "fork"},
		{[]string{"codex", "--model=x", "exec"}, "exec"},
		{[]string{"codex", "--", "exec"}, ""},
		{[]string{"codex", "-m"}, ""},
	} {
		if got := subcommand(c.args); got != c.want {
			t.Errorf("subcommand(%q) = %q, want %q", c.args, got, c.want)
		}
	}
}

func TestDayOf(t *testing.T) {
	if day, ok := dayOf(t1); !ok || day.Format(time.DateOnly) != "2026-11-30" {
		t.Errorf("dayOf(%s) = %v, %v", t1, day, ok)
	}
	for _, id := range []string{"", "x", "5b0f7a1e-6f0c-4b5e-9a53-2f1f8d6f7a10", "zzzzzzzz-zzzz-7zzz-zzzz-zzzzzzzzzzzz"} {
		if _, ok := dayOf(id); ok {
			t.Errorf("dayOf(%q) is a day", id)
		}
	}
}
