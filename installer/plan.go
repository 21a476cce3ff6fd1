package installer

import (
	"bytes"
	"fmt"

	"tower/core"
)

// verb is what is to be done with hook entries.
type verb struct {
	edit func(h core.HookInstaller, content []byte, command string) ([]byte, error)
	// proper tells whether a file is as the verb leaves it.
	proper func(core.HookState) bool
	not    string // the verdict of a refusal
}

var (
	install = verb{
		edit: core.HookInstaller.InstallHooks,
		proper: func(s core.HookState) bool {
			// Partial, because a person may have switched hooks off in the file: that is a reason to
			// show, and no fault of the edit.
			return s == core.HooksInstalled || s == core.HooksNeedTrust || s == core.HooksPartial
		},
		not: "Not installed.",
	}
	uninstall = verb{
		edit:   core.HookInstaller.UninstallHooks,
		proper: func(s core.HookState) bool { return s == core.HooksNotInstalled },
		not:    "Not removed.",
	}
)

// plan is what is to become of one file. It is made of bytes alone.
type plan struct {
	old, new []byte // nil = no file
	status   core.HookStatus
}

func (p plan) changes() bool { return !bytes.Equal(p.old, p.new) || (p.old == nil) != (p.new == nil) }

// makePlan works out the new content of a hook file and reads it back. A file the adapter cannot
// understand is a refusal that says why.
func makePlan(v verb, h core.HookInstaller, file string, content []byte, command string) (plan, error) {
	p := plan{old: content}
	if s := h.HookStatus(content, command); s.State == core.HooksUnreadable {
		return p, &core.Refusal{What: v.not, Why: file + " is not changed. " + s.Reason, Hint: "Mend the file and try again."}
	}
	var err error
	if p.new, err = v.edit(h, content, command); err != nil {
		return p, &core.Refusal{What: v.not, Why: fmt.Sprintf("%s is not changed: %v.", file, err), Hint: "Mend the file and try again."}
	}
	p.status = h.HookStatus(p.new, command)
	if !v.proper(p.status.State) || v.not == install.not && len(p.status.Missing) > 0 {
		return p, fmt.Errorf("check the new content of %s: the hooks read %q", file, p.status.State)
	}
	return p, nil
}
