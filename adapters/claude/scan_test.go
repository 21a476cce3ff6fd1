package claude

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/adapters/jsonl"
	"tower/core"
)

// scanFile reads a file from its start, under poison.
func scanFile(t testing.TB, path string) (core.Facts, []core.Turn) {
	t.Helper()
	s := scanFrom(t, path, core.Cursor{})
	return s.Deltas[0].Facts, s.Deltas[0].Turns
}

func scanFrom(t testing.TB, path string, from core.Cursor) core.Scan {
	t.Helper()
	s, err := New(core.AgentInfo{}).Scan(jsonl.Poison(context.Background()), core.Source{Path: path}, from)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Deltas) != 1 {
		t.Fatalf("Scan(%s) gave %d sessions, want 1", path, len(s.Deltas))
	}
	return s
}

func keys(m map[string]int64) []string {
	all := []string{}
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// TestScanRecorded compares the recorded transcripts with what was really typed into the sessions
// that wrote them.
func TestScanRecorded(t *testing.T) {
	dir := filepath.Join("testdata", "transcripts")
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]struct {
		Lines    int64    `json:"lines"`
		Typed    int64    `json:"typed"`
		Absorbed int64    `json:"queued_absorbed"`
		Headless int64    `json:"headless"`
		Commands []string `json:"typed_skill_or_command"`
		Skills   []string `json:"model_skill_runs"`
		Model    string   `json:"model"`
		Context  *int64   `json:"context_tokens"`
		Files    []string `json:"files"`
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	if len(expected) != 9 {
		t.Fatalf("%d recorded transcripts, want 9", len(expected))
	}
	for name, want := range expected {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			f, turns := scanFile(t, path)
			type counts struct {
				Lines, Bad, Typed, MidTurn, Slash, Turns int64
				Model                                    string
				Context                                  *int64
				Skills, Folders                          []string
				Class                                    core.Class
				Closeout                                 core.Closeout
			}
			w := counts{
				Lines: want.Lines, Typed: want.Typed, MidTurn: want.Absorbed, Slash: int64(len(want.Commands)),
				Model: want.Model, Context: want.Context, Class: core.ClassMain, Closeout: core.CloseoutOpen,
				Skills: []string{}, Folders: []string{},
			}
			w.Turns = w.Typed + w.MidTurn + w.Slash
			if want.Typed == 0 && want.Headless > 0 {
				w.Class = core.ClassHeadless
			}
			// A custom command reaches the model like a skill, but is none: its expansion does not say
			// where a skill lies.
			w.Skills = append(w.Skills, want.Skills...)
			if slices.Contains(want.Skills, "closeout") {
				w.Closeout = core.CloseoutClosed
			}
			for _, file := range want.Files {
				w.Folders = append(w.Folders, filepath.ToSlash(filepath.Dir(file)))
			}
			got := counts{f.Lines, f.Bad, f.Typed, f.MidTurn, f.Slash, f.Turns, f.Model, f.ContextTokens, keys(f.Skills), keys(f.Folders), f.Class, f.Closeout}
			if d := cmp.Diff(w, got); d != "" {
				t.Errorf("Scan (-want +got):\n%s", d)
			}
			if int64(len(turns)) != f.Turns || len(f.Unknown) != 0 || f.Copied != 0 {
				t.Errorf("%d turns told, %d counted; unknown %v; %d copied", len(turns), f.Turns, f.Unknown, f.Copied)
			}
			if j := headlessOf(t, path); j != want.Headless {
				t.Errorf("%d headless prompts, want %d", j, want.Headless)
			}
		})
	}
}

// headlessOf reads the count of headless prompts, which no face shows.
func headlessOf(t *testing.T, path string) int64 {
	t.Helper()
	j, _, err := New(core.AgentInfo{}).read(context.Background(), core.Source{Path: path}, core.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	return j.Headless
}

func TestScanRecordedSubagent(t *testing.T) {
	f, turns := scanFile(t, filepath.Join("testdata", "transcripts", "main.subagents", "agent-aeabe42f602c125c1.jsonl"))
	if f.Class != core.ClassSubagent || f.Native != "aeabe42f602c125c1" || f.Parent != "75ee2d1b-f2b7-4471-bd52-b4a0c28aa2a0" {
		t.Errorf("sub-agent: class %q native %q parent %q", f.Class, f.Native, f.Parent)
	}
	if f.Turns != 0 || f.Typed != 0 || len(turns) != 0 || f.First != "" {
		t.Errorf("sub-agent: %d turns, %d typed, first %q, want none", f.Turns, f.Typed, f.First)
	}
	if f.Model != "claude-opus-4-8" || f.ContextTokens == nil || *f.ContextTokens != 100 {
		t.Errorf("sub-agent: model %q context %v", f.Model, f.ContextTokens)
	}
}

func TestScanRecordedNames(t *testing.T) {
	dir := filepath.Join("testdata", "transcripts")
	main, _ := scanFile(t, filepath.Join(dir, "main.jsonl"))
	if main.Name != "my nice name" || main.Native != "75ee2d1b-f2b7-4471-bd52-b4a0c28aa2a0" || main.First != "first prompt as one arg" ||
		main.CWD != "/home/dev/proj" || main.Version != "2.1.197" || main.Entrypoint != "cli" {
		t.Errorf("main.jsonl: name %q native %q first %q cwd %q version %q entrypoint %q", main.Name, main.Native, main.First, main.CWD, main.Version, main.Entrypoint)
	}
	if got, want := main.Opened.String(), "2026-11-30T17:19:34.279Z"; !strings.HasPrefix(got, want[:16]) {
		t.Errorf("main.jsonl opened %s, want %s", got, want)
	}
	titled, _ := scanFile(t, filepath.Join(dir, "ai-title.jsonl"))
	if titled.AgentTitle != "Mock generated title" || titled.Name != "" {
		t.Errorf("ai-title.jsonl: title %q name %q", titled.AgentTitle, titled.Name)
	}
}

// TestScanSplit stops a transcript at every byte and goes on from the cursor: facts and turns must be
// those of one pass.
func TestScanSplit(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "transcripts", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	files = append(files, writeLines(t, odd()...))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, wantTurns := scanFile(t, file)
			path := filepath.Join(t.TempDir(), filepath.Base(file))
			grow, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer grow.Close()
			step := 1
			if len(data) > 5<<10 && filepath.Base(file) != session+suffix {
				step = 97 // the made one, which has everything, and the small one are stopped at every byte
			}
			for i := 0; i < len(data); i += step {
				first := scanFrom(t, path, core.Cursor{})
				second := scanFrom(t, file, first.Cursor)
				if got := second.Deltas[0].Facts; !reflect.DeepEqual(want, got) {
					t.Fatalf("split at %d (-want +got):\n%s", i, cmp.Diff(want, got))
				}
				told := second.Deltas[0].Turns
				if !second.Reset {
					told = append(slices.Clone(first.Deltas[0].Turns), told...)
				}
				if want, got := byUID(wantTurns), byUID(told); !reflect.DeepEqual(want, got) {
					t.Fatalf("turns split at %d (-want +got):\n%s", i, cmp.Diff(want, got))
				}
				if _, err := grow.Write(data[i:min(i+step, len(data))]); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// byUID is what the ledger makes of turns: told twice is told once.
func byUID(turns []core.Turn) map[int64]core.Turn {
	m := map[int64]core.Turn{}
	for _, t := range turns {
		m[t.UID] = t
	}
	return m
}

// TestScanCorpus compares synthetic corpora with the truth their generator wrote down.
func TestScanCorpus(t *testing.T) {
	for name, args := range map[string][]string{
		"defects":       {"--defects"},
		"shuffled keys": {"--shuffle-keys"},
		"escapes":       {"--escape-dense", "--seed", "11"},
	} {
		t.Run(name, func(t *testing.T) {
			root := corpus(t, append([]string{"--sessions", "20", "--mb", "6"}, args...)...)
			data, err := os.ReadFile(filepath.Join(root, "MANIFEST.json"))
			if err != nil {
				t.Fatal(err)
			}
			var manifest struct {
				Files []manifestEntry `json:"files"`
			}
			if err := json.Unmarshal(data, &manifest); err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, want := range manifest.Files {
				if want.Agent == "claude" {
					n++
					want.check(t, root)
				}
			}
			if n < 10 {
				t.Errorf("the manifest names %d transcripts: too few to prove anything", n)
			}
		})
	}
}

// manifestEntry is what the generator says of a file. A key it leaves out is not stated.
type manifestEntry struct {
	Agent     string            `json:"agent"`
	ID        string            `json:"id"`
	Path      string            `json:"path"`
	CWD       string            `json:"cwd"`
	Defect    string            `json:"defect"`
	Bytes     int64             `json:"bytes"`
	Lines     int64             `json:"lines"`
	Turns     *int64            `json:"turns"`
	Days      *map[string]int64 `json:"days"`
	Model     *string           `json:"model"`
	Context   *int64            `json:"context"`
	Folders   *[]string         `json:"folders"`
	Skills    *[]string         `json:"skills"`
	Sidechain *bool             `json:"sidechain"`
	Parent    *string           `json:"parent"`
}

func (w manifestEntry) check(t *testing.T, root string) {
	t.Helper()
	f, turns := scanFile(t, filepath.Join(root, filepath.FromSlash(w.Path)))
	differ := func(what string, want, got any) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s %s: %s (-want +got):\n%s", w.Defect, w.Path, what, d)
		}
	}
	differ("bytes", w.Bytes, f.Bytes)
	differ("lines", w.Lines, f.Lines)
	differ("bad lines", int64(0), f.Bad)
	differ("closeout", core.CloseoutOpen, f.Closeout)
	differ("id", w.ID, f.Native)
	if w.Defect != "empty" && w.Defect != "no-cwd" {
		differ("cwd", w.CWD, f.CWD)
	}
	if w.Turns != nil {
		differ("turns", *w.Turns, f.Turns)
	}
	if w.Days != nil {
		days := map[string]int64{}
		for _, turn := range turns {
			days[turn.At.String()[:10]]++
		}
		differ("days", *w.Days, days)
	}
	if w.Model != nil {
		differ("model", *w.Model, f.Model)
	}
	if w.Context != nil {
		differ("context", w.Context, f.ContextTokens)
	}
	if w.Folders != nil {
		differ("folders", *w.Folders, keys(f.Folders))
	}
	if w.Skills != nil {
		differ("skills", *w.Skills, keys(f.Skills))
	}
	if w.Sidechain != nil {
		differ("sub-agent", *w.Sidechain, f.Class == core.ClassSubagent)
	}
	if w.Parent != nil {
		differ("parent", *w.Parent, f.Parent)
	}
}

// corpus generates transcripts and returns their root.
func corpus(t testing.TB, args ...string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed, and the corpus generator is written in it")
	}
	root := t.TempDir()
	args = append([]string{filepath.Join("..", "..", "installer", "rig", "gen_corpus.py"), "--root", root}, args...)
	if out, err := exec.Command(python, args...).CombinedOutput(); err != nil {
		t.Fatalf("generate corpus: %v\n%s", err, out)
	}
	return root
}
