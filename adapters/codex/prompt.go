package codex

import (
	"hash/fnv"
	"strconv"
	"strings"

	"tower/core"
)

// firstRunes is how much of a first prompt is kept.
const firstRunes = 1000

// wrappers are the tags the client puts around text of its own in a user-role message.
var wrappers = []string{
	"environment_context", "user_instructions", "INSTRUCTIONS", "turn_aborted", "user_shell_command",
	"skill", "skills_instructions", "subagent_notification", "permissions instructions", "user_action",
	"collaboration_mode", "model_switch", "personality_spec", "apps_instructions", "plugins_instructions",
	"multi_agent_role", "multi_agent_mode", "hook_prompt", "goal_context",
}

// strip removes what the client has put in front of a person's words, and returns "" where nothing
// else is there.
func strip(text string) string {
	for {
		text = strings.TrimSpace(text)
		rest, ok := unwrap(text)
		if !ok {
			return request(text)
		}
		text = rest
	}
}

func unwrap(text string) (rest string, ok bool) {
	if strings.HasPrefix(text, "# AGENTS.md instructions") {
		_, rest, _ = strings.Cut(text, "</INSTRUCTIONS>")
		return rest, true
	}
	if !strings.HasPrefix(text, "<") {
		return text, false
	}
	for _, tag := range wrappers {
		if after, found := strings.CutPrefix(text[1:], tag); found && strings.HasPrefix(after, ">") {
			_, rest, _ = strings.Cut(after, "</"+tag+">")
			return rest, true
		}
	}
	return text, false
}

// request keeps a person's words of a message that an editor has put its own context in front of.
func request(text string) string {
	const mark = "## My request for Codex"
	if !strings.HasPrefix(text, "# ") && !strings.HasPrefix(text, mark) {
		return text
	}
	at := strings.Index(text, "\n"+mark)
	if at < 0 && !strings.HasPrefix(text, mark) {
		if strings.HasPrefix(text, "# Context from my IDE setup:") {
			return ""
		}
		return text
	}
	return strings.TrimSpace(strings.TrimPrefix(text[at+1+len(mark):], ":"))
}

// head cuts a first prompt to the length that is kept.
func head(text string) string {
	n := 0
	for i := range text {
		if n == firstRunes {
			return text[:i]
		}
		n++
	}
	return text
}

// textHash is the identity of a prompt's words. An overlong line reaches the scanner with its strings
// cut, so only the part that is always there counts.
func textHash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text[:min(len(text), 32<<10)]))
	return h.Sum64()
}

// A turn's uid is made of what a copy of its record in another file has, too: the id of the item where
// there is one, else its instant and words. Bare items of the flat header's time have neither id nor
// instant; their place in their thread stands in.

func uidOf(parts ...string) int64 {
	h := fnv.New64a()
	h.Write([]byte(Name))
	for _, p := range parts {
		h.Write([]byte{0})
		h.Write([]byte(p))
	}
	return int64(h.Sum64())
}

func uidItem(id string) int64 { return uidOf("item", id) }

func uidText(at core.Instant, hash uint64) int64 {
	return uidOf("text", strconv.FormatInt(int64(at), 10), strconv.FormatUint(hash, 16))
}

func uidFlat(thread string, n int64, hash uint64) int64 {
	return uidOf("flat", thread, strconv.FormatInt(n, 10), strconv.FormatUint(hash, 16))
}
