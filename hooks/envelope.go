package main

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"tower/core"
	"tower/core/home"
	"tower/core/proc"
)

const (
	maxAncestors = 8
	maxToken     = 200     // bytes of a launch token
	maxAgents    = 1 << 20 // bytes of the prepared list
)

// envelope fills in what the payload and the environment tell. What is not known stays null.
func (c *call) envelope(told map[string]string) *core.Envelope {
	e := &core.Envelope{
		V:              core.EnvelopeVersion,
		EventID:        c.id,
		Agent:          c.agent,
		Event:          c.event,
		TS:             core.InstantOf(c.began),
		AgentSessionID: first(told["session_id"], told["sessionId"], ofAgent(c.agent, "SESSION_ID")),
		TranscriptPath: first(told["transcript_path"]),
		Source:         first(told["source"], told["reason"]),
		SessionName:    first(name(os.Getenv("TOWER_NAME"))),
		BootID:         first(c.boot),
		Entrypoint:     first(ofAgent(c.agent, "ENTRYPOINT")),
	}
	if token := os.Getenv("TOWER_LAUNCH"); len(token) <= maxToken {
		e.LaunchToken = first(token)
	}
	if e.AgentSessionID != nil {
		id := core.NewSessionID(c.agent, *e.AgentSessionID)
		e.ASMID = &id
	}
	e.CWD = first(told["cwd"])
	if e.CWD == nil {
		own, _ := os.Getwd()
		e.CWD = first(own)
	}
	return e
}

// first returns the first value that is not empty, or nil.
func first(values ...string) *string {
	for _, v := range values {
		if v != "" {
			return &v
		}
	}
	return nil
}

func name(s string) string {
	if len(s) > core.MaxName {
		s = strings.ToValidUTF8(s[:core.MaxName], "")
	}
	return s
}

// ofAgent reads what the agent says of itself in the hook's environment: how it was started, and the
// session, should its payload not come. The variable bears the agent's name, and only that one counts:
// an agent inside another one inherits the other's.
func ofAgent(agent core.Agent, what string) string {
	upper := strings.ToUpper(string(agent))
	for _, variable := range []string{upper + "_CODE_" + what, upper + "_" + what} {
		if v := os.Getenv(variable); v != "" {
			return v
		}
	}
	return ""
}

// ancestry is what stands above the hook, and what that says of the agent by the list the tower
// prepared; known is false without such a list.
type ancestry struct {
	chain   []core.Ancestor
	lineage core.Lineage
	known   bool
}

// findAncestry begins to look, beside the reading of the input. It may never answer: a process that
// is stuck in the kernel holds up whoever reads its arguments.
func findAncestry(h home.Home, agent core.Agent, boot string) <-chan ancestry {
	found := make(chan ancestry, 1)
	go func() {
		defer func() { _ = recover() }()
		a := ancestry{chain: proc.Ancestors(os.Getpid(), maxAncestors)}
		if agents, ok := preparedAgents(h); ok {
			a.known = true
			a.lineage = core.ReadAncestry(boot, agents, agent, a.chain, nil)
		}
		found <- a
	}()
	return found
}

// preparedAgents reads what ReadAncestry needs of the list of agents. Decoding all of a core.AgentInfo
// would cost as much as reading all ancestors.
func preparedAgents(h home.Home) ([]core.AgentInfo, bool) {
	b, err := readSmall(h.PreparedAgents(), maxAgents)
	if err != nil {
		return nil, false
	}
	var list []struct {
		Agent   core.Agent `json:"agent"`
		Exe     []string   `json:"exe"`
		Argv    []string   `json:"argv"`
		Helpers []string   `json:"helpers"`
	}
	if json.Unmarshal(b, &list) != nil {
		return nil, false
	}
	agents := make([]core.AgentInfo, len(list))
	for i, a := range list {
		agents[i] = core.AgentInfo{Agent: a.Agent, Exe: a.Exe, Argv: a.Argv, Helpers: a.Helpers}
	}
	return agents, true
}

// addAncestry waits for the ancestry as long as there is time, and then does without.
func (c *call) addAncestry(e *core.Envelope, found <-chan ancestry) {
	a, ok := await(found, c.until(ancestryDeadline))
	if !ok {
		c.note("no ancestry: it took too long")
		return
	}
	e.Ancestors = a.chain
	if !a.known || !a.lineage.Proc.Known() {
		return
	}
	e.AgentPID, e.AgentProcStart = &a.lineage.Proc.PID, &a.lineage.Proc.Start
	e.Nested, e.PIDShared = a.lineage.Nested, &a.lineage.Shared
}

// await takes an answer that is there, or waits for it until the deadline. What is there needs no
// timer, and the first timer of a program costs a thread.
func await[T any](answer <-chan T, deadline time.Time) (T, bool) {
	if len(answer) > 0 {
		return <-answer, true
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case a := <-answer:
		return a, true
	case <-timer.C:
		var none T
		return none, false
	}
}
