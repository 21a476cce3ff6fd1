package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tower/core"
)

// Hook is one entry in the hook format that several agents share: below "hooks" a list of groups for
// each event, a group with an optional matcher and a list of handlers, a handler with a command line
// and a time limit in seconds.
type Hook struct {
	Event   string
	Matcher string
	Command string
	Timeout int // 0 = not written
}

// PlacedHook is a Hook where it was found. Group and Handler count from 0, as an agent that keeps
// trust by position counts them.
type PlacedHook struct {
	Hook
	Group, Handler int
	// Alone says that its group has no other handler.
	Alone bool
}

// Hooks returns every command handler of a file, in the order of the text. Groups and handlers of a
// shape nobody knows are passed over; a file whose "hooks" is not an object is an error.
func Hooks(text []byte) ([]PlacedHook, error) {
	root, err := Parse(text)
	if err != nil || root == nil {
		return nil, err
	}
	if root.Kind != Dict {
		return nil, errShape
	}
	at, err := root.child("hooks")
	if err != nil || at < 0 {
		return nil, err
	}
	events := root.Items[at].Value
	if events.Kind != Dict {
		return nil, shapeError([]string{"hooks"}, "an object")
	}
	var found []PlacedHook
	for _, event := range events.Items {
		if _, err := events.child(event.Key); err != nil {
			return nil, err
		}
		if event.Value.Kind != Array {
			continue
		}
		for g, group := range event.Value.Items {
			found = append(found, handlers(text, event.Key, g, group.Value)...)
		}
	}
	return found, nil
}

func handlers(text []byte, event string, group int, n *Node) []PlacedHook {
	var g map[string]json.RawMessage
	if json.Unmarshal(text[n.Start:n.End], &g) != nil {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(g["hooks"], &list) != nil {
		return nil
	}
	var found []PlacedHook
	for i, raw := range list {
		var h map[string]json.RawMessage
		var kind string
		p := PlacedHook{Hook: Hook{Event: event}, Group: group, Handler: i, Alone: len(list) == 1}
		if json.Unmarshal(raw, &h) != nil || json.Unmarshal(h["type"], &kind) != nil || kind != "command" {
			continue
		}
		if json.Unmarshal(h["command"], &p.Command) != nil {
			continue
		}
		// A matcher or limit of another type is foreign; it stays zero and differs from ours.
		_ = json.Unmarshal(g["matcher"], &p.Matcher)
		_ = json.Unmarshal(h["timeout"], &p.Timeout)
		found = append(found, p)
	}
	return found
}

// AddHooks returns text with every wanted hook in it once, each in a group of its own behind the
// groups that are there. Hooks that ours claims by their command but nobody wants any more, or in
// another group than wanted, go. A hook that stands already keeps its place and its time limit, and
// text that holds them all comes back as it is.
func AddHooks(text []byte, want []Hook, ours func(command string) bool) ([]byte, error) {
	kept := make([]bool, len(want))
	stands := func(h PlacedHook) bool {
		for i, w := range want {
			if !kept[i] && w.Event == h.Event && w.Matcher == h.Matcher && w.Command == h.Command {
				kept[i] = true
				return true
			}
		}
		return false
	}
	text, err := dropHooks(text, func(h PlacedHook) bool { return ours(h.Command) && !stands(h) })
	if err != nil {
		return nil, err
	}
	for i, w := range want {
		if kept[i] {
			continue
		}
		handler := Object{{"type", "command"}, {"command", w.Command}}
		if w.Timeout > 0 {
			handler = append(handler, Pair{"timeout", w.Timeout})
		}
		group := Object{{"hooks", []any{handler}}}
		if w.Matcher != "" {
			group = slices.Insert(group, 0, Pair{"matcher", w.Matcher})
		}
		if text, err = Append(text, []string{"hooks", w.Event}, group); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// DropHooks returns text without the hooks that ours claims by their command. After AddHooks that
// gives back the very bytes AddHooks was given, nil included.
func DropHooks(text []byte, ours func(command string) bool) ([]byte, error) {
	return dropHooks(text, func(h PlacedHook) bool { return ours(h.Command) })
}

func dropHooks(text []byte, drop func(PlacedHook) bool) ([]byte, error) {
	found, err := Hooks(text)
	if err != nil {
		return nil, err
	}
	var gone []PlacedHook
	for _, h := range found {
		if drop(h) {
			gone = append(gone, h)
		}
	}
	// From the last to the first, so that the places of those still to go stay true. What is left of
	// a group none of whose handlers are foreign goes as a whole.
	for i := len(gone) - 1; i >= 0; i-- {
		h := gone[i]
		path := []any{"hooks", h.Event, h.Group, "hooks", h.Handler}
		if last := h.Alone || onlyLeft(text, h); last {
			path = path[:3]
		}
		if text, err = Remove(text, path...); err != nil {
			return nil, fmt.Errorf("remove hook of %s: %w", h.Event, err)
		}
	}
	return text, nil
}

// onlyLeft tells whether a hook has become the last of its group.
func onlyLeft(text []byte, h PlacedHook) bool {
	var doc struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
	}
	var groups []struct {
		Hooks []json.RawMessage `json:"hooks"`
	}
	if json.NewDecoder(bytes.NewReader(text)).Decode(&doc) != nil || json.Unmarshal(doc.Hooks[h.Event], &groups) != nil {
		return false
	}
	return h.Group < len(groups) && len(groups[h.Group].Hooks) == 1
}

// HookStatus tells how the wanted hooks stand in a file, and returns those that do, in the order of
// want, with their places. The state is never HooksNeedTrust: whether an agent asks before it runs a
// hook is the agent's own matter.
func HookStatus(text []byte, want []Hook) (core.HookStatus, []PlacedHook) {
	s := core.HookStatus{Events: []string{}, Missing: []string{}}
	all, err := Hooks(text)
	if err == nil {
		err = listed(text, want)
	}
	if err != nil {
		s.State = core.HooksUnreadable
		s.Reason = "The file cannot be read: " + err.Error() + "."
		return s, nil
	}
	var found []PlacedHook
	for _, w := range want {
		at := slices.IndexFunc(all, func(h PlacedHook) bool {
			return h.Event == w.Event && h.Matcher == w.Matcher && h.Command == w.Command
		})
		if at < 0 {
			s.Missing = append(s.Missing, w.Event)
			continue
		}
		s.Events = append(s.Events, w.Event)
		found = append(found, all[at])
	}
	switch {
	case len(found) == len(want):
		s.State = core.HooksInstalled
	case len(found) == 0:
		s.State = core.HooksNotInstalled
	default:
		s.State = core.HooksPartial
		s.Reason = "Missing or altered: " + strings.Join(s.Missing, ", ") + "."
	}
	return s, found
}

// listed tells whether each event of want that stands in a readable file is a list, so that an entry
// can be added to it.
func listed(text []byte, want []Hook) error {
	var doc struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
	}
	_ = json.Unmarshal(text, &doc) // Hooks has read it
	for _, w := range want {
		if v, ok := doc.Hooks[w.Event]; ok && v[0] != '[' {
			return shapeError([]string{w.Event}, "an array")
		}
	}
	return nil
}

// ShellWord returns a path as one word of a shell's command line: bare when it can be, else in double
// quotes.
func ShellWord(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./+:@%,=", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	if len(path) > 1 && path[1] == ':' { // a Windows path: no shell there reads \\ as one backslash
		return `"` + path + `"`
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`).Replace(path) + `"`
}
