package term

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestKitty controls a kitty with two windows of the desktop and a second tab in one of them.
func TestKitty(t *testing.T) {
	needs(t, "kitty")
	r := newRig(t, true, "")
	file, socket := r.file(), "unix:"+r.home+"/kitty.sock"
	first := r.run(Command{Terminal: "kitty", Env: r.env, Argv: []string{"kitty", "-o", "allow_remote_control=yes", "-o", "confirm_os_window_close=0",
		"--listen-on", socket, self(t), "sink", file}}, file)
	launch := func(where string, by ...string) child {
		t.Helper()
		file := r.file()
		k, err := dialKitty(t.Context(), socket)
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		if _, err := k.ask(kittyCommand{Cmd: "launch", Version: kittyAny, Payload: map[string]any{"type": where, "args": append(by, self(t), "show", file)}}); err != nil {
			t.Fatal(err)
		}
		return r.wait(file, nil)
	}
	tab := launch("tab")
	second := launch("os-window")
	other := r.open("xterm", "show")

	r.find(other)
	w1, wt, w2 := r.jump(first), r.jump(tab), r.jump(second)
	for _, w := range []Window{w1, wt, w2} {
		if w.Kind != KindKitty || w.How != "kitty remote control" || !w.CanType() || !w.Shared || w.PID != first.PPID {
			t.Errorf("found %+v", w)
		}
	}
	if w1.XID != wt.XID || w1.XID == w2.XID || w1.ID == wt.ID {
		t.Errorf("found %+v, %+v and %+v", w1, wt, w2)
	}
	r.jump(other)
	r.jump(first)
	k, err := dialKitty(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	if kw, ok, err := k.window(w1.ID); err != nil || !ok || !kw.front {
		t.Errorf("the tab in front is not that of window %s: %+v, %v", w1.ID, kw, err)
	}
	k.Close()

	t.Run("type", func(t *testing.T) {
		long := strings.Repeat("0123456789 é 👩‍👩‍👧 \"'`$()#{}%1\\; \t\n", 5000) // 200 KB
		for _, text := range []string{"say é\n" + strings.Join(hostile, " "), long} {
			if err := r.desk.SendText(t.Context(), w1, text); err != nil {
				t.Fatal(err)
			}
			if err := r.desk.SendEnter(t.Context(), w1); err != nil {
				t.Fatal(err)
			}
			want := pasteBegin + text + pasteEnd + "\r"
			var got []byte
			if !poll(t.Context(), 5*time.Second, func() bool {
				got, _ = os.ReadFile(first.file + ".typed")
				return len(got) >= len(want)
			}) || string(got) != want {
				t.Fatalf("%d bytes arrived, %d were sent; equal: %v", len(got), len(want), string(got) == want)
			}
			if err := os.Truncate(first.file+".typed", 0); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range []string{"a\x1b[201~b", "a\x00b", "a\u009b201~b"} {
			if why := refusal(t, r.desk.SendText(t.Context(), w1, text)); why.What != notSent {
				t.Errorf("SendText(%q) = %v", text, why)
			}
		}
		x := r.find(other)
		if x.CanType() || refusal(t, r.desk.SendText(t.Context(), x, "a")).What != notSent || refusal(t, r.desk.SendEnter(t.Context(), x)).What != notSent {
			t.Error("an xterm takes text")
		}
		if _, err := r.desk.Text(t.Context(), x); refusal(t, err).What != "Not read." {
			t.Errorf("Text of an xterm: %v", err)
		}
	})

	t.Run("read", func(t *testing.T) {
		tty, err := os.OpenFile("/proc/"+strconv.Itoa(tab.PID)+"/fd/1", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		tty.WriteString("the screen of the tab é\r\n")
		tty.Close()
		var got string
		if !poll(t.Context(), 5*time.Second, func() bool {
			got, err = r.desk.Text(t.Context(), wt)
			return err == nil && strings.Contains(got, "the screen of the tab é")
		}) {
			t.Errorf("Text() = %q, %v", got, err)
		}
	})

	// A terminal started from a kitty's window hands on the address of that kitty, which does not show it.
	inner := launch("os-window", "xterm", "-e")
	if got := inner.env("KITTY_LISTEN_ON"); got != socket {
		t.Fatalf("KITTY_LISTEN_ON = %q in a terminal started from kitty", got)
	}
	if w := r.jump(inner); w.Kind != KindX11 || w.Terminal != "xterm" {
		t.Errorf("found %+v", w)
	}

	syscall.Kill(tab.PID, syscall.SIGTERM)
	r.until(5*time.Second, "the end of the tab", func() bool { there, err := r.desk.Exists(t.Context(), wt); return err == nil && !there })
	if there, err := r.desk.Exists(t.Context(), w1); err != nil || !there {
		t.Errorf("Exists() of the other tab = %v, %v", there, err)
	}
	for _, f := range []func() error{
		func() error { return r.desk.Focus(t.Context(), wt) },
		func() error { return r.desk.SendText(t.Context(), wt, "a") },
		func() error { _, err := r.desk.Text(t.Context(), wt); return err },
	} {
		if why := refusal(t, f()); !strings.Contains(why.Why, "closed") {
			t.Errorf("of a closed tab: %v", why)
		}
	}

	// Stopped, it answers nobody: its window is then found as any terminal's.
	syscall.Kill(w1.PID, syscall.SIGSTOP)
	begin := time.Now()
	tb := table(t)
	w, err := r.desk.Find(t.Context(), tb, process(t, tb, second.PID))
	syscall.Kill(w1.PID, syscall.SIGCONT)
	if took := time.Since(begin); err != nil || w.Kind != KindX11 || w.XID != w2.XID || took > 3*time.Second {
		t.Errorf("Find in a kitty that hangs = %+v, %v after %v", w, err, took)
	}

	for _, c := range []child{first, second, inner} {
		syscall.Kill(c.PID, syscall.SIGTERM)
	}
	r.until(5*time.Second, "the end of kitty", func() bool { there, err := r.desk.Exists(t.Context(), w1); return err == nil && !there })
	if why := refusal(t, r.desk.Focus(t.Context(), w1)); why.What != noWindow {
		t.Errorf("Focus after kitty's end = %v", why)
	}
}

// TestKittyByBuild opens kitty as the tower does, without remote control.
func TestKittyByBuild(t *testing.T) {
	needs(t, "kitty")
	r := newRig(t, true, "")
	k := r.open("kitty", "show", hostile...)
	if diff := cmp.Diff(hostile, k.Args); diff != "" || k.Dir != r.home {
		t.Errorf("folder %s, arguments differ (-want +got):\n%s", k.Dir, diff)
	}
	x := r.open("xterm", "show")
	r.jump(x)
	if w := r.jump(k); w.Kind != KindX11 || w.Terminal != "kitty" || w.CanType() {
		t.Errorf("found %+v", w)
	}
}
