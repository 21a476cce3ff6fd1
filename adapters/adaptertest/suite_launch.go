package adaptertest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

func (s Suite) launch(t *testing.T) {
	a, _ := s.adapter(t)
	l, err := a.Launch(core.LaunchSpec{CWD: "/home/dev/proj", Prompt: "do it", Model: "m-1", Name: "a name"})
	if err != nil {
		t.Fatalf("Launch: %v", err)
	}
	if l.Dir != "/home/dev/proj" || !slices.Contains(l.Argv, "do it") || !slices.Contains(l.Argv, "m-1") || l.NullIn {
		t.Errorf("Launch = %+v: folder, prompt or model is missing, or it has no terminal", l)
	}
	if n := count(l.Argv, "do it"); n != 1 {
		t.Errorf("Launch = %q: the prompt is no argument of its own", l.Argv)
	}
	if len(l.Unset) == 0 {
		t.Error("Launch takes no variable out of the environment: a session inside a session")
	}
	other, err := a.Launch(core.LaunchSpec{CWD: "/home/dev/proj"})
	if err != nil {
		t.Fatalf("Launch without a prompt: %v", err)
	}
	if l.Preset != "" && l.Preset == other.Preset {
		t.Errorf("two launches share the id %s", l.Preset)
	}
	if slices.ContainsFunc(other.Argv, func(s string) bool { return strings.Contains(s, "model") }) {
		t.Errorf("Launch without a model names one: %q", other.Argv)
	}
	dash, err := a.Launch(core.LaunchSpec{CWD: "/", Prompt: "--help me"})
	if err != nil {
		t.Fatalf("Launch of a prompt that begins with a dash: %v", err)
	}
	i, j := slices.Index(dash.Argv, "--"), slices.Index(dash.Argv, "--help me")
	if i < 0 || j < i {
		t.Errorf("Launch = %q: the prompt reads as an option", dash.Argv)
	}
	s.resume(t, a)
}

// count tells how often an argument stands in a command.
func count(argv []string, arg string) (n int) {
	for _, a := range argv {
		if a == arg {
			n++
		}
	}
	return n
}

func (s Suite) resume(t *testing.T, a core.Adapter) {
	t.Helper()
	if s.Session.Native == "" {
		return
	}
	l, err := a.Resume(s.Session, "m-2")
	if err != nil {
		t.Fatalf("Resume: %v", err)
	}
	if l.Dir != s.Session.CWD || !slices.Contains(l.Argv, s.Session.Native) || !slices.Contains(l.Argv, "m-2") {
		t.Errorf("Resume = %+v: folder, id or model is missing", l)
	}
	again, err := a.Resume(s.Session, "m-2")
	if err != nil || !cmp.Equal(l, again) {
		t.Errorf("Resume twice differs: %v %s", err, cmp.Diff(l, again))
	}
	if p, ok := a.(core.Prompter); ok {
		for _, prompt := range []string{"go on", "--help me", "two\nlines", "/closeout"} {
			with := p.WithPrompt(l, prompt)
			if n := len(with.Argv); n <= len(l.Argv) || with.Argv[n-1] != prompt || count(with.Argv, prompt) != 1 || with.Dir != l.Dir {
				t.Errorf("WithPrompt(%q) = %+v: the prompt is not the last argument", prompt, with)
			}
			if i, j := slices.Index(with.Argv, "--"), slices.Index(with.Argv, prompt); prompt[0] == '-' && (i < 0 || j < i) {
				t.Errorf("WithPrompt = %q: the prompt reads as an option", with.Argv)
			}
			if !cmp.Equal(l, again) {
				t.Fatalf("WithPrompt changed the launch it was given: %s", cmp.Diff(again, l))
			}
		}
	}
	var refusal *core.Refusal
	nobody := s.Session
	nobody.Native = ""
	if l, err := a.Resume(nobody, ""); !errors.As(err, &refusal) {
		t.Errorf("Resume of a session without an id = %+v, %v, want a refusal", l, err)
	}
}

func (s Suite) hooks(t *testing.T) {
	a, root := s.adapter(t)
	h, ok := a.(core.HookInstaller)
	if !ok {
		t.Skip("the agent runs no hooks")
	}
	below(t, root, h.HookFile())
	if shot, err := h.OneShot("/home/dev/scratch"); err != nil || len(shot.Argv) == 0 || shot.Dir != "/home/dev/scratch" || !shot.NullIn {
		t.Errorf("OneShot = %+v, %v: command or folder is missing, or it would read its input", shot, err)
	}
	for _, command := range []string{"/home/dev/.local/share/tower/bin/tower-hook", `/home/dev/it's "my" $HOME/tower-hook`} {
		contents := [][]byte{nil}
		for _, c := range s.Contents {
			contents = append(contents, []byte(c))
		}
		for _, content := range contents {
			s.install(t, h, content, command)
		}
	}
	for _, content := range s.Malformed {
		if out, err := h.InstallHooks([]byte(content), "/t/hook"); err == nil {
			t.Errorf("InstallHooks(%q) = %q, want an error", content, out)
		}
		if got := h.HookStatus([]byte(content), "/t/hook"); got.State != core.HooksUnreadable || got.Reason == "" {
			t.Errorf("HookStatus(%q) = %+v, want unreadable and why", content, got)
		}
	}
}

func (s Suite) install(t *testing.T, h core.HookInstaller, content []byte, command string) {
	t.Helper()
	if got := h.HookStatus(content, command); got.State != core.HooksNotInstalled || len(got.Missing) == 0 {
		t.Errorf("HookStatus(%q) = %+v, want not installed", content, got)
	}
	in, err := h.InstallHooks(content, command)
	if err != nil {
		t.Fatalf("InstallHooks(%q): %v", content, err)
	}
	got := h.HookStatus(in, command)
	if got.State != core.HooksInstalled && got.State != core.HooksNeedTrust || len(got.Missing) > 0 || len(got.Events) == 0 {
		t.Errorf("HookStatus after InstallHooks(%q) = %+v", content, got)
	}
	if got := h.HookStatus(in, command+"-other"); got.State != core.HooksNotInstalled {
		t.Errorf("HookStatus takes the entries of another hook for ours: %+v", got)
	}
	if again, err := h.InstallHooks(in, command); err != nil || string(again) != string(in) {
		t.Errorf("InstallHooks twice (%q): %v\n%s", content, err, cmp.Diff(string(in), string(again)))
	}
	if other, err := h.UninstallHooks(in, command+"-other"); err != nil || string(other) != string(in) {
		t.Errorf("UninstallHooks of another hook changed the file: %v\n%s", err, cmp.Diff(string(in), string(other)))
	}
	out, err := h.UninstallHooks(in, command)
	if err != nil || string(out) != string(content) || (out == nil) != (content == nil) {
		t.Errorf("UninstallHooks(InstallHooks(%q)) = %q, %v", content, out, err)
	}
}
