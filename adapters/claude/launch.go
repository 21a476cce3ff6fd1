package claude

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"tower/core"
)

// command is how a person starts the agent.
const command = "claude"

// scrubbed are the variables a session hands to its children. A session that inherits them believes
// that it is one of those children and writes neither transcript nor registry: it would be invisible.
var scrubbed = []string{"CLAUDE*", "CLAUDECODE", "AI_AGENT"}

// Launch tells how to start a session. The agent is told which id to use, so that the session is
// known before its process is.
func (a *Adapter) Launch(spec core.LaunchSpec) (core.Launch, error) {
	if err := plain("Not started.", spec.Model); err != nil {
		return core.Launch{}, err
	}
	l := core.Launch{Dir: spec.CWD, Set: a.environ(), Unset: scrubbed, Preset: a.id()}
	l.Argv = []string{command, "--session-id", l.Preset}
	switch {
	case spec.Name == "":
	case strings.HasPrefix(spec.Name, "-"):
		l.Argv = append(l.Argv, "--name="+spec.Name)
	default:
		l.Argv = append(l.Argv, "-n", spec.Name)
	}
	if spec.Model != "" {
		l.Argv = append(l.Argv, "--model", spec.Model)
	}
	l.Argv = append(l.Argv, spec.Args...)
	if spec.Prompt != "" {
		// Some options take any number of values and would take the prompt for one of them.
		if strings.HasPrefix(spec.Prompt, "-") || len(spec.Args) > 0 {
			l.Argv = append(l.Argv, "--")
		}
		l.Argv = append(l.Argv, spec.Prompt)
	}
	return l, nil
}

// Resume tells how to take a session up again: by its id, since names are not unique, and in the
// folder it ran in, since the agent finds it from nowhere else. An empty model keeps the last one.
func (a *Adapter) Resume(s core.Session, model string) (core.Launch, error) {
	const not = "Not resumed."
	switch {
	case !core.IsUUID(s.Native):
		return core.Launch{}, &core.Refusal{What: not, Why: "Its id is not one that Claude Code gives."}
	case s.CWD == "":
		return core.Launch{}, &core.Refusal{What: not, Why: "Nobody recorded the folder it ran in, and Claude Code finds a session only from there."}
	}
	if err := plain(not, model); err != nil {
		return core.Launch{}, err
	}
	l := core.Launch{Argv: []string{command, "--resume", s.Native}, Dir: s.CWD, Set: a.environ(), Unset: scrubbed, Preset: s.Native}
	if model != "" {
		l.Argv = append(l.Argv, "--model", model)
	}
	return l, nil
}

// WithPrompt puts a first prompt behind the command line of Resume. A slash command runs as if it had
// been typed.
func (a *Adapter) WithPrompt(l core.Launch, prompt string) core.Launch {
	if prompt != "" {
		l.Argv = append(slices.Clone(l.Argv), "--", prompt)
	}
	return l
}

// plain refuses a model that the agent would read as an option.
func plain(what, model string) error {
	if strings.HasPrefix(model, "-") {
		return &core.Refusal{What: what, Why: "A model's name does not begin with a dash."}
	}
	return nil
}

// OneShot asks for one word and ends.
func (a *Adapter) OneShot(dir string) (core.Launch, error) {
	return core.Launch{
		Argv:   []string{command, "-p", "Answer with the single word: ok"},
		Dir:    dir,
		Set:    a.environ(),
		Unset:  scrubbed,
		NullIn: true,
	}, nil
}

// Find looks for the agent's command in the folders of a PATH, then where its older installer put it.
func (a *Adapter) Find(path string) (string, string) {
	names := []string{command}
	if runtime.GOOS == "windows" {
		names = []string{command + ".exe", command + ".cmd"}
	}
	folders := append(filepath.SplitList(path), filepath.Join(a.info.Root, "local"))
	for _, dir := range folders {
		for _, name := range names {
			file := filepath.Join(dir, name)
			if st, err := os.Stat(file); dir != "" && err == nil && st.Mode().IsRegular() && (runtime.GOOS == "windows" || st.Mode()&0o111 != 0) {
				return file, ""
			}
		}
	}
	return "", "the folders of PATH and " + filepath.Join(a.info.Root, "local")
}
