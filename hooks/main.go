// Command tower-hook records one hook call of an agent: AGENT and EVENT on its command line, the
// agent's own JSON on its standard input, one file in the inbox of its home. It promises to be out
// of the way: once it has its input it ends within a quarter of a second, whatever that is, exits 0 always, prints
// nothing (except, when a session starts, the rules prepared for that agent), and works with the
// tower down. Agents run it, and nobody else has to. It decides nothing, asks no network, no database
// and no lock, and links nothing but the standard library, because it is paid for at every turn.
//
// # Its home
//
// The program lies in the bin folder of a home, and that place alone says where events go. The
// environment is the agent's, and may have any HOME, XDG_DATA_HOME or TOWER_HOME in it.
//
// # Its deadline
//
// Reading may take 200 ms: then what has arrived is all there is, and the event is written with a
// null payload. The ancestry has a little longer and is given up next. The event never is. The clock
// starts with the first byte of input, for at most a second: on a machine so busy that the agent has
// not come to write yet, nobody waits for the hook, and an event of no session would help nobody.
package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"tower/core"
	"tower/core/home"
	"tower/core/inbox"
	"tower/core/proc"
)

// firstByte is how long the hook waits for any input at all.
const firstByte = time.Second

// How long after its first input the hook still waits for what.
const (
	inputDeadline    = 200 * time.Millisecond
	ancestryDeadline = 220 * time.Millisecond
	rulesDeadline    = 240 * time.Millisecond
)

func main() {
	// Whatever happens: an exit code other than 0 blocks a prompt or shows an error to a person who
	// never asked for a hook.
	defer os.Exit(0)
	defer func() { _ = recover() }()
	call := call{began: time.Now(), home: home.ForHook(program())}
	if len(os.Args) > 1 {
		call.agent = core.Agent(os.Args[1])
	}
	if len(os.Args) > 2 {
		call.event = os.Args[2]
	}
	call.run()
}

func program() string {
	if p, err := os.Executable(); err == nil {
		return p
	}
	p, _ := filepath.Abs(os.Args[0])
	return p
}

// call is one hook call on its way into the inbox.
type call struct {
	began time.Time
	late  time.Duration // by how much the input came after its time
	home  home.Home
	agent core.Agent
	event string
	id    string
	boot  string
	notes []string // what the log line says besides
}

// run records the call and logs how it went.
func (c *call) run() {
	defer c.settle()
	c.id = core.UUID4()
	c.boot = proc.Boot()
	ancestry := findAncestry(c.home, c.agent, c.boot)
	var in input
	c.late = in.read(os.Stdin, c.began)
	payload, missing := in.payload()
	if missing != "" {
		c.note("no payload: " + missing)
	}
	told := fields(in.buf)
	if !plain(c.event) && plain(told["hook_event_name"]) {
		c.event = told["hook_event_name"]
	}
	if !plain(string(c.agent)) || !plain(c.event) {
		c.note("failed: usage is tower-hook AGENT EVENT")
		return
	}

	e := c.envelope(told)
	e.Payload = payload
	c.addAncestry(e, ancestry)
	if !c.write(e) || c.event != "SessionStart" || e.CWD == nil {
		return
	}
	c.printRules(*e.CWD)
}

// settle is deferred by run: it logs how the call went, a panic included.
func (c *call) settle() {
	switch p := recover().(type) {
	case nil:
	case error:
		c.note("panic: " + p.Error())
	case string:
		c.note("panic: " + p)
	default:
		c.note("panic")
	}
	c.log()
}

// write puts the event into the inbox, without its payload when that is no JSON after all.
func (c *call) write(e *core.Envelope) bool {
	ms := float64(time.Since(c.began).Microseconds()) / 1000
	e.HookMS = &ms
	_, err := inbox.Write(c.home.Inbox(), e)
	if errors.Is(err, inbox.ErrPayload) {
		c.note("no payload: it is not JSON")
		e.Payload = nil
		_, err = inbox.Write(c.home.Inbox(), e)
	}
	if err != nil {
		c.note("failed: " + err.Error())
		return false
	}
	c.note("written")
	return true
}

func (c *call) until(deadline time.Duration) time.Time { return c.began.Add(c.late + deadline) }

func (c *call) note(s string) { c.notes = append(c.notes, s) }

// plain tells whether a word of the command line can stand in a path and in a line of a log.
func plain(s string) bool {
	for i, r := range s {
		if r != '-' && r != '_' && (r != '.' || i == 0) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
