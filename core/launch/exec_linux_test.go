package launch

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"tower/core"
	"tower/core/proc"
)

const hostile = "-p \"double\" 'single' `id` $(id) ${HOME} %1 #{pane_id} ; && | \\ \n\n\ttab ‘’ 👩‍👩‍👧‍👦 \x1b[201~ ä\u0308 日本 --\n"

func TestExec(t *testing.T) {
	p := newPlace(t)
	const secret = "FAKE-SECRET-5e1f"
	asked := make(chan string, 9)
	p.tower(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host + r.URL.Path
		says("PATH=/usr/bin:/bin", "FAKE_SECRET="+secret, "LANG=de_DE.UTF-8", "WINDOWID=1", "CLAUDECODE=1", "GPG_TTY=not a tty")(w, r)
	})
	prompt := hostile + strings.Repeat("0123456789ä", 10<<10) // 120 KB
	if len(prompt) < 110<<10 || len(prompt) > MaxArg {
		t.Fatalf("the prompt has %d bytes", len(prompt))
	}
	mask := 0o027
	o := p.agent(t, "tok-1", "--", "PROMPT", "", "-x", hostile)
	o.PromptAt, o.Umask, o.NullIn = 4, &mask, true
	o.Set, o.Unset = map[string]string{"MARK": "a b"}, []string{"LANG"}
	path := write(t, p, o, prompt)

	began := time.Now()
	got := run(t, path, func(c *exec.Cmd) {
		c.Env = append(c.Env, "WINDOWID=42", "DISPLAY=:7", "TERM=xterm", "NODE_OPTIONS=--inspect", "STRAY=1", "TMUX=/tmp/x,1,0")
		c.Stdin = strings.NewReader("typed ahead")
		f, err := os.Open("/etc/passwd")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		c.ExtraFiles = []*os.File{f}
	})
	t.Logf("%v from start to the agent's end", time.Since(began))
	if got.code != 7 {
		t.Fatalf("the agent exited with %d, want its own 7; %s", got.code, got.stderr)
	}
	s := p.seen(t)
	r, e := p.report(t, EventExec)

	if q := <-asked; q != "POST tower/api/launches/tok-1/environment" {
		t.Errorf("it asked %q", q)
	}
	want := core.Process{Boot: proc.Boot(), PID: s.PID, Start: s.Start}
	if r.Proc != want || s.PID != got.pid {
		t.Errorf("reported %+v, the agent is %+v, the launcher was pid %d", r.Proc, want, got.pid)
	}
	if e.Agent != "fake" || *e.LaunchToken != "tok-1" || *e.BootID != want.Boot || *e.AgentPID != want.PID || *e.AgentProcStart != want.Start || *e.CWD != p.work {
		t.Errorf("the envelope is %+v", e)
	}
	if len(e.Ancestors) == 0 || e.Ancestors[0].PID != os.Getpid() {
		t.Errorf("the ancestors are %+v, want this test first", e.Ancestors)
	}
	if d := cmp.Diff(map[string]string{"WINDOWID": "42", "DISPLAY": ":7", "TMUX": "/tmp/x,1,0"}, r.Env); d != "" || r.Window != "42" || r.Note != "" {
		t.Errorf("the report's hints (-want +got):\n%s%+v", d, r)
	}
	argv := slices.Clone(o.Argv)
	argv[4] = prompt
	if !slices.Equal(s.Argv, argv) {
		t.Errorf("the arguments are %.300q", s.Argv)
	}
	env := []string{"PATH=/usr/bin:/bin", "FAKE_SECRET=" + secret, "DISPLAY=:7", "WINDOWID=42", "TERM=xterm", "MARK=a b", "PWD=" + p.work, "TOWER_LAUNCH=tok-1"}
	slices.Sort(env)
	slices.Sort(s.Env)
	if d := cmp.Diff(env, s.Env); d != "" {
		t.Errorf("the environment (-want +got):\n%s", d)
	}
	if s.Dir != p.work || s.Input != "EOF" || len(s.Open) > 0 || s.Umask != mask {
		t.Errorf("folder %q, input %q, open %q, umask %#o", s.Dir, s.Input, s.Open, s.Umask)
	}
	// The agent's own record of what it saw is the only file with the secret.
	os.Remove(p.out())
	filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
		if text, _ := os.ReadFile(path); bytes.Contains(text, []byte(secret)) {
			t.Errorf("the secret stands in %s", path)
		}
		if info, err := d.Info(); err == nil && d.Type().IsRegular() && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if strings.Contains(got.stderr, secret) || got.stderr != "" {
		t.Errorf("it printed %q", got.stderr)
	}

	// Once is enough.
	got = run(t, path, nil)
	if got.code != 1 || !strings.Contains(got.stderr, "This launch has been started before.") {
		t.Errorf("a second run: %+v", got)
	}
}

// TestExecLongest: the longest argument there is goes through; one more does not, and says so.
func TestExecLongest(t *testing.T) {
	p := newPlace(t)
	p.tower(t, says("PATH=/bin"))
	for token, c := range map[string]struct{ size, code int }{"most": {MaxArg, 7}, "more": {MaxArg + 1, 1}} {
		o := p.agent(t, token, "PROMPT")
		o.PromptAt = 3
		got := run(t, write(t, p, o, strings.Repeat("x", c.size)), nil)
		if got.code != c.code {
			t.Errorf("%s: %+v, want %d", token, got, c.code)
		}
		if c.code == 1 && !strings.Contains(got.stderr, "more than the system takes") {
			t.Errorf("%s: it printed %q", token, got.stderr)
		}
	}
}

// TestExecSignals: nothing is ignored or blocked in the agent, whatever the terminal was started with.
func TestExecSignals(t *testing.T) {
	p := newPlace(t)
	p.tower(t, gone)
	// Not a Go program, and not a shell: those make some of it right by themselves.
	path := write(t, p, p.order("t", "/bin/cat", "/proc/self/status"), "")
	// The mask of a thread is what its children get.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var blocked, before unix.Sigset_t
	for _, sig := range []syscall.Signal{syscall.SIGUSR2, syscall.SIGHUP, syscall.SIGCHLD} {
		blocked.Val[0] |= 1 << (sig - 1)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, &before); err != nil {
		t.Fatal(err)
	}
	ignored := []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGTERM, syscall.SIGTTOU,
		syscall.SIGTTIN, syscall.SIGTSTP, syscall.SIGXFSZ, syscall.SIGUSR1}
	signal.Ignore(ignored...)
	first, err := exec.Command("/bin/cat", "/proc/self/status").Output()
	var text bytes.Buffer
	got := run(t, path, func(c *exec.Cmd) { c.Stdout = &text })
	signal.Reset(ignored...)
	unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	if err != nil || got.code != 0 {
		t.Fatalf("%v, %+v", err, got)
	}
	for _, c := range []struct {
		who   string
		text  []byte
		fresh bool
	}{{"another child", first, false}, {"the agent", text.Bytes(), true}} {
		for _, field := range []string{"SigIgn", "SigBlk"} {
			_, rest, _ := strings.Cut(string(c.text), field+":\t")
			value, err := strconv.ParseUint(rest[:16], 16, 64)
			if err != nil || (value == 0) != c.fresh {
				t.Errorf("%s: %s = %s, want none: %v", c.who, field, rest[:16], c.fresh)
			}
		}
	}
}

// asking returns once the launcher asks a tower that does not answer.
func (p place) asking(t *testing.T) (wait func()) {
	asked, release := make(chan struct{}, 9), make(chan struct{})
	p.tower(t, func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-release })
	t.Cleanup(func() { close(release) })
	return func() {
		select {
		case <-asked:
		case <-time.After(10 * time.Second):
			t.Error("the launcher never asked")
		}
	}
}

// TestExecHangUp: a window that is closed while the launcher waits ends it, even when it was started
// with the hang-up ignored.
func TestExecHangUp(t *testing.T) {
	p := newPlace(t)
	wait := p.asking(t)
	signal.Ignore(syscall.SIGHUP)
	got := runWhile(t, write(t, p, p.agent(t, "t"), ""), nil, func(pid int) {
		signal.Reset(syscall.SIGHUP)
		wait()
		syscall.Kill(pid, syscall.SIGHUP)
	})
	if got.code != -1 {
		t.Errorf("%+v, want an end by signal", got)
	}
	if _, err := os.Stat(p.out()); err == nil {
		t.Error("the agent was started")
	}
}

// TestExecInterrupted: Ctrl-C in the window before there is an agent.
func TestExecInterrupted(t *testing.T) {
	p := newPlace(t)
	wait := p.asking(t)
	got := runWhile(t, write(t, p, p.agent(t, "t"), ""), nil, func(pid int) {
		wait()
		syscall.Kill(pid, syscall.SIGINT)
	})
	r, _ := p.report(t, EventFailed)
	if got.code != 1 || r.Error != "It was interrupted before the agent was started." {
		t.Errorf("%+v, %+v", got, r)
	}
}

// TestExecTerminal: the report names the terminal, as the process table has it.
func TestExecTerminal(t *testing.T) {
	master, name := pty(t)
	p := newPlace(t)
	p.tower(t, says("PATH=/bin", "GPG_TTY=not a tty"))
	slave, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if _, err := master.WriteString("typed ahead\n"); err != nil {
		t.Fatal(err)
	}
	got := run(t, write(t, p, p.agent(t, "t"), ""), func(c *exec.Cmd) {
		c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	})
	if got.code != 7 {
		t.Fatalf("%+v", got)
	}
	r, _ := p.report(t, EventExec)
	var st unix.Stat_t
	if err := unix.Stat(name, &st); err != nil {
		t.Fatal(err)
	}
	if r.TTY != name || r.TTYDevice != encode(uint64(st.Rdev)) || r.TTYDevice == 0 {
		t.Errorf("reported %q, %d, want %q, %d", r.TTY, r.TTYDevice, name, encode(uint64(st.Rdev)))
	}
	s := p.seen(t)
	if s.Input != "typed ahead\n" {
		t.Errorf("the agent read %q, want what was typed", s.Input)
	}
	if v, _ := lookup(s.Env, "GPG_TTY"); v != name {
		t.Errorf("GPG_TTY = %q, want %q", v, name)
	}
}

func pty(t *testing.T) (*os.File, string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	return master, "/dev/pts/" + strconv.Itoa(n)
}

// TestExecNoInbox: a report that cannot be written does not keep the agent from starting.
func TestExecNoInbox(t *testing.T) {
	p := newPlace(t)
	p.tower(t, says("PATH=/bin"))
	if err := os.WriteFile(p.inbox, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t, write(t, p, p.agent(t, "t"), ""), nil); got.code != 7 {
		t.Errorf("%+v, want the agent's 7", got)
	}
}
