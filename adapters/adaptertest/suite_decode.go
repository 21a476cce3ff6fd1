package adaptertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

// recorded is a hook object from a file.
type recorded struct {
	file, event string
	object      map[string]any
}

func (s Suite) recorded(t *testing.T) []recorded {
	t.Helper()
	if s.Hooks == "" {
		t.Skip("no recorded hooks")
	}
	files, err := os.ReadDir(s.Hooks)
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue
		}
		b, err := os.ReadFile(filepath.Join(s.Hooks, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		r := recorded{file: f.Name(), event: name[:strings.IndexAny(name+".", ".-")]}
		if err := json.Unmarshal(b, &r.object); err != nil {
			t.Fatalf("%s: %v", f.Name(), err)
		}
		if stdin, ok := r.object["stdin"].(map[string]any); ok {
			r.object = stdin
		}
		if _, ok := r.object["session_id"]; ok {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no recorded hook in %s", s.Hooks)
	}
	return all
}

func (r recorded) envelope(t *testing.T, agent core.Agent) core.Envelope {
	t.Helper()
	b, err := json.Marshal(r.object)
	if err != nil {
		t.Fatal(err)
	}
	return core.Envelope{V: core.EnvelopeVersion, EventID: "event-1", Agent: agent, Event: r.event, TS: 1_796_000_000_123, Payload: b}
}

// hookKinds are the kinds a hook may tell.
var hookKinds = []core.EventKind{
	core.EventStart, core.EventPrompt, core.EventStop, core.EventWait, core.EventResolve, core.EventEnd, core.EventNote,
}

func (s Suite) decode(t *testing.T) {
	a, root := s.adapter(t)
	for _, r := range s.recorded(t) {
		t.Run(r.file, func(t *testing.T) {
			env := r.envelope(t, s.Info.Agent)
			e, err := a.Decode(env)
			if err != nil {
				t.Fatalf("Decode: %v", err)
			}
			if e.ID != env.EventID || e.At != env.TS || e.Agent != s.Info.Agent || e.Native == "" || e.Name != r.event {
				t.Errorf("Decode = %s %s %s %s %s: id, instant, agent, session or name is missing", e.ID, e.At, e.Agent, e.Native, e.Name)
			}
			if !slices.Contains(hookKinds, e.Kind) {
				t.Errorf("Decode tells %q, which is none of a hook's kinds", e.Kind)
			}
			if (e.Kind == core.EventWait) != (e.Wait != "") {
				t.Errorf("Decode tells kind %q and waits for %q", e.Kind, e.Wait)
			}
			if e.Proc.Known() || e.Alive || e.Nested != nil {
				t.Errorf("Decode judged the process: %+v, alive %v, nested %v", e.Proc, e.Alive, e.Nested)
			}
			again, err := a.Decode(env)
			if err != nil || !cmp.Equal(again, e) {
				t.Errorf("Decode twice differs: %v %s", err, cmp.Diff(e, again))
			}
			s.refused(t, a, r)
			s.fills(t, a, r)
		})
	}
	hostile := []string{`null`, `[]`, `7`, `"x"`, `{}`, `{"session_id":7}`, `{"session_id":"some-session","tool_input":[1],"background_tasks":"x"}`}
	for _, payload := range hostile {
		for _, event := range []string{"SessionStart", "Stop", "PermissionRequest", "start", "wait", "", "\x00"} {
			id := "some-session"
			env := core.Envelope{V: 1, EventID: "e", Agent: s.Info.Agent, Event: event, TS: 1, Payload: json.RawMessage(payload), AgentSessionID: &id}
			if e, err := a.Decode(env); err == nil && e.Native != id {
				t.Errorf("Decode(%q, %s) is of session %q, want the recorded %q", event, payload, e.Native, id)
			}
		}
	}
	if left, _ := os.ReadDir(root); len(left) > 0 {
		t.Errorf("Decode wrote %v", left)
	}
}

// refused shows that a call which names no session is an error.
func (s Suite) refused(t *testing.T, a core.Adapter, r recorded) {
	t.Helper()
	object := map[string]any{}
	for k, v := range r.object {
		if k != "session_id" {
			object[k] = v
		}
	}
	if e, err := a.Decode(recorded{event: r.event, object: object}.envelope(t, s.Info.Agent)); err == nil {
		t.Errorf("Decode without a session id = %+v, want an error", e)
	}
}

// fills shows that what only the envelope tells is used: the launch's token, and the session when the
// hook could read it and the payload is lost.
func (s Suite) fills(t *testing.T, a core.Adapter, r recorded) {
	t.Helper()
	env := r.envelope(t, s.Info.Agent)
	token, id := "the-token", "the-session"
	env.LaunchToken = &token
	if e, err := a.Decode(env); err != nil || e.LaunchToken != token {
		t.Errorf("Decode tells the launch token %q, %v, want %q", e.LaunchToken, err, token)
	}
	env.Payload, env.AgentSessionID = nil, &id
	if e, err := a.Decode(env); err != nil || e.Native != id {
		t.Errorf("Decode without a payload is of %q, %v, want %q", e.Native, err, id)
	}
}
