package installer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/adapters/adaptertest"
	"tower/adapters/claude"
	"tower/core"
	"tower/core/home"
)

// prepared returns every file below the prepared folder but agents.json.
func prepared(t *testing.T, h home.Home) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(h.Prepared(), func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && p != h.PreparedAgents() {
			rel, _ := filepath.Rel(h.Prepared(), p)
			all[rel] = load(t, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	h := home.Home{Config: filepath.Join(dir, "config"), Data: filepath.Join(dir, "data")}
	fake := adaptertest.NewFake("/nowhere")
	cl := claude.New(core.AgentInfo{Agent: "claude", Root: "/r", Exe: []string{"*/claude"}})
	mute := struct{ core.Adapter }{claude.New(core.AgentInfo{Agent: "mute"})}
	agents := []core.Adapter{cl, fake, mute}
	prepare := func() {
		t.Helper()
		if err := Prepare(h, agents); err != nil {
			t.Fatal(err)
		}
	}
	is := func(want map[string]string) {
		t.Helper()
		if d := cmp.Diff(want, prepared(t, h)); d != "" {
			t.Error(d)
		}
	}
	rule := func(name string) string { return filepath.Join(h.Rules(), name) }

	prepare()
	is(map[string]string{})
	var list []core.AgentInfo
	if err := json.Unmarshal([]byte(load(t, h.PreparedAgents())), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || list[0].Agent != "claude" || !cmp.Equal(list[0].Exe, []string{"*/claude"}) || list[1].Agent != "fake" {
		t.Errorf("agents.json = %+v", list)
	}

	store(t, rule("b.md"), "  Be brief.\r\nAlways.\n\n", 0o600)
	store(t, rule("a.md"), "\ufeffAsk first.", 0o600)
	store(t, rule("fake.md"), "You are fake.", 0o600)
	store(t, rule("empty.md"), " \n", 0o600)
	store(t, rule("notes.txt"), "not a rule", 0o600)
	store(t, rule(".#b.md"), "an editor's", 0o600)
	store(t, rule("projects/tower.md"), "Run make test.", 0o600)
	prepare()
	const shared = "Ask first.\n\nBe brief.\nAlways."
	want := map[string]string{
		"fake/rules.out":            "RULES\n" + shared + "\n\nYou are fake.",
		"fake/projects/tower.out":   "RULES\n" + shared + "\n\nYou are fake.\n\nRun make test.",
		"claude/rules.out":          string(cl.RuleOutput(shared)),
		"claude/projects/tower.out": string(cl.RuleOutput(shared + "\n\nRun make test.")),
	}
	is(want)

	before, err := os.Stat(h.PreparedRules("fake"))
	if err != nil {
		t.Fatal(err)
	}
	prepare()
	if after, err := os.Stat(h.PreparedRules("fake")); err != nil || !os.SameFile(before, after) || before.Mode().Perm() != 0o600 {
		t.Errorf("a file that was right was written again, or has mode %v (%v)", before.Mode(), err)
	}

	// What is gone from the rules goes from what is prepared; what is not ours stays.
	for _, name := range []string{"a.md", "b.md", "projects/tower.md"} {
		if err := os.Remove(rule(name)); err != nil {
			t.Fatal(err)
		}
	}
	store(t, filepath.Join(h.Prepared(), "fake", "projects", "foreign.txt"), "keep", 0o600)
	agents = []core.Adapter{fake}
	prepare()
	is(map[string]string{"fake/rules.out": "RULES\nYou are fake.", "fake/projects/foreign.txt": "keep"})
	if _, err := os.Stat(filepath.Join(h.Prepared(), "claude")); err == nil {
		t.Error("the folder of an agent that is configured no more is still there")
	}
}

func TestPrepareWithoutOneFile(t *testing.T) {
	dir := t.TempDir()
	h := home.Home{Config: filepath.Join(dir, "config"), Data: filepath.Join(dir, "data")}
	store(t, filepath.Join(h.Rules(), "a.md"), "Ask first.", 0o600)
	if err := os.Mkdir(filepath.Join(h.Rules(), "b.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(h.Rules(), "c.md")); err != nil {
		t.Fatal(err)
	}
	err := Prepare(h, []core.Adapter{adaptertest.NewFake("/nowhere")})
	if err == nil || !strings.Contains(err.Error(), "b.md") || !strings.Contains(err.Error(), "c.md") {
		t.Errorf("Prepare = %v, want both files it could not read", err)
	}
	if got := load(t, h.PreparedRules("fake")); got != "RULES\nAsk first." {
		t.Errorf("prepared %q, want what could be read", got)
	}
}

func TestRulesAreCut(t *testing.T) {
	part := func(name string, n int) section { return section{name, strings.Repeat(name[:1], n)} }
	for name, c := range map[string]struct {
		all  []section
		cut  []string
		kept map[string]int
	}{
		"fits":                {[]section{part("a.md", 100), part("p.md", 100)}, nil, map[string]int{"a": 100, "p": 100}},
		"just fits":           {[]section{part("a.md", 1022), part("p.md", 1024)}, nil, map[string]int{"a": 1022, "p": 1024}},
		"one byte more":       {[]section{part("a.md", 1023), part("p.md", 1024)}, []string{"a.md"}, map[string]int{"p": 1024}},
		"general cut":         {[]section{part("a.md", 500), part("b.md", 900), part("p.md", 900)}, []string{"b.md"}, map[string]int{"a": 500, "p": 900}},
		"special alone":       {[]section{part("p.md", 5000)}, []string{"p.md"}, nil},
		"special and general": {[]section{part("a.md", 500), part("p.md", 5000)}, []string{"a.md", "p.md"}, map[string]int{"a": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			got := assemble(c.all, 2048)
			if len(got) > 2048 {
				t.Errorf("%d bytes, want at most 2048", len(got))
			}
			text, note, _ := strings.Cut(got, "(Tower cut these rules to 2 KiB; what is missing is in: ")
			if note != "" && strings.TrimSuffix(note, ")") != strings.Join(c.cut, ", ") || note == "" && c.cut != nil {
				t.Errorf("cut %q, want %q", note, c.cut)
			}
			for letter, n := range c.kept {
				if got := strings.Count(text, letter); got != n {
					t.Errorf("%d bytes of %s, want %d", got, letter, n)
				}
			}
		})
	}
	umlauts := assemble([]section{{"p.md", strings.Repeat("ü", 2000)}}, 2048)
	if strings.ContainsRune(umlauts, '\ufffd') || len(umlauts) < 2000 {
		t.Errorf("a character was cut in two, or too much: %d bytes", len(umlauts))
	}
}

// TestOutputFitsTheHook: text that an agent's form blows up is cut further.
func TestOutputFitsTheHook(t *testing.T) {
	cl := claude.New(core.AgentInfo{Agent: "claude", Root: "/r"})
	out := output(cl, []section{{"a.md", strings.Repeat("\x01", maxRules)}})
	if len(out) > maxOutput || !json.Valid(out) || len(out) < maxOutput/4 {
		t.Errorf("output has %d bytes, valid: %v", len(out), json.Valid(out))
	}
}
