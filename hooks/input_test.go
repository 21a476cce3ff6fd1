package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestInputs(t *testing.T) {
	big := `{"session_id":"s","text":"` + strings.Repeat("x", maxPayload) + `","reason":"late"}`
	for _, c := range []struct {
		name, stdin string
		payload     string // "" = null
		session     any
		log         string
	}{
		{"nothing", "", "", nil, "nothing came in"},
		{"blanks", " \n\t", "", nil, "nothing came in"},
		{"garbage", "hello there", "", nil, "not JSON"},
		{"NULs", "\x00\x00\x00", "", nil, "not JSON"},
		{"no JSON in brackets", "{session_id: 's'}", "", nil, "not JSON"},
		{"torn", `{"session_id":"s","cwd":"/x`, "", "s", "not whole"},
		{"torn in an escape", `{"session_id":"s","cwd":"\`, "", "s", "not whole"},
		{"byte order mark", "\xef\xbb\xbf{\"session_id\":\"s\"}", `{"session_id":"s"}`, "s", "written"},
		{"a list", `["a"]`, `["a"]`, nil, "written"},
		{"a word", "null", "", nil, "written"},
		{"a number", "42\n", "42", nil, "written"},
		{"a string", `"s}"`, `"s}"`, nil, "written"},
		{"id is no string", `{"session_id":7}`, `{"session_id":7}`, nil, "written"},
		{"id with escapes", `{"session_\u0069d":"\u0061\"b"}`, `{"session_\u0069d":"\u0061\"b"}`, `a"b`, "written"},
		{"id twice", `{"session_id":"a","session_id":"b"}`, `{"session_id":"a","session_id":"b"}`, "b", "written"},
		{"id below", `{"x":{"session_id":"no"}}`, `{"x":{"session_id":"no"}}`, nil, "written"},
		{"too large", big, "", "s", "more than 4194304 bytes"},
		{"too deep", strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "", nil, "not JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := installed(t)
			if out := run(t, hook(h, "claude", "Stop"), c.stdin); out != "" {
				t.Errorf("printed %q", out)
			}
			e := one(t, h)
			if string(e.Payload) != c.payload {
				t.Errorf("payload = %.200q, want %.200q", e.Payload, c.payload)
			}
			if value(e.AgentSessionID) != c.session {
				t.Errorf("session = %v, want %v", value(e.AgentSessionID), c.session)
			}
			if (e.ASMID == nil) != (c.session == nil) {
				t.Errorf("asm_id = %v", value(e.ASMID))
			}
			if e.CWD == nil {
				t.Error("cwd = nil, want the hook's own")
			}
			if log := logged(t, h); !strings.Contains(log, c.log) || !strings.Contains(log, "written") {
				t.Errorf("log = %q, want %q in it", log, c.log)
			}
		})
	}
}

func TestNeverWaitsForTheEnd(t *testing.T) {
	for _, c := range []struct {
		name, stdin string
		payload     string
		session     any
		most        time.Duration // generous: other work is going on
	}{
		{"whole value, stream stays open", `{"session_id":"s"}`, `{"session_id":"s"}`, "s", 5 * time.Second},
		{"half a value, stream stays open", `{"session_id":"s","x":[`, "", "s", 5 * time.Second},
		{"nothing, stream stays open", "", "", nil, 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := installed(t)
			cmd := hook(h, "claude", "Stop")
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if _, err := w.WriteString(c.stdin); err != nil { // the pipe keeps it until the hook reads
				t.Fatal(err)
			}
			cmd.Stdin = r
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			r.Close()
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(c.most):
				cmd.Process.Kill()
				t.Fatal("the hook waits for the end of its input")
			}
			e := one(t, h)
			if string(e.Payload) != c.payload || value(e.AgentSessionID) != c.session {
				t.Errorf("payload %q, session %v", e.Payload, value(e.AgentSessionID))
			}
			// Without input it waits as long as it may, with a whole value not at all.
			if e.HookMS == nil || (*e.HookMS < 199) != (c.payload != "") {
				t.Errorf("hook_ms = %v with payload %q", value(e.HookMS), c.payload)
			}
		})
	}
}

// TestEndlessInput: a stream that never runs dry is left at the deadline too.
func TestEndlessInput(t *testing.T) {
	zero, err := os.Open("/dev/zero")
	if err != nil {
		t.Skip(err)
	}
	defer zero.Close()
	h := installed(t)
	cmd := hook(h, "claude", "Stop")
	cmd.Stdin = zero
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the hook did not end by itself: %v", err)
	}
	if e := one(t, h); e.Payload != nil {
		t.Errorf("payload of %d bytes", len(e.Payload))
	}
}

// TestSlowInput puts a value together from one read a byte.
func TestSlowInput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close() // after the read: it must not need the end
	payload := `{"session_id":"s","x":"\\\"}","y":[[]]}`
	go func() {
		for i := range payload {
			w.Write([]byte{payload[i]})
		}
	}()
	var in input
	in.read(r, time.Now().Add(time.Minute))
	if got, missing := in.payload(); string(got) != payload {
		t.Errorf("payload = %q, %s", got, missing)
	}
}
