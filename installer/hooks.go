package installer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tower/core"
	"tower/core/home"
)

// Hooks installs, checks and removes Tower's hook entries, one agent at a time.
type Hooks struct {
	Adapters []core.Adapter
	// Binary is the full path of tower-hook as every entry names it. It must never change: agents
	// that trust a hook trust its text.
	Binary string
	// Backup is the folder for copies of files before they are changed.
	Backup string
	// HookLog is where the hook leaves a line for every call; the canary looks there.
	HookLog string
	// Path is the PATH in which the canary looks for an agent; "" is that of this process.
	Path string

	// deadline is how long the canary's agent may take, and landing how long after its end an event
	// may still be on its way; 0 stands for a minute and for two seconds.
	deadline, landing time.Duration
}

// HookResult is what came of an installation or removal.
type HookResult struct {
	Agent   core.Agent      `json:"agent"`
	Said    string          `json:"said"` // one sentence in the past tense, and a second if something is left to do
	Changed bool            `json:"changed"`
	File    string          `json:"file"`
	Copy    string          `json:"backup"` // of the file before, or ""
	Status  core.HookStatus `json:"hooks"`
}

// maxFile bounds what is read of a settings file.
const maxFile = 16 << 20

// find returns the adapter of an agent as far as it concerns hooks.
func (h *Hooks) find(agent core.Agent, not string) (core.AgentInfo, core.HookInstaller, error) {
	for _, a := range h.Adapters {
		info := a.Agent()
		if info.Agent != agent {
			continue
		}
		if hooks, ok := a.(core.HookInstaller); ok {
			return info, hooks, nil
		}
		return info, nil, &core.Refusal{What: not, Why: info.Display + " runs no hooks."}
	}
	return core.AgentInfo{}, nil, &core.Refusal{What: not, Why: fmt.Sprintf("There is no agent %q.", agent)}
}

// Install adds the entries of one agent. An agent that is not there, a file nobody understands and a
// file that changes all the time are refusals.
func (h *Hooks) Install(agent core.Agent) (HookResult, error) {
	info, hooks, err := h.find(agent, install.not)
	if err != nil {
		return HookResult{}, err
	}
	if st, err := os.Stat(info.Root); err != nil || !st.IsDir() {
		return HookResult{}, &core.Refusal{What: install.not, Why: fmt.Sprintf("%s was never used here: there is no folder %s.", info.Display, info.Root), Hint: info.Install}
	}
	if st, err := os.Stat(h.Binary); err != nil || !st.Mode().IsRegular() {
		return HookResult{}, &core.Refusal{What: install.not, Why: "There is no hook at " + h.Binary + ", and entries that name nothing would make the agent complain."}
	}
	r, err := h.apply(install, info, hooks)
	if err != nil {
		return HookResult{}, err
	}
	switch {
	case r.Changed:
		r.Said = fmt.Sprintf("Installed the hooks of %s in %s.", info.Display, r.File)
	default:
		r.Said = fmt.Sprintf("The hooks of %s were installed already.", info.Display)
	}
	if r.Status.Reason != "" {
		r.Said += " " + r.Status.Reason
	}
	return r, nil
}

// Uninstall takes the entries of one agent away, and with them a file that held nothing else.
func (h *Hooks) Uninstall(agent core.Agent) (HookResult, error) {
	info, hooks, err := h.find(agent, uninstall.not)
	if err != nil {
		return HookResult{}, err
	}
	r, err := h.apply(uninstall, info, hooks)
	if err != nil {
		return HookResult{}, err
	}
	if r.Changed {
		r.Said = fmt.Sprintf("Removed the hooks of %s from %s.", info.Display, r.File)
	} else {
		r.Said = fmt.Sprintf("There were no hooks of %s to remove.", info.Display)
	}
	return r, nil
}

// Status tells how the entries of one agent stand now.
func (h *Hooks) Status(agent core.Agent) (core.HookStatus, error) {
	_, hooks, err := h.find(agent, "No status.")
	if err != nil {
		return core.HookStatus{}, err
	}
	_, content, err := read(hooks.HookFile())
	if err != nil {
		return core.HookStatus{State: core.HooksUnreadable, Reason: "The file cannot be read: " + err.Error() + "."}, nil
	}
	return hooks.HookStatus(content, h.Binary), nil
}

// errChanged says that somebody else wrote the file meanwhile.
var errChanged = errors.New("the file changed meanwhile")

// apply carries a verb out. When the file changes between reading and writing the plan is void: it is
// made once more on the new content, and refused after that.
func (h *Hooks) apply(v verb, info core.AgentInfo, hooks core.HookInstaller) (HookResult, error) {
	r := HookResult{Agent: info.Agent, File: hooks.HookFile()}
	for attempt := 0; ; attempt++ {
		target, content, err := read(r.File)
		if err != nil {
			return r, &core.Refusal{What: v.not, Why: fmt.Sprintf("%s cannot be read: %v.", r.File, err)}
		}
		p, err := makePlan(v, hooks, r.File, content, h.Binary)
		if err != nil {
			return r, err
		}
		r.Status = p.status
		if !p.changes() {
			return r, nil
		}
		if r.Copy, err = h.keep(info.Agent, target, p.old); err != nil {
			return r, err
		}
		switch err := swap(target, p); {
		case err == nil:
			r.Changed = true
			r.Status = hooks.HookStatus(p.new, h.Binary)
			return r, nil
		case !errors.Is(err, errChanged):
			return r, fmt.Errorf("write %s: %w", r.File, err)
		case attempt > 0:
			return r, &core.Refusal{What: v.not, Why: r.File + " changed twice while it was being edited.", Hint: "Try again when no other program writes to it."}
		}
	}
}

// read returns a file and the path behind its links; nil content means that there is none.
func read(file string) (target string, content []byte, err error) {
	target = follow(file)
	content, err = home.ReadFile(target, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return target, nil, nil
	}
	if err == nil && content == nil {
		content = []byte{}
	}
	return target, content, err
}

// follow returns where a link leads, also when nothing lies there yet.
func follow(file string) string {
	for range 20 {
		to, err := os.Readlink(file)
		if err != nil {
			return file
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(file), to)
		}
		file = to
	}
	return file
}

// keep copies content into the backup folder.
func (h *Hooks) keep(agent core.Agent, target string, content []byte) (string, error) {
	if content == nil {
		return "", nil
	}
	if err := os.MkdirAll(h.Backup, 0o700); err != nil {
		return "", fmt.Errorf("make backup folder: %w", err)
	}
	name := fmt.Sprintf("%s-%s-%s", agent, filepath.Base(target), time.Now().UTC().Format("20060102T150405.000000Z"))
	file := filepath.Join(h.Backup, name)
	if err := replace(file, content, 0o600); err != nil {
		return "", fmt.Errorf("keep a copy: %w", err)
	}
	return file, nil
}

// swap puts the new content in place of the old, or removes the file. It looks at the file directly
// before, and reports errChanged when it is not the old one.
func swap(target string, p plan) error {
	_, now, err := read(target)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, p.old) || (now == nil) != (p.old == nil) {
		return errChanged
	}
	if p.new == nil {
		return os.Remove(target)
	}
	mode := fs.FileMode(0o600)
	if st, err := os.Stat(target); err == nil {
		mode = st.Mode().Perm()
	}
	return replace(target, p.new, mode)
}
