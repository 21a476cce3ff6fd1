package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
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

// tower answers the launcher's question at the place's socket.
func (p place) tower(t *testing.T, answer http.HandlerFunc) {
	t.Helper()
	l, err := net.Listen("unix", p.socket)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: answer}
	done := make(chan struct{})
	go func() { s.Serve(l); close(done) }()
	t.Cleanup(func() { s.Close(); <-done })
}

// says answers with a login environment.
func says(env ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string][]string{"env": env})
	}
}

// gone answers as if there were no tower, at once.
func gone(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprintln(w, `{"error":"There is no such launch."}`)
}

// launched is how one run of the launcher went.
type launched struct {
	pid    int
	code   int
	stderr string
}

func run(t *testing.T, path string, prepare func(*exec.Cmd)) launched {
	t.Helper()
	cmd := exec.Command(program(t), asLauncher, path)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nowhere"}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if prepare != nil {
		prepare(cmd)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() })
	defer late.Stop()
	err := cmd.Wait()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return launched{cmd.Process.Pid, cmd.ProcessState.ExitCode(), stderr.String()}
}

// reports reads what the launcher left in the inbox.
func (p place) reports(t *testing.T) (list []core.Envelope) {
	t.Helper()
	entries, err := os.ReadDir(p.inbox)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(p.inbox, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var env core.Envelope
		if err := json.Unmarshal(text, &env); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		list = append(list, env)
	}
	return list
}

func (p place) report(t *testing.T, event string) (Report, core.Envelope) {
	t.Helper()
	list := p.reports(t)
	if len(list) != 1 || list[0].Event != event {
		t.Fatalf("the inbox has %d events, %+v, want one %s", len(list), list, event)
	}
	r, ok := ReportOf(list[0])
	if !ok {
		t.Fatalf("ReportOf(%s) is no report", list[0].Payload)
	}
	return r, list[0]
}

func (p place) seen(t *testing.T) (s seen) {
	t.Helper()
	text, err := os.ReadFile(p.out())
	if err != nil {
		t.Fatalf("the agent was not started: %v", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (p place) out() string { return filepath.Join(p.root, "seen.json") }

// agent is an order for the test program as an agent.
func (p place) agent(t *testing.T, token string, more ...string) Order {
	return p.order(token, append([]string{program(t), asAgent, p.out()}, more...)...)
}

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
	status := filepath.Join(p.root, "status")
	// Not a Go program: that would make some of it right by itself.
	path := write(t, p, p.order("t", "/bin/sh", "-c", `cat /proc/self/status >"$0"`, status), "")
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
	got := run(t, path, nil)
	signal.Reset(ignored...)
	unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	if err != nil || got.code != 0 {
		t.Fatalf("%v, %+v", err, got)
	}
	text, err := os.ReadFile(status)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who   string
		text  []byte
		fresh bool
	}{{"another child", first, false}, {"the agent", text, true}} {
		for _, field := range []string{"SigIgn", "SigBlk"} {
			_, rest, _ := strings.Cut(string(c.text), field+":\t")
			value, err := strconv.ParseUint(rest[:16], 16, 64)
			if err != nil || (value == 0) != c.fresh {
				t.Errorf("%s: %s = %s, want none: %v", c.who, field, rest[:16], c.fresh)
			}
		}
	}
}

// TestExecHangUp: a window that is closed while the launcher waits ends it, even when it was started
// with the hang-up ignored.
func TestExecHangUp(t *testing.T) {
	p := newPlace(t)
	asked, release := make(chan struct{}), make(chan struct{})
	p.tower(t, func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-release })
	defer close(release)
	path := write(t, p, p.agent(t, "t"), "")
	got := run(t, path, func(c *exec.Cmd) {
		c.Args = append([]string{"sh", "-c", `trap '' HUP; exec "$@"`, "x"}, c.Args...)
		c.Path = "/bin/sh"
		go func() { <-asked; syscall.Kill(c.Process.Pid, syscall.SIGHUP) }()
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
	asked, release := make(chan struct{}), make(chan struct{})
	p.tower(t, func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-release })
	defer close(release)
	got := run(t, write(t, p, p.agent(t, "t"), ""), func(c *exec.Cmd) {
		go func() { <-asked; syscall.Kill(c.Process.Pid, syscall.SIGINT) }()
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

// TestExecFails shows every reason why nothing is started: the sentence is printed and in the inbox.
func TestExecFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("#!/nowhere/node\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Order)
		answer http.HandlerFunc
		want   string
	}{
		"missing folder":    {func(o *Order) { o.Dir += "/gone" }, nil, "/gone does not exist."},
		"folder is a file":  {func(o *Order) { o.Dir = file }, nil, file + " is a file, not a folder."},
		"folder below one":  {func(o *Order) { o.Dir = file + "/x" }, nil, "a part of its path is a file."},
		"missing program":   {func(o *Order) { o.Argv[0] = "no-such-agent" }, nil, "no-such-agent is not installed: it is not in /usr/bin, /bin."},
		"missing path":      {func(o *Order) { o.Argv[0] = "/nowhere/agent" }, nil, "/nowhere/agent cannot be started: it does not exist."},
		"program is folder": {func(o *Order) { o.Argv[0] = "/usr" }, nil, "/usr cannot be started: it is a folder."},
		"not executable":    {func(o *Order) { o.Argv[0] = "/etc/passwd" }, nil, "/etc/passwd cannot be started: it is not executable."},
		"relative program":  {func(o *Order) { o.Argv[0] = "./agent" }, nil, "./agent is neither a full path nor a plain name."},
		"no interpreter":    {func(o *Order) { o.Argv[0] = file }, nil, file + " needs a program that is not there, the one its first line names."},
		"over": {func(o *Order) {}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusGone)
			fmt.Fprintln(w, `{"error":"This launch was cancelled at 14:02."}`)
		}, "This launch was cancelled at 14:02."},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			if c.answer == nil {
				c.answer = says("PATH=/usr/bin:/bin")
			}
			p.tower(t, c.answer)
			o := p.agent(t, "t")
			c.change(&o)
			got := run(t, write(t, p, o, ""), nil)
			list := p.reports(t)
			last := list[len(list)-1]
			r, ok := ReportOf(last)
			if got.code != 1 || !ok || last.Event != EventFailed || !strings.HasSuffix(r.Error, c.want) {
				t.Errorf("%+v, %s %+v, want %q", got, last.Event, r, c.want)
			}
			if want := "tower: not started: " + r.Error + "\n"; got.stderr != want {
				t.Errorf("it printed %q, want %q", got.stderr, want)
			}
			if *last.LaunchToken != "t" || r.Proc.PID != got.pid {
				t.Errorf("the report is of %q, pid %d, want t, %d", *last.LaunchToken, r.Proc.PID, got.pid)
			}
		})
	}
}

// TestExecWithoutOrder: a file that cannot be read is told under the name it has.
func TestExecWithoutOrder(t *testing.T) {
	p := newPlace(t)
	if err := os.MkdirAll(p.inbox, 0o700); err != nil {
		t.Fatal(err)
	}
	got := run(t, filepath.Join(p.launches, "tok.json"), nil)
	r, _ := p.report(t, EventFailed)
	if got.code != 1 || r.Token != "tok" || !strings.Contains(r.Error, "no such file") {
		t.Errorf("%+v, %+v", got, r)
	}
	// Where there is no home none is made.
	elsewhere := t.TempDir()
	got = run(t, filepath.Join(elsewhere, "launches", "tok.json"), nil)
	if entries, _ := os.ReadDir(elsewhere); got.code != 1 || len(entries) > 0 {
		t.Errorf("%+v, it made %v", got, entries)
	}
}

// TestExecOldBoot: a window that comes back after the machine was started anew starts nothing.
func TestExecOldBoot(t *testing.T) {
	p := newPlace(t)
	path := write(t, p, p.agent(t, "t"), "")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Replace(string(text), proc.Boot(), "00000000-0000-4000-8000-000000000000", 1)
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, path, nil)
	r, _ := p.report(t, EventFailed)
	if got.code != 1 || !strings.Contains(r.Error, "before the machine was started anew") {
		t.Errorf("%+v, %+v", got, r)
	}
}

// TestExecTowerDown goes on without a tower, with a note, and starts the agent all the same.
func TestExecTowerDown(t *testing.T) {
	for name, c := range map[string]struct {
		tower func(*testing.T, place)
		note  string
	}{
		"it does not know the launch": {func(t *testing.T, p place) { p.tower(t, gone) }, "There is no such launch"},
		"it answers nonsense": {func(t *testing.T, p place) {
			p.tower(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") })
		}, "its answer cannot be read"},
		"it has nothing to say": {func(t *testing.T, p place) { p.tower(t, says()) }, "its answer is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			c.tower(t, p)
			got := run(t, write(t, p, p.agent(t, "t"), ""), func(cmd *exec.Cmd) {
				cmd.Env = append(cmd.Env, "MINE=1", "CLAUDECODE=1")
			})
			if got.code != 7 {
				t.Fatalf("%+v", got)
			}
			s := p.seen(t)
			slices.Sort(s.Env)
			want := []string{"HOME=/nowhere", "MINE=1", "PATH=/usr/bin:/bin", "PWD=" + p.work, "TOWER_LAUNCH=t"}
			if d := cmp.Diff(want, s.Env); d != "" {
				t.Errorf("the environment (-want +got):\n%s", d)
			}
			r, _ := p.report(t, EventExec)
			if !strings.Contains(r.Note, c.note) || !strings.Contains(r.Note, "the terminal's own is used") {
				t.Errorf("the note is %q, want %q in it", r.Note, c.note)
			}
		})
	}
}

// TestAsk: how long the tower is waited for, with a shorter patience.
func TestAsk(t *testing.T) {
	asker := func(p place) *launcher {
		return &launcher{order: p.order("t", "a"), patience: time.Second, each: 200 * time.Millisecond}
	}
	t.Run("no socket", func(t *testing.T) {
		began := time.Now()
		_, err := asker(newPlace(t)).ask(t.Context())
		if took := time.Since(began); took < time.Second || took > 3*time.Second {
			t.Errorf("it took %v, want its patience", took)
		}
		if got := cause(err).Error(); got != "the tower did not answer: no such file or directory" {
			t.Errorf("ask = %q", got)
		}
	})
	t.Run("one that hangs", func(t *testing.T) {
		p := newPlace(t)
		release := make(chan struct{})
		p.tower(t, func(http.ResponseWriter, *http.Request) { <-release })
		defer close(release)
		_, err := asker(p).ask(t.Context())
		if got := cause(err).Error(); got != "the tower did not answer in time" {
			t.Errorf("ask = %q", got)
		}
	})
	t.Run("one that restarts", func(t *testing.T) {
		p := newPlace(t)
		l := asker(p)
		l.patience, l.each = 10*time.Second, 3*time.Second
		got := make(chan []string, 1)
		go func() {
			env, err := l.ask(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- env
		}()
		select {
		case env := <-got:
			t.Fatalf("ask = %q without a tower", env)
		case <-time.After(50 * time.Millisecond):
		}
		first := true
		p.tower(t, func(w http.ResponseWriter, r *http.Request) {
			if first {
				first = false
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			says("A=1")(w, r)
		})
		if env := <-got; !slices.Equal(env, []string{"A=1"}) {
			t.Errorf("ask = %q", env)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		l := asker(newPlace(t))
		l.patience = time.Minute
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		began := time.Now()
		if _, err := l.ask(ctx); err == nil || time.Since(began) > 5*time.Second {
			t.Errorf("ask = %v after %v", err, time.Since(began))
		}
	})
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
