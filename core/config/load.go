package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	gotoml "github.com/pelletier/go-toml/v2"

	"tower/core"
)

// Options says where the layers are.
type Options struct {
	ConfigFile string
	AgentsFile string
	Agents     []byte // the built-in agents.toml
	Getenv     func(string) string
	Flags      map[string]any // dotted key -> value
	UserHome   string         // what "~" stands for
	Data, Temp string         // what {data} and {temp} stand for
}

// Error is a setting that cannot be used.
type Error struct {
	Where   string // file, or the variable's name
	Line    int    // 0 = unknown
	Key     string
	What    string
	Allowed string
}

func (e *Error) Error() string {
	s := e.Where
	if e.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, e.Line)
	}
	if e.Key != "" {
		s += fmt.Sprintf(": key %q", e.Key)
	}
	s += ": " + e.What
	if e.Allowed != "" {
		s += "; allowed: " + e.Allowed
	}
	return s
}

// Origins tells for every key where its value came from: "default", "FILE:LINE", "TOWER_X" or "flag".
type Origins map[string]string

// Load reads all layers. Files that do not exist are empty layers.
func Load(o Options) (core.Config, Origins, error) {
	var c core.Config
	k := koanf.New(".")
	origins := Origins{}
	defaults := map[string]any{}
	for _, key := range Keys {
		defaults[key.Name] = key.Default
		origins[key.Name] = "default"
	}
	if err := k.Load(confmap.Provider(defaults, "."), nil); err != nil {
		return c, nil, fmt.Errorf("load defaults: %w", err)
	}
	text, err := readToml(k, o.ConfigFile)
	if err != nil {
		return c, nil, err
	}
	if err := known(k, o.ConfigFile, text); err != nil {
		return c, nil, err
	}
	for _, key := range Keys {
		if n := lineOf(text, key.Name); n > 0 {
			origins[key.Name] = fmt.Sprintf("%s:%d", o.ConfigFile, n)
		}
		if v := o.Getenv(key.Env()); v != "" {
			if err := k.Set(key.Name, v); err != nil {
				return c, nil, fmt.Errorf("set %s: %w", key.Env(), err)
			}
			origins[key.Name] = key.Env()
		}
		if v, ok := o.Flags[key.Name]; ok {
			if err := k.Set(key.Name, v); err != nil {
				return c, nil, fmt.Errorf("set flag %s: %w", key.Name, err)
			}
			origins[key.Name] = "flag"
		}
		v, ok := key.convert(k.Get(key.Name))
		if !ok || key.check != nil && !key.check(v) {
			e := &Error{Where: origins[key.Name], Key: key.Name, Allowed: key.Allowed}
			if file, line, ok := strings.Cut(origins[key.Name], o.ConfigFile+":"); ok && file == "" {
				e.Where = o.ConfigFile
				fmt.Sscan(line, &e.Line)
			}
			e.What = fmt.Sprintf("%v is not allowed", k.Get(key.Name))
			if !ok {
				e.What = fmt.Sprintf("%v is not a %s", k.Get(key.Name), key.Kind)
			}
			return c, nil, e
		}
		key.apply(&c, v)
	}
	c.HarnessRoots = o.roots(c.HarnessRoots)
	for i, r := range c.ProjectRoots {
		c.ProjectRoots[i] = o.expand(r)
	}
	c.Agents, err = o.agents()
	return c, origins, err
}

// readToml merges a file into k and returns its text.
func readToml(k *koanf.Koanf, file string) ([]byte, error) {
	// A pipe would be waited for without end.
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return nil, &Error{Where: file, What: "it is not an ordinary file"}
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || file == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return text, mergeToml(k, file, text)
}

func mergeToml(k *koanf.Koanf, file string, text []byte) error {
	err := k.Load(rawbytes.Provider(text), toml.Parser())
	var bad *gotoml.DecodeError
	if errors.As(err, &bad) {
		line, _ := bad.Position()
		return &Error{Where: file, Line: line, What: bad.Error(), Key: strings.Join(bad.Key(), ".")}
	}
	if err != nil {
		return &Error{Where: file, What: err.Error()}
	}
	return nil
}

// known refuses keys that do not exist.
func known(k *koanf.Koanf, file string, text []byte) error {
	for _, name := range k.Keys() {
		if slices.ContainsFunc(Keys, func(key Key) bool { return key.Name == name }) {
			continue
		}
		var names []string
		for _, key := range Keys {
			names = append(names, key.Name)
		}
		return &Error{Where: file, Line: lineOf(text, name), Key: name, What: "there is no such key", Allowed: strings.Join(names, ", ")}
	}
	return nil
}

// lineOf finds the line on which a TOML text sets a dotted key; 0 when it does not. It follows table
// headers and bare dotted keys, the forms people write.
func lineOf(text []byte, name string) int {
	table := ""
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			table = strings.Trim(strings.TrimSpace(strings.SplitN(line, "]", 2)[0]), "[] \t") + "."
			if table == name+"." {
				return i + 1
			}
			continue
		}
		key, _, ok := strings.Cut(line, "=")
		key = strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(key), `"`, ""), " ", "")
		if ok && !strings.HasPrefix(line, "#") && (table+key == name || strings.HasPrefix(table+key, name+".")) {
			return i + 1
		}
	}
	return 0
}

func (o Options) expand(p string) string {
	p = strings.ReplaceAll(strings.ReplaceAll(p, "{temp}", o.Temp), "{data}", o.Data)
	if p == "~" || strings.HasPrefix(p, "~/") {
		p = filepath.Join(o.UserHome, p[1:])
	}
	return p
}

// roots expands harness roots; a root reached by a symbolic link counts under both names.
func (o Options) roots(list []string) []string {
	var out []string
	for _, r := range list {
		r = o.expand(r)
		if r == "" {
			continue
		}
		if !strings.Contains(r, "*") {
			r = filepath.Clean(r)
			if real, err := filepath.EvalSymlinks(r); err == nil && real != r {
				out = append(out, real)
			}
		}
		out = append(out, r)
	}
	return out
}
