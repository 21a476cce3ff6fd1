package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"time"

	"tower/core"
	"tower/core/home"
)

var (
	agentsEvery    = every(5 * time.Second)
	retentionEvery = every(6 * time.Hour)
)

// lookAtAgents finds out which agents are installed and how their hooks stand.
func (e *Engine) lookAtAgents(context.Context) error {
	var list []core.AgentState
	for _, a := range e.o.Adapters {
		list = append(list, AgentState(a, e.o.Path, e.o.Home.HookBinary()))
	}
	e.health.mu.Lock()
	same := reflect.DeepEqual(stripped(e.health.agents), list)
	e.health.agents = list
	disk := e.health.disk
	e.health.mu.Unlock()
	if now := e.diskBuild(); now != disk {
		e.health.mu.Lock()
		e.health.disk = now
		e.health.mu.Unlock()
		same = false
	}
	if !same {
		wake(e.wakes.faces)
	}
	return nil
}

func stripped(list []core.AgentState) []core.AgentState {
	var out []core.AgentState
	for _, a := range list {
		a.Counts = core.Counts{}
		out = append(out, a)
	}
	return out
}

// maxHookFile bounds what is read of an agent's settings.
const maxHookFile = 16 << 20

// AgentState tells whether an agent is installed and how its hooks stand.
func AgentState(a core.Adapter, path, hook string) core.AgentState {
	info := a.Agent()
	s := core.AgentState{Agent: info.Agent, Display: info.Display, Code: info.Code, Install: info.Install}
	_, err := os.Stat(info.Root)
	s.Installed = err == nil
	s.Why = "no folder " + info.Root
	if f, ok := a.(core.Finder); ok && !s.Installed {
		command, looked := f.Find(path)
		s.Installed, s.Why = command != "", fmt.Sprintf("no folder %s, no command in %s", info.Root, looked)
	}
	if s.Installed {
		s.Why = ""
	}
	h, ok := a.(core.HookInstaller)
	if !ok {
		s.Hooks = core.HookStatus{State: core.HooksNotInstalled, Reason: info.Display + " runs no hooks; status rests on its own records."}
		return s
	}
	content, err := home.ReadFile(h.HookFile(), maxHookFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Hooks = core.HookStatus{State: core.HooksUnreadable, Reason: err.Error()}
		return s
	}
	s.Hooks = h.HookStatus(content, hook)
	return s
}

// diskBuild returns the build of the program on disk when it is not the one running, else "".
func (e *Engine) diskBuild() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	if b := Build(exe); b != "" && e.o.Build != "" && b != e.o.Build {
		return b
	}
	return ""
}

// Build names the build of a program by its file: size and time of writing, which move with every
// build and cost no reading of it.
func Build(exe string) string {
	info, err := os.Stat(exe)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x-%x", info.ModTime().UnixMilli(), info.Size())
}
