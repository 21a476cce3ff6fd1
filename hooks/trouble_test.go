package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tower/core"
)

// TestKilled kills the hook at ever later moments of its life: what it was writing is never drained.
func TestKilled(t *testing.T) {
	h := installed(t)
	payload := `{"session_id":"s","text":"` + strings.Repeat("x", 1<<20) + `"}`
	killed := 0
	for i := range 60 {
		cmd := hook(h, "claude", "Stop")
		cmd.Stdin = strings.NewReader(payload)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(i)*200*time.Microsecond, func() { cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil {
			killed++
		}
		timer.Stop()
	}
	if killed == 0 {
		t.Error("no call was killed: the test shows nothing")
	}
	whole := events(t, h) // complains of every file that is not
	for _, e := range whole {
		if string(e.Payload) != payload {
			t.Errorf("an event with a payload of %d bytes, want %d", len(e.Payload), len(payload))
		}
	}
	t.Logf("%d calls killed, %d events whole", killed, len(whole))
}

// TestFileSizeLimit: a write that the kernel cuts off in the middle, with a signal besides.
func TestFileSizeLimit(t *testing.T) {
	h := installed(t)
	cmd := exec.Command("/bin/sh", "-c", `ulimit -f 8 && exec "$0" claude Stop`, h.HookBinary())
	run(t, cmd, `{"session_id":"s","x":"`+strings.Repeat("y", 20_000)+`"}`)
	if entries, err := os.ReadDir(h.Inbox()); err != nil || len(entries) > 0 {
		t.Errorf("inbox = %v, %v", entries, err)
	}
	if log := logged(t, h); !strings.Contains(log, "failed: write event") {
		t.Errorf("log = %q", log)
	}
}

func TestInboxInTheWay(t *testing.T) {
	h := installed(t)
	put(t, h.Inbox(), "a file")
	run(t, hook(h, "claude", "SessionStart"), "{}")
	if log := logged(t, h); !strings.Contains(log, "failed: write event") {
		t.Errorf("log = %q", log)
	}
}

func TestLogInTheWay(t *testing.T) {
	h := installed(t)
	if err := os.Mkdir(h.HookLog(), 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, hook(h, "claude", "Stop"), "{}")
	one(t, h)
}

func TestWorkingFolderGone(t *testing.T) {
	h := installed(t)
	gone := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", `rmdir "$PWD" && exec "$0" claude Stop`, h.HookBinary())
	cmd.Dir = gone
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	run(t, cmd, `{"session_id":"s"}`)
	if e := one(t, h); value(e.AgentSessionID) != "s" {
		t.Errorf("event = %+v", e)
	}
}

// TestStandardStreamsClosed: a descriptor that is free at start must not become the input.
func TestStandardStreamsClosed(t *testing.T) {
	h := installed(t)
	put(t, h.PreparedAgents(), `[{"agent":"claude","session_id":"wrong"}]`)
	put(t, h.PreparedRules("claude"), "rules")
	cmd := exec.Command("/bin/sh", "-c", `exec "$0" claude SessionStart <&- >&- 2>&-`, h.HookBinary())
	run(t, cmd, "")
	if e := one(t, h); e.Payload != nil || e.AgentSessionID != nil {
		t.Errorf("payload = %s, session = %v", e.Payload, value(e.AgentSessionID))
	}
	if b, err := os.ReadFile(h.PreparedAgents()); err != nil || strings.Contains(string(b), "rules") {
		t.Errorf("the hook printed into a file: %s", b)
	}
}

func TestLongEnvironment(t *testing.T) {
	h := installed(t)
	cmd := hook(h, "claude", "Stop")
	cmd.Env = append(cmd.Env, "TOWER_LAUNCH="+strings.Repeat("t", 10_000), "TOWER_NAME="+strings.Repeat("ä", 10_000))
	run(t, cmd, "{}")
	e := one(t, h)
	if e.LaunchToken != nil {
		t.Error("a launch token of 10,000 bytes was taken")
	}
	if e.SessionName == nil || *e.SessionName != strings.Repeat("ä", core.MaxName/2) {
		t.Errorf("name = %v", value(e.SessionName))
	}
}

// TestAncestryGivenUpFirst takes the deadlines one by one on a call that is already late.
func TestAncestryGivenUpFirst(t *testing.T) {
	h := installed(t)
	c := call{began: time.Now().Add(-time.Hour), home: h, agent: "claude", event: "Stop", id: core.UUID4()}
	e := c.envelope(map[string]string{"session_id": "s"})
	c.addAncestry(e, make(chan ancestry)) // nobody will ever answer
	if e.Ancestors != nil || e.AgentPID != nil {
		t.Errorf("ancestors = %v", e.Ancestors)
	}
	if !c.write(e) {
		t.Fatalf("not written: %v", c.notes)
	}
	c.log()
	if got := one(t, h); got.Ancestors != nil || value(got.AgentSessionID) != "s" {
		t.Errorf("event = %+v", got)
	}
	if log := logged(t, h); !strings.Contains(log, "no ancestry: it took too long; written") {
		t.Errorf("log = %q", log)
	}
	// An answer that is there is taken even then.
	ready := make(chan ancestry, 1)
	ready <- ancestry{chain: []core.Ancestor{{PID: 5, Created: 1}}}
	c.addAncestry(e, ready)
	if len(e.Ancestors) != 1 {
		t.Error("an ancestry that had arrived was given up")
	}
}

func TestPanicIsLogged(t *testing.T) {
	h := installed(t)
	func() {
		c := call{began: time.Now(), home: h, agent: "claude", event: "Stop"}
		defer c.settle()
		c.write(nil)
	}()
	if log := logged(t, h); !strings.Contains(log, " claude Stop - ") || !strings.Contains(log, "panic: runtime error") {
		t.Errorf("log = %q", log)
	}
}

func FuzzInput(f *testing.F) {
	for _, s := range []string{`{"session_id":"s","x":[1,{"y":"\"}"}]} tail`, `{"session_id":"s`, `"a\\"`, "[[]", "\xef\xbb\xbf{}", "42 ", `{"a":1,"session_id":"x"}`, `{"session_id" : "x" , }`} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		var whole scanner
		whole.feed(data)
		// Fed in pieces it finds the same borders.
		var pieces scanner
		n := int(step) + 1
		for rest := data; len(rest) > 0; {
			k := min(n, len(rest))
			pieces.feed(rest[:k])
			rest = rest[k:]
		}
		if whole != pieces {
			t.Fatalf("scan of the whole = %+v, in pieces of %d = %+v", whole, n, pieces)
		}
		told := fields(data)
		// encoding/json is the oracle wherever it can read the text.
		body := bytes.TrimPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("\xef\xbb\xbf"))
		if !json.Valid(body) {
			return
		}
		if whole.whole() {
			if value := data[whole.start:whole.end]; !json.Valid(value) || !bytes.Equal(bytes.TrimSpace(body), value) {
				t.Fatalf("value = %q of %q", value, data)
			}
		} else if trimmed := bytes.TrimSpace(body); trimmed[0] == '{' || trimmed[0] == '[' || trimmed[0] == '"' {
			t.Fatalf("no end found in %q", data)
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(body, &object) != nil {
			object = nil
		}
		for _, name := range wanted {
			var s *string
			if raw, ok := object[name]; ok && len(raw) > 0 && raw[0] == '"' {
				if err := json.Unmarshal(raw, &s); err != nil {
					t.Fatal(err)
				}
			}
			got, ok := told[name]
			if ok != (s != nil) && !twice(body, name) || ok && s != nil && got != *s {
				t.Fatalf("%s = %q, %v, want %v in %q", name, got, ok, value(s), data)
			}
		}
	})
}

// twice tells whether a key may stand in the text more than once: then a later value that is no
// string hides the earlier one from encoding/json only.
func twice(body []byte, name string) bool {
	return bytes.Count(body, []byte(name)) > 1 || bytes.IndexByte(body, '\\') >= 0
}
