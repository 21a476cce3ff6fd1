package codex

import (
	"bytes"
	"strings"

	"tower/adapters/jsonl"
)

// itemKinds are the kinds of response items; the oldest rollouts hold them as lines of their own.
var itemKinds = set("message reasoning function_call function_call_output custom_tool_call custom_tool_call_output " +
	"local_shell_call local_shell_call_output web_search_call tool_search_call tool_search_output image_generation_call " +
	"additional_tools ghost_snapshot compaction compaction_summary compaction_trigger configuration_update context_compaction agent_message other")

// eventKinds are the kinds of events that tell nothing a scan wants.
var eventKinds = set("agent_message agent_message_delta agent_reasoning agent_reasoning_delta agent_reasoning_raw_content " +
	"agent_reasoning_section_break thread_settings_applied thread_rolled_back " +
	"thread_name_updated thread_goal_updated error warning stream_error background_event deprecation_notice " +
	"patch_apply_begin exec_command_begin exec_command_output_delta exec_approval_request apply_patch_approval_request " +
	"request_user_input request_permissions elicitation_request mcp_tool_call_begin " +
	"web_search_begin web_search_end view_image_tool_call image_generation_begin image_generation_end turn_diff " +
	"plan_update plan_delta undo_started undo_completed entered_review_mode exited_review_mode item_started " +
	"terminal_interaction model_reroute guardian_assessment hook_started hook_completed session_configured " +
	"shutdown_complete dynamic_tool_call_request dynamic_tool_call_response sub_agent_activity " +
	"collab_agent_spawn_begin collab_agent_spawn_end collab_agent_interaction_begin collab_agent_interaction_end " +
	"collab_waiting_begin collab_waiting_end collab_close_begin collab_close_end collab_resume_begin collab_resume_end")

// completedKinds are the kinds of completed items that tell nothing a scan wants.
var completedKinds = set("AgentMessage Reasoning ContextCompaction " +
	"HookPrompt Plan WebSearch ImageView ImageGeneration EnteredReviewMode ExitedReviewMode " +
	"SubAgentActivity Sleep")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func (j *judge) item(payload []byte) {
	switch name := first(payload); string(name) {
	case "message":
		j.message(payload)
	case "function_call":
		var m pick
		m.from(payload, "name", "arguments")
		j.call(m[0], m[1])
	case "custom_tool_call":
		var m pick
		m.from(payload, "name", "input")
		j.call(m[0], m[1])
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		j.Steps++
	default:
		if !itemKinds[string(name)] && len(name) > 0 {
			j.unknown("response_item/" + string(name))
		}
	}
}

// skillKind labels the text of a skill that a person chose.
const skillKind = "skills.selected_skill_instructions"

// message judges what went to the model as the user's. The newest generation says of each part what
// it is; before that only the text itself tells machine from person.
func (j *judge) message(payload []byte) {
	var m pick
	m.from(payload, "role", "content", "internal_chat_message_metadata_passthrough")
	if !jsonl.Is(m[0], "user") {
		return
	}
	var kinds []string
	labelled := false
	if list := jsonl.Get(m[2], "content_item_kinds"); list != nil {
		labelled = true
		jsonl.Array(list, func(val []byte) bool {
			kinds = append(kinds, jsonl.Text(val))
			return true
		})
	}
	var whole, words []string
	typed := false
	i := 0
	part := func(val []byte) {
		kind := ""
		if i < len(kinds) {
			kind = kinds[i]
		}
		i++
		raw := val
		if jsonl.KindOf(val) != jsonl.KindString {
			raw = jsonl.Get(val, "text")
		}
		if j.Told.N > 0 && j.CWD != "" && kind != skillKind {
			// Prompts are known from elsewhere; only a skill without a label is still looked for.
			if start, _ := jsonl.Head(raw, 64); labelled || !strings.HasPrefix(start, "<skill>") {
				return
			}
		}
		text, isText := jsonl.String(raw)
		if isText {
			whole = append(whole, text)
		}
		switch {
		case kind == skillKind:
			j.skill(text, false)
		case labelled:
			if strings.HasPrefix(kind, "user.") {
				typed = true
				words = append(words, request(strings.TrimSpace(text)))
			}
		case isText:
			j.place(text)
			if strings.HasPrefix(text, "<skill>") {
				j.skill(text, true)
			}
			if rest := strip(text); rest != "" {
				typed = true
				words = append(words, rest)
			}
		default:
			typed = typed || string(first(val)) == "input_image"
		}
	}
	if jsonl.KindOf(m[1]) == jsonl.KindString {
		part(m[1])
	} else {
		jsonl.Array(m[1], func(val []byte) bool { part(val); return true })
	}
	if !typed || j.Told.N > 0 {
		return
	}
	hash := textHash(strings.Join(whole, "\n"))
	uid := uidText(j.at, hash)
	if j.at == 0 {
		uid = uidFlat(j.ID, j.Sent.N, hash)
	}
	j.prompt(&j.Sent, &j.sent, uid, strings.Join(words, "\n"))
}

// skill takes up the text of a skill the client put into the context. Without a label a person could
// have typed it; then the report of the prompt, which follows, takes it back.
func (j *judge) skill(text string, unlabelled bool) {
	_, rest, ok := strings.Cut(text, "<name>")
	name, _, ok2 := strings.Cut(rest, "</name>")
	name = strings.TrimSpace(name)
	if !ok || !ok2 || name == "" || len(name) > 200 || !j.mine() {
		return
	}
	add(&j.SkillTexts, name)
	if unlabelled {
		j.PendSkill, j.PendName = textHash(text), name
	}
}

// place takes the working folder from the client's own description of it, where no record has told it.
func (j *judge) place(text string) {
	if j.CWD != "" || !strings.HasPrefix(text, "<environment_context>") {
		return
	}
	if _, rest, ok := strings.Cut(text, "<cwd>"); ok {
		j.CWD, _, _ = strings.Cut(rest, "</cwd>")
	} else if _, rest, ok := strings.Cut(text, "Current working directory: "); ok {
		j.CWD, _, _ = strings.Cut(rest, "\n")
	}
	j.CWD = strings.TrimSpace(j.CWD)
}

// changed counts the folders of changed files.
func (j *judge) changed(changes []byte) {
	if !j.mine() {
		return
	}
	jsonl.Object(changes, func(key, _ []byte) bool {
		if path := string(key); absolute(path) {
			add(&j.Changed, parent(path))
		}
		return true
	})
}

// call counts the folders that a tool call names by an absolute path.
func (j *judge) call(name, input []byte) {
	if !j.mine() {
		return
	}
	in := jsonl.Inner(input)
	patch := bytes.Contains(in, []byte("*** Begin Patch"))
	if !patch && !bytes.Contains(in, []byte(`path\"`)) {
		return
	}
	text := jsonl.Text(input)
	if patch {
		j.patch(text)
		return
	}
	image := jsonl.Is(name, "view_image")
	jsonl.Object([]byte(text), func(key, val []byte) bool {
		path := jsonl.Text(val)
		if !absolute(path) {
			return true
		}
		switch string(key) {
		case "file_path":
			add(&j.Asked, parent(path))
		case "path", "dir_path":
			if image {
				path = parent(path)
			}
			add(&j.Asked, path)
		}
		return true
	})
}

// patch counts the folders in the headers of a patch. It may stand inside JSON once more.
func (j *judge) patch(text string) {
	for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
		rest := text
		for {
			_, after, ok := strings.Cut(rest, mark)
			if !ok {
				break
			}
			path := after
			if n := strings.IndexAny(after, "\n\"\\"); n >= 0 {
				path = after[:n]
			}
			if path = strings.TrimSpace(path); absolute(path) {
				add(&j.Asked, parent(path))
			}
			rest = after
		}
	}
}

// absolute tells whether a path is, on whatever system the rollout was written.
func absolute(path string) bool {
	if strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\\`) {
		return true
	}
	return len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') &&
		(path[0]|0x20) >= 'a' && (path[0]|0x20) <= 'z'
}

// parent returns the folder of an absolute path.
func parent(path string) string {
	n := strings.LastIndexAny(path, `/\`)
	switch {
	case n == 0:
		return path[:1]
	case n == 2 && path[1] == ':':
		return path[:3]
	}
	return path[:n]
}
