package codex

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tower/core"
)

// manifest is what the corpus generator says of a file. A key it does not give is not stated.
type manifest struct {
	Agent, ID, CWD, Path, Defect, Note string
	Turns                              *int64
	Days                               map[string]int64
	Model                              *string
	Context                            *int64
	Bytes, Lines                       int64
	Parent                             *string
	OwnTurns                           *int64 `json:"own_turns"`
	OwnTokens                          *int64 `json:"own_tokens"`
}

func TestCorpus(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to generate the corpus with")
	}
	for name, args := range map[string][]string{
		"plain":         {"--defects"},
		"shuffled keys": {"--defects", "--shuffle-keys"},
		"escape-dense":  {"--escape-dense"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			args := append([]string{"../../installer/rig/gen_corpus.py", "--root", root, "--seed", "7", "--sessions", "24", "--mb", "5", "--codex-share", "0.8"}, args...)
			if out, err := exec.Command(python, args...).CombinedOutput(); err != nil {
				t.Fatalf("gen_corpus: %v\n%s", err, out)
			}
			b, err := os.ReadFile(filepath.Join(root, "MANIFEST.json"))
			if err != nil {
				t.Fatal(err)
			}
			var all struct{ Files []manifest }
			if err := json.Unmarshal(b, &all); err != nil {
				t.Fatal(err)
			}
			a := New(info(filepath.Join(root, ".codex")))
			found := map[string]bool{}
			if err := a.Transcripts(t.Context(), func(s core.Source) bool { found[s.Path] = true; return true }); err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, m := range all.Files {
				if m.Agent != "codex" {
					continue
				}
				n++
				path := filepath.Join(root, filepath.FromSlash(m.Path))
				if !found[path] {
					t.Errorf("%s is not found by the walk", m.Path)
				}
				delete(found, path)
				m.check(t, scanFile(t, a, path, core.Cursor{}))
			}
			if n < 15 || len(found) != 0 {
				t.Errorf("%d Codex files in the manifest; the walk finds besides %v", n, found)
			}
		})
	}
}

func (m *manifest) check(t *testing.T, s core.Scan) {
	t.Helper()
	d := s.Deltas[0]
	f := d.Facts
	where := m.Path + " (" + m.Defect + ")"
	is := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s = %v, want %v", where, what, got, want)
		}
	}
	is("id", f.Native, m.ID)
	is("cwd", f.CWD, m.CWD)
	is("bytes", f.Bytes, m.Bytes)
	is("lines", f.Lines, m.Lines)
	is("closeout", f.Closeout, core.CloseoutOpen)
	is("kinds nobody knows", len(f.Unknown), 0)
	if m.Turns != nil {
		is("turns", f.Turns, *m.Turns)
	}
	if m.Model != nil {
		is("model", f.Model, *m.Model)
	}
	if m.Context != nil {
		is("context", *f.ContextTokens, *m.Context)
	}
	if m.OwnTurns != nil {
		is("turns of its own", f.Turns, *m.OwnTurns)
		is("context", *f.ContextTokens, *m.OwnTokens)
		is("first message", f.First, "after the fork")
	}
	days := map[string]int64{}
	for _, turn := range d.Turns {
		days[turn.At.String()[:10]]++
	}
	if m.Days != nil {
		is("number of days", len(days), len(m.Days))
		for day, n := range m.Days {
			is("turns on "+day, days[day], n)
		}
	}
	bad := int64(0)
	switch m.Defect {
	case "codex-fork":
		is("forked from", f.ForkedFrom, *m.Parent)
	case "codex-subagent":
		is("kind", f.Class, core.ClassSubagent)
		is("parent", f.Parent, *m.Parent)
		is("turns", f.Turns, int64(0))
	case "codex-archived-copy":
		is("archived", f.Archived, true)
	case "codex-torn-meta":
		bad = 1
	default:
		is("kind", f.Class, core.ClassMain)
	}
	is("bad lines", f.Bad, bad)
}
