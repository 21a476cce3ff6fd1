package codex

import (
	"strings"

	"tower/core"
)

// openingLine starts a session that was launched without a prompt. A thread exists for the tower once
// its first turn does, so an empty composer would be bound to nothing.
const openingLine = "Wait for instructions."

const openingCaution = "Codex has no session before its first turn, so it is started with one short line: \"" + openingLine + "\""

// Launch starts a thread in a terminal. It never joins the shared daemon: then the thread belongs to
// the process in that window, and END and JUMP can prove it.
func (a *Adapter) Launch(spec core.LaunchSpec) (core.Launch, error) {
	l := core.Launch{Dir: spec.CWD, Set: a.home(), Unset: scrub()}
	argv := append([]string{"codex", "--no-daemon"}, model(spec.Model)...)
	argv = append(argv, spec.Args...)
	prompt := spec.Prompt
	if prompt == "" {
		prompt = openingLine
		l.Cautions = append(l.Cautions, openingCaution)
	}
	last, caution := words(prompt)
	l.Argv, l.Cautions = append(argv, last...), append(l.Cautions, caution...)
	return l, nil
}

// home tells a command of the agent where its records are: the tower looks for them there, whatever the
// environment it gets says.
func (a *Adapter) home() map[string]string {
	if a.info.RootEnv == "" {
		return nil
	}
	return map[string]string{a.info.RootEnv: a.info.Root}
}

// Resume takes a thread up again in a terminal. Without a model it keeps the one it had last; a model
// that is given sticks.
func (a *Adapter) Resume(s core.Session, m string) (core.Launch, error) {
	if s.Native == "" || strings.HasPrefix(s.Native, "-") {
		return core.Launch{}, &core.Refusal{What: "Not resumed.", Why: "The session has no Codex id."}
	}
	l := core.Launch{Dir: s.CWD, Set: a.home(), Unset: scrub()}
	// The folder it is started in is meant. Without the option, and where the thread last worked in another
	// one, Codex asks which of the two before it does anything.
	l.Argv = append([]string{"codex", "--no-daemon", "resume", s.Native, "-C", "."}, model(m)...)
	if s.Archived {
		l.Cautions = append(l.Cautions, "It is archived; Codex may ask for it to be taken out of the archive first.")
	}
	return l, nil
}

func model(name string) []string {
	if name == "" {
		return nil
	}
	return []string{"-m", name}
}

// words makes a prompt one argument that cannot be taken for an option, a subcommand or a shell command.
// Codex runs a first prompt that begins with an exclamation mark in a shell; a blank before it makes it
// text. Everything else it takes as text, a slash command too.
func words(prompt string) (argv, cautions []string) {
	if strings.HasPrefix(prompt, "!") {
		prompt, cautions = " "+prompt, []string{shellCaution}
	}
	return []string{"--", prompt}, cautions
}

const shellCaution = "Codex would run a prompt that begins with \"!\" as a shell command, so a blank stands before it."

// scrub are the variables one thread's tools inherit and another must not.
func scrub() []string {
	return []string{"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "CODEX_MANAGED_*"}
}
