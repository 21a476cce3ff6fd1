package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tower/adapters/jsonl"
	"tower/core"
)

// record is one file of the agent's registry of running sessions, sessions/PID.json. The agent
// rewrites it in place within a tenth of a second of every change and unlinks it at every end but a
// crash.
type record struct {
	PID        int    `json:"pid"`
	Session    string `json:"sessionId"`
	CWD        string `json:"cwd"`
	Start      string `json:"procStart"`
	Version    string `json:"version"`
	Kind       string `json:"kind"`
	Entrypoint string `json:"entrypoint"`
	Name       string `json:"name"`
	NameSource string `json:"nameSource"`
	Status     string `json:"status"`
	WaitingFor string `json:"waitingFor"`
	StatusAt   int64  `json:"statusUpdatedAt"`
	StartedAt  int64  `json:"startedAt"`
	Job        string `json:"jobId"` // of a background session
}

// maxRecord bounds what is read of one file; a real one has some 400 bytes.
const maxRecord = 16 << 10

var errTooLong = errors.New("longer than any record")

// backgroundCaution is why END has no process to signal.
const backgroundCaution = "It runs in Claude Code's background and is ended by its own stop command."

// Evidence returns what the registry says of processes that the table confirms: same pid, same
// creation time, an executable of this agent. The file alone proves nothing, since a crash leaves it
// behind and pids come again; files that prove nothing are left alone. A file caught half-written is
// read a second time after the others and then passed over for this once.
func (a *Adapter) Evidence(ctx context.Context, t core.Table) ([]core.Sighting, error) {
	dir := a.registry()
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read registry: %w", err)
	}
	var seen []core.Sighting
	var torn []core.Proc
	buf := make([]byte, maxRecord)
	look := func(p core.Proc) {
		r, err := readRecord(filepath.Join(dir, strconv.Itoa(p.PID)+".json"), buf)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			torn = append(torn, p)
		default:
			if s, ok := a.judge(t, p, r); ok {
				seen = append(seen, s)
			}
		}
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		name, ok := strings.CutSuffix(f.Name(), ".json")
		pid, err := strconv.Atoi(name)
		if !ok || err != nil {
			continue
		}
		// The table is asked first: a file left behind by a dead process is not even opened.
		if p, ok := t.Proc(pid); ok && !p.Dead() && a.runs(t, pid) {
			look(p)
		}
	}
	again := torn
	torn = nil
	for _, p := range again {
		look(p)
	}
	return seen, nil
}

// Watch returns the folder whose changes are worth a look.
func (a *Adapter) Watch() []string { return []string{a.registry()} }

func (a *Adapter) registry() string { return filepath.Join(a.info.Root, "sessions") }

// runs tells whether a process is this agent's. What cannot be read is unknown and counts as no.
func (a *Adapter) runs(t core.Table, pid int) bool {
	exe, ok := t.Exe(pid)
	if ok && a.info.MatchExe(exe, nil) {
		return true
	}
	if len(a.info.Argv) == 0 {
		return false
	}
	args, ok := t.Args(pid)
	return ok && a.info.MatchExe("", args)
}

// readRecord reads one file through buf, which it may use up.
func readRecord(path string, buf []byte) (record, error) {
	var r record
	f, err := jsonl.Open(path)
	if err != nil {
		return r, err
	}
	n, err := io.ReadFull(f, buf)
	f.Close()
	switch {
	case err == nil:
		return r, errTooLong
	case !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF:
		return r, err
	}
	err = json.Unmarshal(buf[:n], &r)
	if bad := (*json.UnmarshalTypeError)(nil); errors.As(err, &bad) {
		err = nil // a field in a new form; what we know of the others still holds
	}
	return r, err
}

// judge turns a record into a sighting if it is about this very process.
func (a *Adapter) judge(t core.Table, p core.Proc, r record) (core.Sighting, bool) {
	if r.PID != p.PID || r.Session == "" || !sameStart(p.Start, r.Start) {
		return core.Sighting{}, false
	}
	if r.Kind == "daemon" || r.Kind == "daemon-worker" {
		return core.Sighting{}, false
	}
	proc := core.Process{Boot: t.Boot(), PID: p.PID, Start: p.Start}
	s := core.Sighting{
		Agent:      a.info.Agent,
		Native:     r.Session,
		Proc:       proc,
		Signal:     []core.Process{proc},
		MustGo:     []core.Process{proc},
		Grade:      core.GradeRecord,
		Raw:        r.Status,
		Final:      true,
		At:         core.Instant(r.StatusAt),
		Class:      classOf(r.Entrypoint),
		CWD:        r.CWD,
		Entrypoint: r.Entrypoint,
		Version:    r.Version,
		TTY:        p.TTY,
	}
	if r.NameSource != "derived" {
		s.Name = r.Name
	}
	switch r.Kind {
	case "interactive":
	case "bg":
		s.Signal, s.Caution = nil, backgroundCaution
	default:
		s.Class = "" // a kind nobody knows: its transcript will tell
	}
	switch r.Status {
	case "busy":
		s.Pill = core.PillWorking
	case "idle":
		s.Pill = core.PillIdle
	case "shell":
		s.Pill = core.PillShell
	case "waiting":
		s.Pill, s.Wait, s.Reason = core.PillWaiting, waits[r.WaitingFor], r.WaitingFor
	case "":
		s.Pill, s.At = core.PillStarting, core.Instant(r.StartedAt)
		if s.Class == core.ClassHeadless {
			s.Pill = "" // a one-shot never writes a status
		}
	default:
		s.Pill = core.PillOther
	}
	return s, true
}

// waits are the agent's words for what it waits for. A question and a plan to be approved read
// "permission prompt" as well: the hook knows better, and the reducer lets it.
var waits = map[string]core.Wait{
	"permission prompt": core.WaitPermission,
	"sandbox request":   core.WaitPermission,
	"worker request":    core.WaitPermission,
	"input needed":      core.WaitQuestion,
	"dialog open":       core.WaitDialog,
}

// lstart is how the agent writes a creation time on macOS, in UTC.
const lstart = "Mon Jan _2 15:04:05 2006"

// sameStart compares the table's raw creation time with the agent's text of it: the very integer, or
// (macOS, where it was not run) a time of one-second precision against microseconds since 1970.
func sameStart(raw uint64, recorded string) bool {
	if recorded == strconv.FormatUint(raw, 10) {
		return raw != 0
	}
	at, err := time.Parse(lstart, recorded)
	return err == nil && at.Unix() > 0 && raw/1_000_000 == uint64(at.Unix())
}
