package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What a call may cost, measured against a Go program that does nothing.
const (
	maxRatio = 2.0
	maxTail  = 10 * time.Millisecond
	rounds   = 300
)

const payloadOfPrompt = `{"session_id":"4352ed40-b473-4cac-a34b-842d1d560f93","transcript_path":"/home/dev/.claude/projects/-home-dev-proj/4352ed40-b473-4cac-a34b-842d1d560f93.jsonl","cwd":"/home/dev/proj","prompt_id":"f7a192e2-4635-457a-ba4d-02258791f336","permission_mode":"default","hook_event_name":"UserPromptSubmit","prompt":"Please look at the failing test in src/f1.go and tell me what it wants."}`

// agentsPrepared is a list as the tower lays it out, of ordinary length.
const agentsPrepared = `[{"agent":"claude","display":"Claude Code","code":"CC","exe":["*/claude","*/claude-code/*/cli"],"argv":["*/@anthropic-ai/claude-code/cli.js"],"helpers":["*--bg-pty-host*","*daemon*"],"root":"/home/dev/.claude"},{"agent":"codex","display":"Codex","code":"CX","exe":["*/codex","*/codex-*/codex"],"argv":["*/codex.js"],"helpers":["* app-server *"],"shared":true,"root":"/home/dev/.codex"}]`

// BenchmarkHook runs the hook and an empty program in turns, its input never closed, and reports the
// ratio of the medians and the distance of the slowest hundredth. It fails when a budget is broken.
// One round is one of each; the machine's other work hits both alike.
func BenchmarkHook(b *testing.B) {
	bin, err := hookBuilt()
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	empty := filepath.Join(dir, "empty")
	source := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := build(empty, source); err != nil {
		b.Fatal(err)
	}
	h := benchHome(b, dir, bin)
	for b.Loop() {
		var hooks, empties []time.Duration
		for i := range rounds + 20 {
			one := timed(b, exec.Command(empty))
			two := timed(b, exec.Command(h, "claude", "UserPromptSubmit"))
			if i >= 20 { // the first ones warm the page cache
				empties, hooks = append(empties, one), append(hooks, two)
			}
		}
		slices.Sort(empties)
		slices.Sort(hooks)
		ratio := float64(hooks[rounds/2]) / float64(empties[rounds/2])
		tail := hooks[rounds*99/100] - empties[rounds*99/100]
		b.ReportMetric(ratio, "x-empty-median")
		b.ReportMetric(ms(hooks[rounds/2]), "hook-median-ms")
		b.ReportMetric(ms(empties[rounds/2]), "empty-median-ms")
		b.ReportMetric(ms(hooks[rounds*99/100]), "hook-p99-ms")
		b.ReportMetric(ms(tail), "p99-over-empty-ms")
		if ratio > maxRatio {
			b.Errorf("the hook takes %.2f times an empty program, the budget is %.1f", ratio, maxRatio)
		}
		if tail > maxTail {
			b.Errorf("the slowest hundredth is %v above the empty program's, the budget is %v", tail, maxTail)
		}
	}
}

func benchHome(b *testing.B, dir, bin string) string {
	b.Helper()
	data := filepath.Join(dir, "h")
	for _, d := range []string{"bin", "inbox", "prepared"} {
		if err := os.MkdirAll(filepath.Join(data, d), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	program, err := os.ReadFile(bin)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(data, "bin", "tower-hook")
	if err := os.WriteFile(path, program, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "prepared", "agents.json"), []byte(agentsPrepared), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// timed runs a program with a payload on an input that stays open, and returns its wall time.
func timed(b *testing.B, cmd *exec.Cmd) time.Duration {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	if _, err := w.WriteString(payloadOfPrompt); err != nil {
		b.Fatal(err)
	}
	cmd.Stdin = r
	began := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
