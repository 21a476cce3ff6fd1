//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"encoding/json"

	"tower/core"
)

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// onDisk counts the agents' transcripts by the names of the files alone, which is another way than
// the tower's: every main file of Claude Code and every rollout of Codex is one session.
func onDisk(t *testing.T, home string) map[core.SessionID]string {
	t.Helper()
	found := map[core.SessionID]string{}
	for agent, patterns := range map[core.Agent][]string{
		claudeAgent: {".claude/projects/*/*.jsonl"},
		codexAgent:  {".codex/sessions/*/*/*/rollout-*.jsonl", ".codex/archived_sessions/rollout-*.jsonl"},
	} {
		for _, p := range patterns {
			files, err := filepath.Glob(filepath.Join(home, p))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				ids := uuid.FindAllString(filepath.Base(f), -1)
				if len(ids) == 0 {
					t.Fatalf("no session id in the name %s", f)
				}
				found[core.NewSessionID(agent, ids[len(ids)-1])] = f
			}
		}
	}
	return found
}

func number(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return strconv.FormatInt(*n, 10)
}

func importCounts(t *testing.T) {
	w := serving(t)
	corpus := makeCorpus(t)
	var figures core.ImportResult
	out := w.must(t, "import", "--json")
	if err := json.Unmarshal([]byte(out), &figures); err != nil {
		t.Fatalf("import --json: %v\n%s", err, out)
	}
	t.Logf("import: %+v", figures)
	if figures.Failed != 0 {
		t.Errorf("%d sources could not be read", figures.Failed)
	}
	files := onDisk(t, st.home)
	known := map[core.SessionID]core.Row{}
	for _, r := range w.sessions(t) {
		if _, twice := known[r.ID]; twice {
			t.Errorf("session %s is listed twice", r.ID)
		}
		known[r.ID] = r
	}
	t.Logf("%d sessions on disk, %d known", len(files), len(known))
	for id, file := range files {
		if _, ok := known[id]; !ok {
			t.Errorf("nothing is known of %s", strings.TrimPrefix(file, st.home))
		}
	}
	for id, r := range known {
		if r.Transcript == "" {
			continue
		}
		if _, err := os.Stat(r.Transcript); err == nil && files[id] == "" && r.Class != core.ClassSubagent {
			t.Errorf("%s %s is known with the transcript %s, which holds no session of that id", r.Agent, r.Native, r.Transcript)
		}
	}
	for _, m := range corpus {
		if m.Turns == nil || m.Parent != nil {
			continue
		}
		r := known[core.NewSessionID(m.Agent, m.ID)]
		if r.Turns == nil || *r.Turns != *m.Turns {
			t.Errorf("%s has %s turns, its manifest says %d", m.Path, number(r.Turns), *m.Turns)
		}
	}
	// Again, and nothing is opened and no row written. What changed within the seconds before it was read
	// is looked at once more, and a session that was growing a moment ago is written when it rests.
	told := figures
	within(t, soon, "an import that opens and writes nothing", func() bool {
		out := w.must(t, "import", "--json")
		var again core.ImportResult
		if err := json.Unmarshal([]byte(out), &again); err != nil {
			t.Fatal(err)
		}
		if again.Opened != told.Opened || again.RowsWritten != told.RowsWritten {
			t.Logf("again: %+v", again)
			told = again
		}
		if again.Sources != figures.Sources || again.Opened > figures.Opened {
			t.Fatalf("an import of unchanged sources: %+v, the first was %+v", again, figures)
		}
		return again.Opened == 0 && again.RowsWritten == 0
	})
	var counts core.Snapshot
	if err := json.Unmarshal([]byte(w.must(t, "status", "--json")), &counts); err != nil {
		t.Fatal(err)
	}
	if counts.Counts.All != len(known) {
		t.Errorf("status counts %d sessions, the list has %d", counts.Counts.All, len(known))
	}
}

// made is one file of the corpus, as its manifest states it.
type made struct {
	Agent  core.Agent
	ID     string
	Turns  *int64
	Parent *string
	Path   string
}

// makeCorpus puts made transcripts beside those that the agents wrote.
func makeCorpus(t *testing.T) []made {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("..", "..", "installer", "rig", "gen_corpus.py"))
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(st.dir, "corpus")
	cmd := exec.Command("python3", script, "--root", root, "--seed", "7", "--sessions", "60", "--mb", "12")
	cmd.Env = append(os.Environ(), tagName+"="+st.tag)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make the corpus: %v\n%s", err, out)
	}
	for _, dir := range []string{".claude", ".codex"} {
		from := filepath.Join(root, dir)
		if _, err := os.Stat(from); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(st.home, dir), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(root, "MANIFEST.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Files []made }
	if err := json.Unmarshal(b, &manifest); err != nil || len(manifest.Files) < 60 {
		t.Fatalf("the corpus's manifest holds %d files (%v)", len(manifest.Files), err)
	}
	return manifest.Files
}
