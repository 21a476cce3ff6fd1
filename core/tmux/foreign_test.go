//go:build unix

package tmux

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tower/core"
)

// TestOtherPane asks a tmux that answers for another pane than the one asked for, as versions do that
// fall back to the current one.
func TestOtherPane(t *testing.T) {
	s := newServer(t)
	p := s.start("x", "sink", filepath.Join(s.dir, "out"))
	f := Foreign(s.wrapper(`[ "$a" = %9999 ] && a=`+p.ID), s.o.Socket)
	if _, ok, err := f.Pane(t.Context(), p.ID); !ok || err != nil {
		t.Fatalf("Pane = %v, %v", ok, err)
	}
	if q, ok, err := f.Pane(t.Context(), "%9999"); ok || err != nil {
		t.Errorf("Pane of another's answer = %+v, %v, %v, want none", q, ok, err)
	}
	var r *core.Refusal
	if err := f.Enter(t.Context(), "%9999"); !errors.As(err, &r) {
		t.Errorf("Enter = %v, want a refusal", err)
	}
}

// TestFailedQuestion has a tmux that fails in ways that say nothing about a pane.
func TestFailedQuestion(t *testing.T) {
	s := newServer(t)
	p := s.start("x", "sink", filepath.Join(s.dir, "out"))
	for name, does := range map[string]string{
		"another version": "echo 'protocol version mismatch (client 7, server 8)' >&2; exit 1",
		"killed":          "kill -9 $$",
		"says nothing":    "exit 0",
		"says other":      "echo '[exited]'; exit 0",
	} {
		f := Foreign(s.wrapper(does), s.o.Socket)
		if _, _, err := f.Pane(t.Context(), p.ID); err == nil || errors.Is(err, ErrNoServer) || errors.Is(err, ErrHung) {
			t.Errorf("%s: Pane = %v, want an error that tells nothing of the pane", name, err)
		}
		if panes, err := f.Panes(t.Context()); name != "says nothing" && (err == nil || errors.Is(err, ErrNoServer)) {
			t.Errorf("%s: Panes = %v, %v", name, panes, err)
		}
		if err := f.Kill(t.Context(), p.ID); err == nil && name != "says nothing" && name != "says other" {
			t.Errorf("%s: Kill said that it was done", name)
		}
		if err := f.Enter(t.Context(), p.ID); err == nil {
			t.Errorf("%s: Enter said that it was done", name)
		}
	}
	own := New(Options{Bin: s.wrapper("[ $a = list-panes ] && exit 0"), Socket: s.o.Socket, Env: testEnv()})
	own.end() // no control client
	if panes, err := own.Panes(t.Context()); err == nil {
		t.Errorf("Panes of a server that tells of none = %v, want an error", panes)
	}
	f := Foreign(s.wrapper("echo \"can't find pane: %1\" >&2; exit 1"), s.o.Socket)
	if _, ok, err := f.Pane(t.Context(), p.ID); ok || err != nil {
		t.Errorf("a pane that is refused as absent: Pane = %v, %v, want none", ok, err)
	}
}

func TestForeign(t *testing.T) {
	bin := needTmux(t)
	dir := t.TempDir()
	away := Foreign("", filepath.Join(dir, "none"))
	for name, err := range map[string]error{
		"Panes":   second(away.Panes(t.Context())),
		"Clients": second(away.Clients(t.Context())),
		"Capture": second(away.Capture(t.Context(), "%0", 1)),
	} {
		if !errors.Is(err, ErrNoServer) {
			t.Errorf("%s without a server = %v, want ErrNoServer", name, err)
		}
	}
	if _, err := os.Stat(away.Socket()); err == nil {
		t.Error("looking at a foreign server started one")
	}

	s := newServer(t) // a person's server, started by their own tmux
	conf := filepath.Join(s.dir, "person.conf")
	if err := os.WriteFile(conf, []byte("set -g history-limit 77\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(s.dir, "out")
	cmd := exec.Command(bin, append([]string{"-S", s.o.Socket, "-f", conf, "new-session", "-d", "-s", keeper, "--"}, self(t, "sink", out, "bracketed")...)...)
	cmd.Env = testEnv()
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	f := Foreign(bin, s.o.Socket)
	panes, err := f.Panes(t.Context())
	if err != nil || len(panes) != 1 {
		t.Fatalf("Panes = %+v, %v, want one, whatever its session is called", panes, err)
	}
	p := panes[0]
	eventually(t, "the program is ready", func() bool { text, _ := f.Capture(t.Context(), p.ID, 5); return strings.Contains(text, "READY") })
	if err := f.Paste(t.Context(), p.ID, "a\nb;"); err != nil {
		t.Fatal(err)
	}
	if err := f.Enter(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the text arrives", func() bool { return readFile(t, out) == pasteBegin+"a\nb;"+pasteEnd+"\r" })
	if lines, err := f.run(t.Context(), "list-buffers"); err != nil || len(lines) != 0 {
		t.Errorf("buffers left: %q, %v", lines, err)
	}
	if lines, err := f.run(t.Context(), "display-message", "-p", "#{history-limit}"); err != nil || strings.Join(lines, "") != "77" {
		t.Errorf("history-limit = %q, %v, want what the person chose", lines, err)
	}
	if clients, err := f.Clients(t.Context()); err != nil || len(clients) != 0 {
		t.Errorf("Clients = %+v, %v, want none", clients, err)
	}
	if _, err := f.Start(t.Context(), Start{ID: "x", Dir: s.dir, Argv: []string{"cat"}}); err == nil {
		t.Error("a session was started in a foreign server")
	}
	if err := f.End(t.Context()); err == nil {
		t.Error("a foreign server was ended")
	}
	if f.Changed() != nil {
		t.Error("a foreign server has wake-ups")
	}
	if err := f.Kill(t.Context(), p.ID); err != nil {
		t.Errorf("Kill = %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, "the server ends with its last pane", func() bool { return errors.Is(second(f.Panes(context.Background())), ErrNoServer) })
}

func second[T any](_ T, err error) error { return err }
