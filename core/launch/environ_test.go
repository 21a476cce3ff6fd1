package launch

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// fields splits a list of variables, one a line.
func fields(s string) []string {
	var list []string
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

var tokyo = Order{Token: "tok", Dir: "/w", Inbox: "/home/me/tower/inbox", Socket: "/run/me/tower-1/tower.sock"}

func TestEnviron(t *testing.T) {
	for _, c := range []struct {
		name  string
		order func(*Order)
		base  string
		want  string
	}{
		{"a plain one stays", nil, "PATH=/bin\nLANG=C\nEMPTY=\nA=b=c", "PATH=/bin\nLANG=C\nEMPTY=\nA=b=c"},
		{"what a session hands on", nil, `CLAUDECODE=1
			CLAUDE_CODE_CHILD_SESSION=1
			CLAUDE_CODE_NEW_THING=1
			CLAUDE_EFFORT=high
			AI_AGENT=x
			ANTHROPIC_API_KEY=mine`, "ANTHROPIC_API_KEY=mine"},
		{"what a program hands on", nil, `ELECTRON_RUN_AS_NODE=1
			NODE_OPTIONS=--inspect
			NODE_CHANNEL_FD=3
			LD_PRELOAD=/x.so
			NO_COLOR=1
			NOTIFY_SOCKET=/s
			INVOCATION_ID=1
			NODE_EXTRA_CA_CERTS=/c`, "NODE_EXTRA_CA_CERTS=/c"},
		{"a virtual environment", nil, "VIRTUAL_ENV=/v\nVIRTUAL_ENV_PROMPT=v\nPATH=/v/bin:/bin", "PATH=/bin"},
		{"a moment", nil, "_=/usr/bin/env\nSHLVL=3\nOLDPWD=/x\nCOLUMNS=80\nLINES=24\nHOME=/h", "HOME=/h"},
		{"a terminal", nil, `TERM=xterm-256color
			COLORTERM=truecolor
			WINDOWID=42
			DISPLAY=:1
			WAYLAND_DISPLAY=wayland-0
			KITTY_WINDOW_ID=1
			ALACRITTY_WINDOW_ID=2
			GNOME_TERMINAL_SCREEN=/s
			WEZTERM_PANE=3
			VTE_VERSION=7000
			TERM_PROGRAM=x
			XDG_RUNTIME_DIR=/run/me
			DBUS_SESSION_BUS_ADDRESS=unix:path=/run/bus`, `TERM=xterm-256color
			COLORTERM=truecolor
			WINDOWID=42
			DISPLAY=:1
			WAYLAND_DISPLAY=wayland-0
			KITTY_WINDOW_ID=1
			ALACRITTY_WINDOW_ID=2
			GNOME_TERMINAL_SCREEN=/s
			WEZTERM_PANE=3
			VTE_VERSION=7000
			TERM_PROGRAM=x
			XDG_RUNTIME_DIR=/run/me
			DBUS_SESSION_BUS_ADDRESS=unix:path=/run/bus`},
		{"an outer tmux", nil, "TMUX=/tmp/tmux-0/default,12,0\nTMUX_PANE=%3\nA=b", "A=b"},
		{"the tower's own tmux", nil, "TMUX=/run/me/tower-1/tmux.sock,12,0\nTMUX_PANE=%3", "TMUX=/run/me/tower-1/tmux.sock,12,0\nTMUX_PANE=%3"},
		{"a tower elsewhere", nil, "TOWER_HOME=/other\nTOWER_PORT=1\nTOWER_LAUNCH=old\nTOWERS=2", "TOWERS=2"},
		{"no home, a setting", nil, "TOWER_PORT=1", ""},
		{"this tower", nil, "TOWER_HOME=/home/me/tower/\nTOWER_PORT=1\nTOWER_LAUNCH=old", "TOWER_HOME=/home/me/tower/\nTOWER_PORT=1"},
		{"the order's own", func(o *Order) {
			o.Unset, o.Set = []string{"CODEX_*", "ONE"}, map[string]string{"B": "2", "A": "1", "ONE": "again"}
		}, "CODEX_THREAD_ID=1\nCODEX_HOME=/c\nONE=1\nONES=2\nA=0\nZ=9", "ONES=2\nA=1\nZ=9\nB=2\nONE=again"},
		{"the last wins", nil, "A=1\nB=2\nA=3", "A=3\nB=2"},
		{"no variables", nil, "=C:=x\nnothing", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := tokyo
			if c.order != nil {
				c.order(&o)
			}
			base := fields(c.base)
			kept := slices.Clone(base)
			want := append(fields(c.want), "PWD=/w", "TOWER_LAUNCH=tok")
			slices.Sort(want)
			got := Environ(base, o)
			if !slices.Equal(base, kept) {
				t.Error("Environ changed what it was given")
			}
			slices.Sort(got)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("Environ (-want +got):\n%s", d)
			}
		})
	}
}

// TestEnvironOfNoLaunch: a command that is no launch gets neither token nor folder.
func TestEnvironOfNoLaunch(t *testing.T) {
	got := Environ([]string{"A=1", "TOWER_LAUNCH=old", "PWD=/x", "ONE=1"}, Order{Unset: []string{"ONE"}})
	if want := []string{"A=1", "PWD=/x"}; !slices.Equal(got, want) {
		t.Errorf("Environ = %q, want %q", got, want)
	}
}

// TestCompose: what a profile sets is the person's, whatever its name; what a session hands on is
// not; and the rest of the launcher's own environment is nobody's.
func TestCompose(t *testing.T) {
	o := tokyo
	o.Unset = []string{"CLAUDE*", "CLAUDECODE", "ONE", "CODEX_MANAGED_*"}
	login := fields(`PATH=/home/me/bin:/bin
		CLAUDE_CONFIG_DIR=/home/me/claude
		CLAUDE_CODE_USE_BEDROCK=1
		CLAUDE_CODE_CHILD_SESSION=1
		CLAUDECODE=1
		NO_COLOR=1
		VIRTUAL_ENV=/mine
		ONE=1
		CODEX_MANAGED_BY_NPM=1
		CODEX_HOME=/home/me/codex
		TERM=dumb
		WINDOWID=1
		TMUX=/run/me/tower-1/tmux.sock,1,0
		TOWER_PORT=9
		KEY=mine`)
	own := fields(`PATH=/v/bin:/bin:/opt/agents
		VIRTUAL_ENV=/v
		CLAUDE_CODE_CHILD_SESSION=1
		CLAUDE_FOO=1
		NODE_OPTIONS=--inspect
		TERM=xterm
		GNOME_TERMINAL_SCREEN=/s
		STRAY=1`)
	want := fields(`PATH=/home/me/bin:/bin:/opt/agents
		CLAUDE_CONFIG_DIR=/home/me/claude
		CLAUDE_CODE_USE_BEDROCK=1
		NO_COLOR=1
		VIRTUAL_ENV=/mine
		CODEX_HOME=/home/me/codex
		KEY=mine
		TERM=xterm
		GNOME_TERMINAL_SCREEN=/s
		PWD=/w
		TOWER_LAUNCH=tok`)
	if d := cmp.Diff(want, Compose(login, own, o)); d != "" {
		t.Errorf("Compose (-want +got):\n%s", d)
	}
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ name, login, own, want string }{
		{"the login is the base", "A=1\nLANG=de_DE.UTF-8", "A=2\nB=3\nLANG=C", "A=1\nLANG=de_DE.UTF-8"},
		{"the terminal's name is its own", "TERM=dumb\nWINDOWID=1\nKITTY_WINDOW_ID=1\nTMUX=x", "TERM=alacritty\nALACRITTY_LOG=/l", "TERM=alacritty\nALACRITTY_LOG=/l"},
		{"the display", "DISPLAY=:0\nSSH_AUTH_SOCK=/login", "DISPLAY=:1\nXAUTHORITY=/x", "DISPLAY=:1\nSSH_AUTH_SOCK=/login\nXAUTHORITY=/x"},
		{"folders of the PATH", "PATH=/a:/b", "PATH=/b:/c:.:/a", "PATH=/a:/b:/c"},
		{"no PATH in the login", "A=1", "PATH=/b", "A=1\nPATH=/b"},
		{"no PATH in the terminal", "PATH=/a", "A=1", "PATH=/a"},
		{"a moment", "SHLVL=1\n_=x\nA=1", "COLUMNS=80", "A=1"},
		{"nothing", "", "", ""},
	} {
		got := Merge(fields(c.login), fields(c.own))
		want := fields(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: Merge = %q, want %q", c.name, got, want)
		}
	}
}

func TestOpener(t *testing.T) {
	got := Opener(fields("WINDOWID=7\nTERM=xterm\nKITTY_LISTEN_ON=unix:x\nTMUX=a\nDISPLAY=:1\nPATH=/bin\nVTE_VERSION=1"))
	if want := fields("DISPLAY=:1\nPATH=/bin"); !slices.Equal(got, want) {
		t.Errorf("Opener = %q, want %q", got, want)
	}
}

// TestEnvironHolds: nothing is twice, what is set is there, what is unset or a session's is not, and
// a second time changes nothing.
func TestEnvironHolds(t *testing.T) {
	name := rapid.SampledFrom([]string{"A", "B", "PATH", "TMUX", "TMUX_PANE", "CLAUDECODE", "CLAUDE_X", "AI_AGENT", "TOWER_HOME", "TOWER_LAUNCH", "VIRTUAL_ENV", "TERM", "PWD"})
	rapid.Check(t, func(t *rapid.T) {
		pairs := rapid.SliceOf(rapid.Custom(func(t *rapid.T) string {
			return name.Draw(t, "name") + rapid.SampledFrom([]string{"=", "", "=a=b", "=/v:/w"}).Draw(t, "value")
		}))
		o := tokyo
		o.Unset = rapid.SliceOfN(name, 0, 3).Draw(t, "unset")
		o.Set = rapid.MapOfN(name, rapid.String(), 0, 3).Draw(t, "set")
		for n, v := range o.Set {
			o.Set[n] = strings.ReplaceAll(v, "\x00", "")
		}
		delete(o.Set, "PWD")
		delete(o.Set, "TOWER_LAUNCH")
		for i, env := range [][]string{Environ(pairs.Draw(t, "base"), o), Compose(pairs.Draw(t, "login"), pairs.Draw(t, "own"), o)} {
			has := map[string]string{}
			for _, pair := range env {
				n, v, ok := strings.Cut(pair, "=")
				if _, twice := has[n]; twice || !ok {
					t.Fatalf("%q is twice or none in %q", pair, env)
				}
				has[n] = v
			}
			for n, v := range o.Set {
				if has[n] != v {
					t.Fatalf("%s = %q, want %q", n, has[n], v)
				}
			}
			for _, n := range append([]string{"CLAUDECODE", "AI_AGENT", "TMUX"}, o.Unset...) {
				// What a profile says of a stray is the person's own will, and stays.
				wanted := i == 1 && slices.Contains(strays, n)
				if _, set := o.Set[n]; !set && !wanted && n != "PWD" && n != "TOWER_LAUNCH" && has[n] != "" {
					t.Fatalf("%s is still there: %q", n, env)
				}
			}
			if has["TOWER_LAUNCH"] != "tok" || has["PWD"] != "/w" {
				t.Fatalf("token or folder is missing: %q", env)
			}
		}
	})
}
