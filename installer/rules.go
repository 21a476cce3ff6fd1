package installer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tower/core"
	"tower/core/home"
)

// Limits of standing rules. The first is of the text, the second of what a hook may print, into which
// an agent's own form can blow the text up.
const (
	maxRules  = 32 << 10
	maxOutput = 60 << 10
)

// section is the text of one file of rules.
type section struct {
	name string // below the rules folder, for the sentence that says what was cut
	text string
}

// Prepare lays out what the hook reads, see [home.Home.Prepared]: the list of agents, and for every
// agent that takes rules the very bytes its hook prints when a session starts. The rules are the files
// of the person's rules folder: every NAME.md that is not named after an agent, then AGENT.md, and in
// the repository whose folder is NAME also projects/NAME.md. Too much text is cut, the most general
// first, and says so in the end.
//
// Files that are as they should be are not written again; files for rules that are gone are removed by
// name. A file of rules that cannot be read is left out and named in the error; what could be prepared
// is prepared.
func Prepare(h home.Home, adapters []core.Adapter) error {
	infos := []core.AgentInfo{}
	known := map[string]bool{}
	for _, a := range adapters {
		infos = append(infos, a.Agent())
		known[string(a.Agent().Agent)] = true
	}
	list, err := json.MarshalIndent(infos, "", " ")
	if err != nil {
		return fmt.Errorf("prepare agents: %w", err)
	}
	errs := []error{put(h.PreparedAgents(), append(list, '\n'))}
	read := func(dir string) []section {
		s, err := sections(h.Rules(), dir)
		errs = append(errs, err)
		return s
	}
	top, projects := read("."), read("projects")
	var shared []section
	of := map[string]section{}
	for _, s := range top {
		if name := strings.TrimSuffix(s.name, ".md"); known[name] {
			of[name] = s
		} else {
			shared = append(shared, s)
		}
	}
	for _, a := range adapters {
		agent := a.Agent().Agent
		writer, ok := a.(core.RuleWriter)
		want := map[string][]byte{}
		if ok {
			general := slices.Clone(shared)
			if s, ok := of[string(agent)]; ok {
				general = append(general, s)
			}
			want[h.PreparedRules(agent)] = output(writer, general)
			for _, p := range projects {
				name := strings.TrimSuffix(filepath.Base(p.name), ".md")
				want[h.PreparedProject(agent, name)] = output(writer, append(slices.Clone(general), p))
			}
		}
		errs = append(errs, lay(h, agent, want))
	}
	errs = append(errs, forget(h, known))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("prepare rules: %w", err)
	}
	return nil
}

// sections reads the .md files of a folder below root, in the order of their names.
func sections(root, dir string) ([]section, error) {
	entries, err := os.ReadDir(filepath.Join(root, dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []section
	var errs []error
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if !strings.HasSuffix(name, ".md") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		text, err := readRules(filepath.Join(root, name))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if text != "" {
			all = append(all, section{filepath.ToSlash(name), text})
		}
	}
	return all, errors.Join(errs...)
}

// readRules reads one file; what is longer than all rules may be is cut by assemble.
func readRules(path string) (string, error) {
	f, err := home.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRules+4))
	if err != nil {
		return "", err
	}
	text := strings.ToValidUTF8(strings.TrimPrefix(string(b), "\ufeff"), "\ufffd")
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")), nil
}

// output returns the bytes of the hook for these rules, or nil for none.
func output(w core.RuleWriter, all []section) []byte {
	if len(all) == 0 {
		return nil
	}
	for limit := maxRules; ; limit /= 2 {
		if out := w.RuleOutput(assemble(all, limit)); len(out) <= maxOutput || limit < 1<<10 {
			return out
		}
	}
}

// assemble joins sections into at most limit bytes, the sentence about what was cut included. The
// sections stand from the most general to the most special; of the general ones the last goes first,
// the last section of all goes last.
func assemble(all []section, limit int) string {
	const gap = "\n\n"
	size := -len(gap)
	for _, s := range all {
		size += len(s.text) + len(gap)
	}
	all = slices.Clone(all)
	note := ""
	if size > limit {
		var names []string
		for _, i := range cutOrder(len(all)) {
			names = append(names, all[i].name)
			note = fmt.Sprintf("(Tower cut these rules to %d KiB; what is missing is in: %s)", limit>>10, strings.Join(names, ", "))
			over := size + len(gap) + len(note) - limit
			keep := max(0, len(all[i].text)-over)
			size -= len(all[i].text) - keep
			all[i].text = strings.ToValidUTF8(all[i].text[:keep], "")
			if over = size + len(gap) + len(note) - limit; over <= 0 {
				break
			}
		}
	}
	var parts []string
	for _, s := range all {
		if s.text != "" {
			parts = append(parts, s.text)
		}
	}
	if note != "" {
		parts = append(parts, note)
	}
	return strings.Join(parts, gap)
}

// cutOrder returns the sections in the order in which they are cut.
func cutOrder(n int) []int {
	var order []int
	for i := n - 2; i >= 0; i-- {
		order = append(order, i)
	}
	return append(order, n-1)
}

// lay writes the wanted files of one agent and removes the others.
func lay(h home.Home, agent core.Agent, want map[string][]byte) error {
	var errs []error
	for path, content := range want {
		if content != nil {
			errs = append(errs, put(path, content))
		}
	}
	rules := h.PreparedRules(agent)
	if want[rules] == nil {
		errs = append(errs, drop(rules))
	}
	projects := filepath.Dir(h.PreparedProject(agent, "x"))
	entries, err := os.ReadDir(projects)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err)
	}
	for _, e := range entries {
		path := filepath.Join(projects, e.Name())
		if strings.HasSuffix(path, ".out") && want[path] == nil {
			errs = append(errs, drop(path))
		}
	}
	return errors.Join(errs...)
}

// forget removes what was prepared for agents that are configured no more.
func forget(h home.Home, known map[string]bool) error {
	entries, err := os.ReadDir(h.Prepared())
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() || known[e.Name()] {
			continue
		}
		agent := core.Agent(e.Name())
		errs = append(errs, lay(h, agent, nil))
		// Only folders that are empty now go; anything else in them is not ours.
		os.Remove(filepath.Dir(h.PreparedProject(agent, "x")))
		os.Remove(filepath.Dir(h.PreparedRules(agent)))
	}
	return errors.Join(errs...)
}

// put writes a file unless it is right already.
func put(path string, content []byte) error {
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, content) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return replace(path, content, 0o600)
}

func drop(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
