package claude

import (
	"slices"
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

// queueLimit bounds the texts that wait, and those remembered after they were handed over.
const queueLimit = 64

// waiting is a text typed while the agent was busy.
type waiting struct {
	Text int64        `json:"text"` // its hash
	UID  int64        `json:"uid"`
	At   core.Instant `json:"at"`
	Skip bool         `json:"skip,omitempty"` // no person typed it, or an attachment told of it already
}

// queued follows the queue of texts typed while the agent was busy. What happens to one is told by a
// later line: dequeue sends it as an ordinary user line; remove hands it to the running turn, and no
// user line ever shows it; popAll gives it back to the editor. One still waiting at the end was never
// sent.
func (j *judge) queued(e *entry) {
	switch string(inner(e.operation)) {
	case "enqueue":
		text := unwrap(readBody(e.content).text)
		if len(j.Queue) == queueLimit {
			j.Queue = append(j.Queue[:0], j.Queue[1:]...)
		}
		j.Queue = append(j.Queue, waiting{
			Text: hashOf(text), UID: j.midTurn(e.at, text), At: e.at,
			Skip: text == "" || machine(text) || localCommand(text),
		})
	case "dequeue":
		if w, ok := j.take(e); ok {
			j.Sent = &w
		}
	case "remove":
		w, ok := j.take(e)
		if !ok || w.Skip || j.SDK {
			return
		}
		if j.Seen.add(w.UID) {
			j.turn(core.TurnMidTurn, w.UID, w.At, !jsonl.Null(e.forked))
		}
		if len(j.Absorbed) == queueLimit {
			j.Absorbed = append(j.Absorbed[:0], j.Absorbed[1:]...)
		}
		j.Absorbed = append(j.Absorbed, w.Text)
	case "popAll":
		// Newer versions write a line for each text they give back, and keep what no person typed.
		if i := j.queueOf(e); i >= 0 {
			j.Queue = append(j.Queue[:i], j.Queue[i+1:]...)
		} else {
			j.Queue = nil
		}
	}
}

// sent takes the user line that follows a dequeue. A person's text goes before the notices that wait
// longer, so the line tells which of them was sent.
func (j *judge) sent(text string) {
	first := j.Sent
	if j.Sent = nil; first == nil || text == "" {
		return
	}
	h := hashOf(text)
	if h == first.Text {
		return
	}
	for i, w := range j.Queue {
		if w.Text == h {
			copy(j.Queue[1:i+1], j.Queue[:i])
			j.Queue[0] = *first
			return
		}
	}
}

// take removes the text that an operation is about: the one it names, else the oldest.
func (j *judge) take(e *entry) (waiting, bool) {
	if len(j.Queue) == 0 {
		return waiting{}, false
	}
	at := max(0, j.queueOf(e))
	w := j.Queue[at]
	j.Queue = append(j.Queue[:at], j.Queue[at+1:]...)
	return w, true
}

// queueOf returns the place of the text that an operation names, or -1.
func (j *judge) queueOf(e *entry) int {
	if jsonl.Null(e.content) {
		return -1
	}
	h := hashOf(unwrap(readBody(e.content).text))
	return slices.IndexFunc(j.Queue, func(w waiting) bool { return w.Text == h })
}

// attached takes an attachment that tells of a text handed to the running turn. Newer versions write
// it beside the queue's own lines; the two are one turn.
func (j *judge) attached(e *entry) {
	var kind, prompt, mode, origin, at []byte
	jsonl.Object(e.attachment, func(key, val []byte) bool {
		switch string(key) {
		case "type":
			kind = val
		case "prompt":
			prompt = val
		case "commandMode":
			mode = val
		case "origin":
			origin = val
		case "timestamp":
			at = val
		}
		return true
	})
	if !jsonl.Is(kind, "queued_command") {
		return
	}
	text := unwrap(readBody(prompt).text)
	author := string(inner(jsonl.Get(origin, "kind")))
	if text == "" || author != "human" && author != "" || j.headless(e) {
		return
	}
	if author == "" && (machine(text) || !jsonl.Null(mode) && !jsonl.Is(mode, "prompt")) {
		return
	}
	if j.absorbed(text) {
		return
	}
	when := instant(at)
	if when == 0 {
		when = e.at
	}
	uid := j.midTurn(when, text)
	h := hashOf(text)
	for i := range j.Queue {
		if w := &j.Queue[i]; w.Text == h && !w.Skip {
			w.Skip, uid, when = true, w.UID, w.At
			break
		}
	}
	if j.Seen.add(uid) {
		j.turn(core.TurnMidTurn, uid, when, !jsonl.Null(e.forked))
	}
}

// absorbed tells whether the queue's lines already told of a text, and forgets that they did.
func (j *judge) absorbed(text string) bool {
	h := hashOf(text)
	for i, t := range j.Absorbed {
		if t == h {
			j.Absorbed = append(j.Absorbed[:i], j.Absorbed[i+1:]...)
			return true
		}
	}
	return false
}

// midTurn is the identity of a text typed while busy: the lines of the queue have no uuid, but both
// they and the attachment carry the instant it was typed.
func (j *judge) midTurn(at core.Instant, text string) int64 {
	return hashOf(string(j.agent), "queue", at.String(), text)
}

// localCommand tells whether a waiting text is a command that the client carries out itself.
func localCommand(text string) bool {
	name, ok := strings.CutPrefix(text, "/")
	if !ok {
		return false
	}
	name, _, _ = strings.Cut(name, " ")
	_, ok = builtIns[name]
	return ok
}
