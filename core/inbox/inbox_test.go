package inbox

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tower/core"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

type folders struct{ in, processed, bad string }

func box(t *testing.T) (*Box, folders) {
	t.Helper()
	dir := t.TempDir()
	f := folders{filepath.Join(dir, "inbox"), filepath.Join(dir, "processed"), filepath.Join(dir, "bad")}
	return New(f.in, f.processed, f.bad, func() time.Time { return noon }), f
}

func event(ts core.Instant) *core.Envelope {
	return &core.Envelope{V: core.EnvelopeVersion, EventID: core.UUID4(), Agent: "claude", Event: "Stop", TS: ts}
}

func write(t *testing.T, f folders, e *core.Envelope) string {
	t.Helper()
	name, err := Write(f.in, e)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func plant(t *testing.T, f folders, name, content string) {
	t.Helper()
	if err := os.MkdirAll(f.in, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.in, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func drain(t *testing.T, b *Box) Batch {
	t.Helper()
	batch, err := b.Drain()
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func names(dir string) []string {
	var list []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func ptr[T any](v T) *T { return &v }

func TestWriteAndDrain(t *testing.T) {
	b, f := box(t)
	e := event(1_700_000_000_123)
	e.ASMID, e.AgentSessionID, e.CWD = ptr(core.NewSessionID("claude", "s")), ptr("s"), ptr("/a <b> ö")
	e.AgentPID, e.AgentProcStart, e.HookMS = ptr(7), ptr(uint64(1<<63)), ptr(1.25)
	e.Ancestors = []core.Ancestor{{PID: 7, PPID: 1, Created: 9, Exe: "/bin/x", Args: []string{"x", ""}}}
	e.Nested = ptr(false)
	e.Payload = json.RawMessage("{ \"b\":1,\n \"a\" : \"<&>\u2028\", \"a\":1e999 }")
	name := write(t, f, e)
	if want := "1700000000123-" + e.EventID + ".json"; name != want {
		t.Errorf("name = %s, want %s", name, want)
	}
	info, err := os.Stat(filepath.Join(f.in, name))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, want 0600", info.Mode())
	}
	batch := drain(t, b)
	want := Batch{Items: []Item{{Name: name, Envelope: *e}}}
	if diff := cmp.Diff(want, batch); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownIsNull(t *testing.T) {
	_, f := box(t)
	name := write(t, f, event(5))
	data, err := os.ReadFile(filepath.Join(f.in, name))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"asm_id", "agent_session_id", "transcript_path", "cwd", "source", "launch_token", "session_name",
		"boot_id", "agent_pid", "agent_proc_start", "ancestors", "nested", "entrypoint", "pid_shared", "hook_ms", "payload"} {
		if string(fields[field]) != "null" {
			t.Errorf("%s = %s, want null", field, fields[field])
		}
	}
}

func TestPayloadKeptByteForByte(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.MapOf(rapid.String(), rapid.OneOf(rapid.String().AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny())).Draw(t, "value")
		payload, err := json.MarshalIndent(value, rapid.SampledFrom([]string{"", " "}).Draw(t, "prefix"), "\t")
		if err != nil {
			t.Skip()
		}
		e := event(core.Instant(rapid.Int64Range(1, 1<<41).Draw(t, "ts")))
		e.Payload = payload
		name, err := Write(dir, e)
		if err != nil {
			t.Fatal(err)
		}
		data, err := read(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*e, got); diff != "" {
			t.Fatal(diff)
		}
		os.Remove(filepath.Join(dir, name))
	})
}

// TestEncodeEqualsLibrary fills every field of an envelope or leaves it unknown; a field that encode
// forgets, or a new one, does not come back.
func TestEncodeEqualsLibrary(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\x00\x1f\"\\\u2028<&>", "a\xffb", "\t\n\r", "ö€😀"}))
	args := rapid.OneOf(rapid.Just[[]string](nil), rapid.SliceOfN(text, 0, 3))
	ancestor := rapid.Custom(func(t *rapid.T) core.Ancestor {
		return core.Ancestor{PID: rapid.Int().Draw(t, "pid"), PPID: rapid.Int().Draw(t, "ppid"), Created: rapid.Uint64().Draw(t, "created"), Exe: text.Draw(t, "exe"), Args: args.Draw(t, "args")}
	})
	rapid.Check(t, func(t *rapid.T) {
		e := core.Envelope{
			V: rapid.Int().Draw(t, "v"), EventID: text.Draw(t, "event_id"), ASMID: rapid.Ptr(rapid.Map(text, func(s string) core.SessionID { return core.SessionID(s) }), true).Draw(t, "asm_id"),
			Agent: core.Agent(text.Draw(t, "agent")), Event: text.Draw(t, "event"), TS: core.Instant(rapid.Int64Range(0, 1<<45).Draw(t, "ts")),
			AgentSessionID: rapid.Ptr(text, true).Draw(t, "session"), TranscriptPath: rapid.Ptr(text, true).Draw(t, "transcript"), CWD: rapid.Ptr(text, true).Draw(t, "cwd"),
			Source: rapid.Ptr(text, true).Draw(t, "source"), LaunchToken: rapid.Ptr(text, true).Draw(t, "token"), SessionName: rapid.Ptr(text, true).Draw(t, "name"),
			BootID: rapid.Ptr(text, true).Draw(t, "boot"), AgentPID: rapid.Ptr(rapid.Int(), true).Draw(t, "agent_pid"), AgentProcStart: rapid.Ptr(rapid.Uint64(), true).Draw(t, "start"),
			Ancestors: rapid.OneOf(rapid.Just[[]core.Ancestor](nil), rapid.SliceOfN(ancestor, 0, 3)).Draw(t, "ancestors"), Nested: rapid.Ptr(rapid.Bool(), true).Draw(t, "nested"),
			Entrypoint: rapid.Ptr(text, true).Draw(t, "entrypoint"), PIDShared: rapid.Ptr(rapid.Bool(), true).Draw(t, "shared"), HookMS: rapid.Ptr(rapid.Float64Range(0, 1e6), true).Draw(t, "ms"),
			Payload: rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{"a":1}`), json.RawMessage("[]")}).Draw(t, "payload"),
		}
		got, err := encode(&e)
		if err != nil {
			t.Fatal(err)
		}
		library, err := json.Marshal(&e)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(got, &a); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if err := json.Unmarshal(library, &b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b, a); diff != "" {
			t.Fatal(diff)
		}
		var x, y core.Envelope // and number by number, where a float would hide a difference
		if json.Unmarshal(got, &x) != nil || json.Unmarshal(library, &y) != nil || !cmp.Equal(x, y) {
			t.Fatal(cmp.Diff(y, x))
		}
	})
}

func TestWriteRefuses(t *testing.T) {
	_, f := box(t)
	for _, payload := range []string{"{", "{}{}", "{'a':1}", "nul", "\x00"} {
		e := event(1)
		e.Payload = json.RawMessage(payload)
		if _, err := Write(f.in, e); !errors.Is(err, ErrPayload) {
			t.Errorf("Write with payload %q = %v, want ErrPayload", payload, err)
		}
	}
	e := event(1)
	e.EventID = "../../x"
	if _, err := Write(f.in, e); err == nil {
		t.Error("Write took an id that is a path")
	}
	if got := names(f.in); got != nil {
		t.Errorf("files after refusals: %v", got)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(filepath.Join(file, "inbox"), event(1)); err == nil {
		t.Error("Write below a file gave no error")
	}
}

// TestNeverHalf looks at the folder all the time while events are written: what has the name of an
// event is whole.
func TestNeverHalf(t *testing.T) {
	_, f := box(t)
	payload, err := json.Marshal(strings.Repeat("x", 256<<10))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(f.in, 0o700); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 150 && err == nil; i++ {
			e := event(core.Instant(i + 1))
			e.Payload = payload
			_, err = Write(f.in, e)
		}
		written <- err
	}()
	seen := map[string]bool{}
	for {
		entries, err := os.ReadDir(f.in)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if seen[entry.Name()] || strings.HasSuffix(entry.Name(), tmpSuffix) {
				continue
			}
			seen[entry.Name()] = true
			info, err := entry.Info()
			if err != nil {
				t.Fatal(err)
			}
			if info.Size() < int64(len(payload)) {
				t.Fatalf("%s has %d bytes at first sight", entry.Name(), info.Size())
			}
		}
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}
