package launch

import (
	"path/filepath"
	"slices"
	"strings"

	"tower/core"
	"tower/core/home"
)

// marks are what a running session gives to its children, so that they know whose they are. No
// profile sets them, and an agent that finds one takes itself for such a child: Claude Code then
// writes neither transcript nor registry. They are removed wherever they come from.
var marks = []string{
	"CLAUDECODE", "AI_AGENT", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH",
	"CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SESSION_KIND", "CLAUDE_CODE_SSE_PORT", "CLAUDE_PROJECT_DIR",
	"CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_*", "ELECTRON_RUN_AS_NODE", "NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE",
	core.EnvLaunch,
}

// strays may be the person's own will when a login shell says them, and are an accident when they
// come from whoever started the tower: another agent, a virtual environment, a debugger, a unit of
// systemd. NO_COLOR is among them because agents' shells and build machines set it.
var strays = []string{
	"CLAUDE*", "NODE_OPTIONS", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "NO_COLOR",
	"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "INVOCATION_ID",
	"JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MANAGERPID", "DESKTOP_STARTUP_ID", "XDG_ACTIVATION_TOKEN",
}

// momentary are true only of the shell or program that had them.
var momentary = []string{"_", "SHLVL", "OLDPWD", "COLUMNS", "LINES"}

// Environ returns the environment of the agent made from one that was inherited: base without what a
// session or the tower's own starter left in it, without o.Unset, with o.Set, the folder and the
// launch's token, where the order has those. TMUX and TMUX_PANE stay when they are of the tower's own
// server, and TOWER_HOME when it is the order's. The last of several values wins, nothing is twice,
// the order of base is kept.
func Environ(base []string, o Order) []string {
	return o.finish(o.inherited(base), o.Unset)
}

// Compose returns the environment of the agent when the person's login environment is known, as [Login]
// says it: that, without what only a session hands on and without o.Unset, with what own says of
// terminal and display, and the order's. A name in o.Unset that Scrub had removed before the login
// shell ran can only be the person's own will by now, and stays: who sets CLAUDE_CODE_USE_BEDROCK in a
// profile has it in a launched session as well.
func Compose(login, own []string, o Order) []string {
	var unset []string
	for _, name := range o.Unset {
		if !slices.Contains(strays, name) {
			unset = append(unset, name)
		}
	}
	own = without(o.inherited(own), o.Unset)
	return o.finish(o.ours(without(Merge(login, own), marks)), unset)
}

// Scrub removes what a login shell must not begin with when its answer is to be the person's own.
func Scrub(env []string) []string { return (&Order{}).inherited(env) }

// Opener returns the environment to open a terminal with: env without what another terminal said of
// itself. Some terminals hand a variable on that they do not set, and the window would be taken for
// that other one.
func Opener(env []string) []string { return without(last(env), terminal) }

func (o *Order) inherited(env []string) []string {
	env = last(env)
	bin := ""
	if venv, ok := lookup(env, "VIRTUAL_ENV"); ok && venv != "" {
		bin = filepath.Join(venv, "bin")
	}
	env = o.ours(without(without(without(env, marks), strays), momentary))
	for i, pair := range env {
		if path, ok := strings.CutPrefix(pair, "PATH="); ok && bin != "" {
			list := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return filepath.Clean(dir) == bin })
			env[i] = "PATH=" + strings.Join(list, string(filepath.ListSeparator))
		}
	}
	return env
}

// ours keeps of the tower's own variables and of tmux what belongs to the tower that wrote the order.
func (o *Order) ours(env []string) []string {
	var drop []string
	if at, ok := lookup(env, home.EnvHome); !ok || o.Inbox == "" || filepath.Clean(at) != filepath.Dir(o.Inbox) {
		drop = append(drop, "TOWER_*")
	}
	server, _ := lookup(env, "TMUX")
	if socket, _, _ := strings.Cut(server, ","); o.Socket == "" || socket != (home.Home{Runtime: filepath.Dir(o.Socket)}).TmuxSocket() {
		drop = append(drop, "TMUX", "TMUX_PANE")
	}
	return without(env, drop)
}

// finish lays what the order says over an environment.
func (o *Order) finish(env, unset []string) []string {
	env = without(env, unset)
	names := make([]string, 0, len(o.Set))
	for name := range o.Set {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		env = append(env, name+"="+o.Set[name])
	}
	if o.Dir != "" {
		env = append(env, "PWD="+o.Dir)
	}
	if o.Token != "" {
		env = append(env, core.EnvLaunch+"="+o.Token)
	}
	return last(env)
}

// last keeps the last of several values of one name, and drops what is no variable.
func last(env []string) []string {
	out := make([]string, 0, len(env))
	at := make(map[string]int, len(env))
	for _, pair := range env {
		name, _, ok := strings.Cut(pair, "=")
		if !ok || name == "" || strings.ContainsRune(pair, 0) {
			continue
		}
		if i, twice := at[name]; twice {
			out[i] = pair
			continue
		}
		at[name] = len(out)
		out = append(out, pair)
	}
	return out
}

// without returns env without the named variables; a trailing '*' names a family. env itself stays
// as it is.
func without(env, names []string) []string {
	out := make([]string, 0, len(env))
	for _, pair := range env {
		if name, _, _ := strings.Cut(pair, "="); !among(names, name) {
			out = append(out, pair)
		}
	}
	return out
}

func among(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		if family, ok := strings.CutSuffix(n, "*"); ok {
			return strings.HasPrefix(name, family)
		}
		return n == name
	})
}

func lookup(env []string, name string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}
