package codex

import (
	"path/filepath"
	"testing"

	"tower/core"
)

func TestLastMessageOfTheSamples(t *testing.T) {
	a := New(info(t.TempDir()))
	for name, want := range map[string]string{
		"exec-plain": "MOCK REPLY 1", "tui-daemon-plain": "MOCK REPLY 2", "exec-tool-call": "Listed the files. DONE",
		"subagent-child": "Subtask answer. COMPLETE",
	} {
		got, err := a.LastMessage(t.Context(), core.Session{Transcript: filepath.Join("testdata/rollouts", name+".jsonl")})
		if err != nil || got != want {
			t.Errorf("LastMessage of %s = %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestLastMessage(t *testing.T) {
	const at = "2026-11-30T17:20:03.000Z"
	event := func(payload string) string { return line(at, "event_msg", payload) }
	item := func(text string) string {
		return event(`{"type":"item_completed","item":{"type":"AgentMessage","id":"m","content":[{"type":"Text","text":"` + text + `"}]}}`)
	}
	sent := func(role, text string) string {
		return line(at, "response_item", `{"type":"message","role":"`+role+`","content":[{"type":"output_text","text":"`+text+`"}]}`)
	}
	done := func(last string) string {
		return event(`{"type":"task_complete","turn_id":"x","last_agent_message":` + last + `}`)
	}
	for name, c := range map[string]struct{ content, want string }{
		"the end of a turn":            {begun(t1, item("step"), done(`"all\ndone"`)), "all\ndone"},
		"a turn under way":             {begun(t1, done(`"before"`), item("looking")), "looking"},
		"the older generation":         {begun(t1, event(`{"type":"agent_message","message":"said"}`), event(`{"type":"user_message","message":"asked"}`)), "said"},
		"only what was sent":           {begun(t1, sent("assistant", "sent"), sent("user", "asked")), "sent"},
		"the oldest: bare items":       {`{"id":"` + t1 + `","timestamp":"` + at + `","instructions":null}` + "\n" + `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"bare"}]}` + "\n", "bare"},
		"a compaction says nothing":    {begun(t1, done(`"before it"`), done("null")), "before it"},
		"an interrupted turn":          {begun(t1, done(`"before it"`), event(`{"type":"turn_aborted","reason":"interrupted"}`)), "before it"},
		"several parts":                {begun(t1, event(`{"type":"item_completed","item":{"type":"AgentMessage","content":[{"type":"Text","text":"a"},{"type":"Text","text":"b"}]}}`)), "a\nb"},
		"nothing yet":                  {begun(t1, sent("user", "asked")), ""},
		"blanks only":                  {begun(t1, item("  ")), ""},
		"a line that is being written": {begun(t1, item("whole")) + `{"timestamp":"` + at + `","type":"event_msg","payload":{"type":"task_complete","last_agent_message":"ha`, "whole"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			s := core.Session{Native: t1, Transcript: h.rollout(t1, c.content)}
			if got, err := h.a.LastMessage(t.Context(), s); got != c.want || err != nil {
				t.Errorf("LastMessage = %q, %v, want %q", got, err, c.want)
			}
		})
	}
	h := newHome(t)
	if got, err := h.a.LastMessage(t.Context(), core.Session{Native: t1}); got != "" || err != nil {
		t.Errorf("LastMessage without a rollout = %q, %v", got, err)
	}
	pack(t, h.file("archived_sessions/rollout-2026-11-30T17-19-47-"+t1+".jsonl.zst", ""), begun(t1, item("packed")))
	if got, err := h.a.LastMessage(t.Context(), core.Session{Native: t1}); got != "packed" || err != nil {
		t.Errorf("LastMessage of a packed rollout = %q, %v", got, err)
	}
}
