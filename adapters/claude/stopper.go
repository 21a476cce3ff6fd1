package claude

import (
	"path/filepath"
	"strconv"

	"tower/core"
)

// Stop returns the command that ends a session in the agent's background, see [core.Stopper]. Such a
// session has no terminal to close and a supervisor that would start it again; every other one is
// ended by a signal. The conversation is kept.
func (a *Adapter) Stop(s core.Session, x core.Sighting) (core.Launch, bool) {
	l, ok := a.background("stop", s, x)
	l.NullIn = true
	return l, ok
}

// Attach returns the command that shows a session of the agent's background in a terminal, see
// [core.Attacher]. Leaving it by Ctrl-Z leaves the session running, and so does closing its window.
func (a *Adapter) Attach(s core.Session, x core.Sighting) (core.Launch, bool) {
	return a.background("attach", s, x)
}

// background returns a command about a background session. It runs in the agent's own folder: the job
// is found from anywhere, and the session's folder may be gone.
func (a *Adapter) background(verb string, s core.Session, x core.Sighting) (core.Launch, bool) {
	if x.Caution != backgroundCaution || x.Native != s.Native {
		return core.Launch{}, false
	}
	job := a.job(x)
	if job == "" {
		return core.Launch{}, false
	}
	return core.Launch{Argv: []string{command, verb, job}, Dir: a.info.Root, Set: a.environ(), Unset: scrubbed}, true
}

// job returns the id of a background session's job: what its record says, else what the id of a
// session begins with that was never cleared, which gives it another id and keeps the job's.
func (a *Adapter) job(x core.Sighting) string {
	r, err := readRecord(filepath.Join(a.registry(), strconv.Itoa(x.Proc.PID)+".json"), make([]byte, maxRecord))
	if err == nil && r.Session == x.Native && sameStart(x.Proc.Start, r.Start) && isJob(r.Job) {
		return r.Job
	}
	if core.IsUUID(x.Native) {
		return x.Native[:jobLength]
	}
	return ""
}

// jobLength is how long a job's id is.
const jobLength = 8

// isJob guards the command line: what is no such id might be read as an option.
func isJob(id string) bool {
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(id) == jobLength
}
