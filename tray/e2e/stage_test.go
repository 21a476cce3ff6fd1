//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tower/core"
)

// The versions the gates are written for.
const (
	claudePackage = "@anthropic-ai/claude-code@2.1.197"
	codexPackage  = "@openai/codex@0.171.0"
)

// stage is everything a run stands on.
type stage struct {
	tag   string
	cache string // kept between runs: npm packages
	dir   string // this run's scratch folder; not below the temp folder, where Codex behaves differently
	short string // for sockets, whose paths have to be short
	home  string // HOME of both agents
	bin   string // tower and tower-hook

	claude, codex       string // commands
	claudeExe, codexExe string // what /proc/PID/exe names begin with
	node                string // folder of node

	missing map[string]error // part -> why it cannot be had

	anthropic *anthropic
	openai    *openai
	tower     *tower
	terminals []*terminal
	desk      *desktop // nil until a gate needs windows
	used      int      // fresh folders
}

func newStage() (*stage, error) {
	cache := os.Getenv("E2E_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("find the cache folder: %w", err)
		}
		cache = filepath.Join(user, "tower-e2e")
	}
	tag := fmt.Sprintf("%d-%d", os.Getpid(), time.Now().UnixNano())
	s := &stage{tag: tag, cache: cache, dir: filepath.Join(cache, "runs", tag), missing: map[string]error{}}
	// Blanks and umlauts are what the paths of people hold, and nothing may mind them.
	s.home, s.bin = filepath.Join(s.dir, "Heim für Jörg"), filepath.Join(s.dir, "bin")
	for _, dir := range []string{s.home, s.bin} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	var err error
	if s.cache, err = filepath.EvalSymlinks(s.cache); err != nil {
		return nil, err
	}
	if s.short, err = os.MkdirTemp("/tmp", "tw"); err != nil {
		return nil, err
	}
	// A server that ends with its last pane ends in the moment the next one is opened.
	if err := os.WriteFile(filepath.Join(s.dir, "tmux.conf"), []byte("set -g exit-empty off\n"), 0o600); err != nil {
		return nil, err
	}
	s.node = "/usr/bin"
	if node, err := exec.LookPath("node"); err == nil {
		s.node = filepath.Dir(node)
	}
	s.claude, s.claudeExe, s.missing["claude"] = s.install("claude", claudePackage)
	s.codex, s.codexExe, s.missing["codex"] = s.install("codex", codexPackage)
	for part, program := range map[string]string{"bus": "dbus-daemon", "corpus": "python3"} {
		_, s.missing[part] = exec.LookPath(program)
	}
	var none []error
	for _, program := range desktopPrograms {
		_, err := exec.LookPath(program)
		none = append(none, err)
	}
	s.missing["desktop"] = errors.Join(none...)
	if _, err := exec.LookPath("tmux"); err != nil {
		s.missing["claude"], s.missing["codex"] = errors.Join(s.missing["claude"], err), errors.Join(s.missing["codex"], err)
	}
	s.anthropic, s.openai = newAnthropic(), newOpenAI()
	for name, pkg := range map[string]string{"tower": "./tray", "tower-hook": "./hooks"} {
		if err := build(filepath.Join(s.bin, name), pkg); err != nil {
			s.close()
			return nil, err
		}
	}
	if err := errors.Join(s.furnishClaude(), s.furnishCodex(), s.furnishShell()); err != nil {
		s.close()
		return nil, err
	}
	fmt.Printf("stage: %s\n", s.dir)
	return s, nil
}

func build(out, pkg string) error {
	began := time.Now()
	cmd := exec.Command("go", "build", "-o", out, pkg)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = os.Environ()
	if pkg == "./hooks" {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	}
	if b, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, b)
	}
	fmt.Printf("built %s in %.1f s\n", pkg, time.Since(began).Seconds())
	return nil
}

// install returns an agent's command from the cache, fetched by npm when it is not there in the
// version asked for, and the folder its real programs lie in.
func (s *stage) install(name, pkg string) (command, programs string, err error) {
	prefix := filepath.Join(s.cache, name)
	if err := os.MkdirAll(prefix, 0o755); err != nil {
		return "", "", err
	}
	lock, err := os.Create(filepath.Join(prefix, ".lock"))
	if err != nil {
		return "", "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", "", fmt.Errorf("lock %s: %w", prefix, err)
	}
	at := strings.LastIndex(pkg, "@")
	command = filepath.Join(prefix, "node_modules", ".bin", name)
	installed := func() bool {
		var p struct{ Version string }
		b, err := os.ReadFile(filepath.Join(prefix, "node_modules", pkg[:at], "package.json"))
		_, there := os.Stat(command)
		return err == nil && json.Unmarshal(b, &p) == nil && p.Version == pkg[at+1:] && there == nil
	}
	if !installed() {
		began := time.Now()
		cmd := exec.Command("npm", "install", "--prefix", prefix, "--no-fund", "--no-audit", "--loglevel=error",
			"--fetch-retries=1", "--fetch-retry-mintimeout=1000", pkg)
		cmd.Env = os.Environ()
		// Node knows only the certificates it was built with; behind a gateway the system's are needed.
		if bundle := "/etc/ssl/certs/ca-certificates.crt"; os.Getenv("NODE_EXTRA_CA_CERTS") == "" {
			if _, err := os.Stat(bundle); err == nil {
				cmd.Env = append(cmd.Env, "NODE_EXTRA_CA_CERTS="+bundle)
			}
		}
		if b, err := cmd.CombinedOutput(); err != nil {
			return "", "", fmt.Errorf("npm install %s: %w\n%s", pkg, err, b)
		}
		fmt.Printf("installed %s in %.1f s\n", pkg, time.Since(began).Seconds())
	}
	if !installed() {
		return "", "", fmt.Errorf("npm installed %s, and still it is not in %s", pkg, prefix)
	}
	programs, err = filepath.EvalSymlinks(prefix)
	return command, programs, err
}

// env is the whole environment of everything started here; more comes behind and wins.
func (s *stage) env(more ...string) []string {
	return append([]string{
		"PATH=" + strings.Join([]string{filepath.Dir(s.claude), filepath.Dir(s.codex), s.node, "/usr/local/bin", "/usr/bin", "/bin"}, ":"),
		"HOME=" + s.home, "USER=dev", "SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=xterm-256color",
		"XDG_RUNTIME_DIR=" + s.short,
		tagName + "=" + s.tag,
		"ANTHROPIC_BASE_URL=" + s.anthropic.URL, "ANTHROPIC_API_KEY=" + fakeKey,
		"MOCK_API_KEY=sk-fake",
		// Without these Claude Code looks for the network for seconds before it begins.
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}, more...)
}

// folder makes a project folder in which both agents may work without asking for trust.
func (s *stage) folder(name string) string { return filepath.Join(s.dir, "Arbeit & mehr", name) }

// close ends what still runs and removes the run's folders. E2E_KEEP=1 leaves the folders.
func (s *stage) close() {
	s.anthropic.hold.open()
	s.openai.hold.open()
	s.tmux("kill-server")
	if s.desk != nil {
		s.desk.close()
	}
	endTagged(s.tag)
	s.anthropic.CloseClientConnections()
	s.openai.CloseClientConnections()
	s.anthropic.Close()
	s.openai.Close()
	if left := tagged(s.tag); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "still running:", left)
	}
	os.RemoveAll(s.short)
	if os.Getenv("E2E_KEEP") == "" {
		os.RemoveAll(s.dir)
	}
}

// describe tells what can be seen of the stage's state when a wait was in vain.
func describe() string {
	var b strings.Builder
	for _, p := range st.terminals {
		if out, err := p.tmux("capture-pane", "-p", "-t", p.id); err == nil {
			fmt.Fprintf(&b, "--- pane %s\n%s\n", p.id, tail(out, 25))
		}
	}
	if st.desk != nil {
		for _, w := range st.desk.windows() {
			fmt.Fprintf(&b, "--- window %d of process %d: %q\n", w, st.desk.owner(w), st.desk.title(w))
		}
		fmt.Fprintf(&b, "--- in front: %d\n", st.desk.active())
	}
	for _, agent := range []core.Agent{claudeAgent, codexAgent} {
		heard := st.requestsOf(agent).prompts()
		for _, h := range heard[max(0, len(heard)-3):] {
			fmt.Fprintf(&b, "--- heard by %s's service: %.300q\n", agent, h.texts)
		}
	}
	if st.tower != nil {
		fmt.Fprintf(&b, "--- launches: %+v\n", st.tower.launches())
		for _, name := range []string{"tower.log", "hook.log", "serve.out"} {
			if log, err := os.ReadFile(filepath.Join(st.tower.home, name)); err == nil {
				fmt.Fprintf(&b, "--- %s\n%s\n", name, tail(string(log), 15))
			}
		}
		out, _, _ := st.tower.run("sessions", "--json", "--all")
		rows, _ := decodeRows(out)
		for _, r := range rows {
			fmt.Fprintf(&b, "--- session %s %s in %q: %s %q, live %+v\n", r.Agent, r.Native, r.CWD, r.Status, r.EndReason, r.Live)
		}
	}
	return b.String()
}

// tail returns the last n lines that hold anything.
func tail(text string, n int) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRight(line, " \n"))
		}
	}
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
