package claude

import (
	"strings"

	"tower/adapters/jsonl"
	"tower/core"
)

// pending is a slash command whose fate the next lines tell:
//
//	a hidden line that expands it, its child    it reached the model
//	output of a local command                   it did not
//	the next answer, prompt or slash command    what its name says: built in, or not
//
// One that a person typed out in tags, which only the author of the line betrays, is a prompt unless
// an expansion follows.
type pending struct {
	UUID     int64         `json:"uuid"`
	Prompt   int64         `json:"prompt,omitempty"`
	UID      int64         `json:"uid"`
	Name     string        `json:"name"`
	At       core.Instant  `json:"at"`
	BuiltIn  bool          `json:"builtin,omitempty"` // by its name
	Local    bool          `json:"local,omitempty"`   // written the way commands of the client are: the name first
	Human    bool          `json:"human,omitempty"`
	Headless bool          `json:"headless,omitempty"`
	Copied   bool          `json:"copied,omitempty"`
	Told     core.TurnKind `json:"told,omitempty"` // reported by an earlier scan as this
}

// kind is what the command counts as when nothing more is said, or 0.
func (p *pending) kind() core.TurnKind {
	switch {
	case p.Headless:
		return 0
	case p.Human:
		return core.TurnTyped
	case p.BuiltIn:
		return 0
	}
	return core.TurnSlash
}

// slash takes a line that begins with command tags.
func (j *judge) slash(e *entry, text string, human bool) {
	name, typed := strings.CutPrefix(tagged(text, "command-name"), "/")
	if !typed && !human && j.loading(name, text) {
		return
	}
	j.settle()
	uid := j.uid(e, text)
	if !j.Seen.add(uid) || !j.once(e, text) {
		return
	}
	if name == "" {
		name = tagged(text, "command-message")
	}
	_, builtIn := builtIns[name]
	if human && j.First == "" && !j.headless(e) {
		j.First = cut(text, firstLimit)
	}
	j.Pending = &pending{
		UUID: hashOf(string(inner(e.uuid))), UID: uid, Name: cut(name, nameLimit), At: e.at,
		BuiltIn: builtIn, Local: strings.HasPrefix(text, "<command-name>"), Human: human, Headless: j.headless(e), Copied: !jsonl.Null(e.forked),
	}
	if id := inner(e.prompt); len(id) > 0 {
		j.Pending.Prompt = hashOf(string(id))
	}
}

// loading tells whether tags whose name has no slash are what some versions write, unhidden, between
// the model's own run of a skill and the body of that skill.
func (j *judge) loading(name, text string) bool {
	return j.ToolSkills[cut(name, nameLimit)] > 0 || strings.Contains(text, "<skill-format>") ||
		strings.HasSuffix(tagged(text, "command-message"), " skill is loading")
}

// metaLine takes a hidden user line: the expansion of a command, the body of a skill, a reminder.
func (j *judge) metaLine(e *entry) {
	if j.Pending == nil && len(j.CloseoutTools) == 0 {
		return
	}
	text := unwrap(readBody(jsonl.Get(e.message, "content")).text)
	skill := strings.HasPrefix(text, "Base directory for this skill:")
	if id := inner(e.tool); skill && len(id) > 0 {
		j.closed(e, hashOf(string(id)))
		return
	}
	p := j.Pending
	if p == nil || e.side || text == "" || !skill && (machine(text) || p.BuiltIn && p.Local) {
		return
	}
	parent, prompt := inner(e.parent), inner(e.prompt)
	child := len(parent) > 0 && hashOf(string(parent)) == p.UUID || len(prompt) > 0 && hashOf(string(prompt)) == p.Prompt
	// Other hidden lines may stand between a command and the body of its skill.
	if !child && (!skill || p.Human || p.BuiltIn) {
		return
	}
	if skill {
		j.SlashSkills.add(p.Name, 1)
	}
	if j.isCloseout(p.Name) && !p.Copied {
		j.Closed = true
	}
	if p.Headless {
		j.Headless++
		j.resolve(0)
		return
	}
	j.resolve(core.TurnSlash)
}

// local takes the output of a local command.
func (j *judge) local() {
	if p := j.Pending; p != nil && !p.Human {
		j.resolve(0)
	}
}

// settle ends the wait of a pending command at the first line that comes too late to tell more.
func (j *judge) settle() {
	if p := j.Pending; p != nil {
		if p.Headless && !p.BuiltIn {
			j.Headless++
		}
		j.resolve(p.kind())
	}
}

// resolve counts the pending command as kind.
func (j *judge) resolve(kind core.TurnKind) {
	p := j.Pending
	j.Pending = nil
	switch {
	case p.Told != 0 && p.Told != kind:
		j.takeBack = true
	case kind == 0:
	case p.Told != 0:
		j.count(kind, false)
	default:
		j.turn(kind, p.UID, p.At, p.Copied)
	}
}

// tagged returns what stands inside the first pair of a tag.
func tagged(text, tag string) string {
	_, rest, ok := strings.Cut(text, "<"+tag+">")
	if !ok {
		return ""
	}
	in, _, _ := strings.Cut(rest, "</"+tag+">")
	return strings.TrimSpace(in)
}

func (j *judge) isCloseout(name string) bool {
	return name == j.closeout || strings.HasSuffix(name, ":"+j.closeout)
}

// builtIns are the commands that the client carries out itself. Commands of its own that ask the
// model (init, review, security-review) are not among them.
var builtIns = func() map[string]struct{} {
	m := map[string]struct{}{}
	for _, name := range strings.Fields(`
		add-dir advisor agents allowed-tools android app approved-tools autocompact bashes branch bug
		checkpoint chrome clear color compact config context continue copy cost daemon design-login desktop
		diff discover doctor effort exit export extra-usage fast feedback fork heapdump help hooks ide
		install install-github-app install-slack-app ios keybindings login logout marketplace mcp memory
		migrate-installer mobile model new output-style output-style:new passes pause-memory permissions plan
		plugin plugins powerup privacy-settings pro-trial-expired quit radio rate-limit-options rc
		release-notes reload-plugins reload-skills remote-control remote-env rename reset resume rewind
		sandbox scroll-speed session settings setup-bedrock setup-vertex skills stats status stickers tasks
		teleport terminal-setup theme think-back todo todos tui upgrade usage usage-credits vim voice
		web-setup wellbeing`) {
		m[name] = struct{}{}
	}
	return m
}()
