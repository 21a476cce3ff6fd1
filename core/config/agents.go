package config

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/knadh/koanf/v2"
	gotoml "github.com/pelletier/go-toml/v2"

	"tower/core"
)

// agent is one table of agents.toml.
type agent struct {
	Display        string   `toml:"display"`
	Code           string   `toml:"code"`
	Tag            string   `toml:"tag"`
	Install        string   `toml:"install"`
	Exe            []string `toml:"exe"`
	Argv           []string `toml:"argv"`
	Helpers        []string `toml:"helpers"`
	Shared         bool     `toml:"shared"`
	Root           string   `toml:"root"`
	RootEnv        string   `toml:"root_env"`
	Transcripts    []string `toml:"transcripts"`
	HookFile       string   `toml:"hook_file"`
	Instructions   string   `toml:"instructions"`
	Closeout       string   `toml:"closeout"`
	UsageURL       string   `toml:"usage_url"`
	Untested       bool     `toml:"untested"`
	ResumeAnywhere bool     `toml:"resume_anywhere"`
}

// agents lays the person's agents.toml over the built-in one, key by key.
func (o Options) agents() ([]core.AgentInfo, error) {
	k := koanf.New(".")
	if err := mergeToml(k, "built-in agents.toml", o.Agents); err != nil {
		return nil, err
	}
	builtIn := k.MapKeys("")
	text, err := readToml(k, o.AgentsFile)
	if err != nil {
		return nil, err
	}
	sort.Strings(builtIn)
	for _, name := range k.MapKeys("") {
		if !slices.Contains(builtIn, name) {
			return nil, &Error{Where: o.AgentsFile, Line: lineOf(text, name), Key: name, What: "there is no such agent", Allowed: fmt.Sprint(builtIn)}
		}
	}
	merged, err := gotoml.Marshal(k.Raw())
	if err != nil {
		return nil, fmt.Errorf("merge agents: %w", err)
	}
	tables := map[string]agent{}
	if err := gotoml.NewDecoder(bytes.NewReader(merged)).DisallowUnknownFields().Decode(&tables); err != nil {
		return nil, o.agentError(err, text)
	}
	var list []core.AgentInfo
	for _, name := range builtIn {
		t := tables[name]
		info := core.AgentInfo{
			Agent: core.Agent(name), Display: t.Display, Code: t.Code, Tag: t.Tag, Install: t.Install,
			Exe: t.Exe, Argv: t.Argv, Helpers: t.Helpers, Shared: t.Shared,
			Root: t.Root, RootEnv: t.RootEnv, Transcripts: t.Transcripts, HookFile: t.HookFile,
			Instructions: t.Instructions, Closeout: t.Closeout, UsageURL: t.UsageURL, Untested: t.Untested,
			ResumeAnywhere: t.ResumeAnywhere,
		}
		// The agent's own variable moves its folder, unless the person named one here.
		if lineOf(text, name+".root") == 0 && info.RootEnv != "" {
			if moved := o.Getenv(info.RootEnv); moved != "" {
				info.Root = moved
			}
		}
		info.Root = o.expand(info.Root)
		if info.Display == "" || !filepath.IsAbs(info.Root) {
			return nil, &Error{Where: o.AgentsFile, Line: lineOf(text, name+".root"), Key: name + ".root", What: fmt.Sprintf("%q is not a full path", info.Root), Allowed: `a full path, or one that begins with "~/"`}
		}
		for i := range info.Exe {
			info.Exe[i] = o.expand(info.Exe[i])
		}
		list = append(list, info)
	}
	return list, nil
}

// agentError names the key of the person's file behind an error of the merged text.
func (o Options) agentError(err error, text []byte) error {
	e := &Error{Where: o.AgentsFile, What: err.Error()}
	var strict *gotoml.StrictMissingError
	var bad *gotoml.DecodeError
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		e.Key, e.What = strings.Join(strict.Errors[0].Key(), "."), "there is no such key"
	case errors.As(err, &bad):
		e.Key, e.What = strings.Join(bad.Key(), "."), "wrong type of value"
	}
	e.Line = lineOf(text, e.Key)
	return e
}
