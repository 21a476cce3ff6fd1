package inbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tower/core"
)

// Bounds of one drain. A backlog larger than a batch is drained in several, so that a week without
// the tower does not become a heap of memory.
const (
	maxFile  = 8 << 20
	maxFiles = 2000
	maxBatch = 64 << 20
)

// Box is an inbox with its archive and its folder of bad files. It is for one goroutine at a time.
type Box struct {
	inbox, processed, bad string
	now                   func() time.Time
	failed                map[string]string // files that did not parse once, and why
}

// New returns the Box of three folders, which need not exist yet.
func New(inbox, processed, bad string, now func() time.Time) *Box {
	return &Box{inbox: inbox, processed: processed, bad: bad, now: now, failed: map[string]string{}}
}

// Batch is the result of one look at the inbox.
type Batch struct {
	// Items are the events read, ordered by their time, then by name. Each is to be given to Archive
	// once it is applied; until then the next drain finds it again.
	Items []Item
	// Bad are the files that nobody will ever read; each is to be given to Quarantine.
	Bad []Bad
	// Unreadable are files that could not be opened or read for now, with the reason. They stay.
	Unreadable []Bad
	// Later counts files that did not parse and are tried once more at the next drain.
	Later int
	// More says that the batch was full and files are left.
	More bool
}

// Item is one event file.
type Item struct {
	Name     string
	Envelope core.Envelope
}

// Bad is one file that gave no event, and why.
type Bad struct {
	Name   string
	Reason string
}

// Drain reads the folder once and moves nothing. It fails only when the folder cannot be listed; a
// missing folder is an empty one.
func (b *Box) Drain() (Batch, error) {
	var batch Batch
	entries, err := os.ReadDir(b.inbox) // ascending by name, that is by time
	if errors.Is(err, fs.ErrNotExist) {
		return batch, nil
	}
	if err != nil {
		return batch, fmt.Errorf("drain inbox: %w", err)
	}
	failed := map[string]string{}
	size := 0
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, suffix) {
			continue
		}
		if len(batch.Items) >= maxFiles || size >= maxBatch {
			batch.More = true
			if reason, ok := b.failed[name]; ok {
				failed[name] = reason
			}
			continue
		}
		data, err := read(filepath.Join(b.inbox, name))
		size += len(data)
		var envelope core.Envelope
		if err == nil {
			envelope, err = parse(data)
		}
		var final *finalError
		switch {
		case err == nil:
			batch.Items = append(batch.Items, Item{name, envelope})
		case errors.Is(err, fs.ErrNotExist):
			// Somebody else took it away.
		case errors.As(err, &final):
			batch.Bad = append(batch.Bad, Bad{name, final.reason})
		case errors.Is(err, errParse):
			if _, again := b.failed[name]; again {
				batch.Bad = append(batch.Bad, Bad{name, err.Error()})
			} else {
				failed[name] = err.Error()
				batch.Later++
			}
		default:
			batch.Unreadable = append(batch.Unreadable, Bad{name, err.Error()})
		}
	}
	b.failed = failed
	slices.SortStableFunc(batch.Items, func(x, y Item) int {
		return cmp.Or(cmp.Compare(x.Envelope.TS, y.Envelope.TS), cmp.Compare(x.Name, y.Name))
	})
	return batch, nil
}

// errParse marks a file that may be whole the next time; a finalError one that never will be.
var errParse = errors.New("not an event")

type finalError struct{ reason string }

func (e *finalError) Error() string { return e.reason }

// read returns the bytes of an event file. It opens without following a link and without waiting for
// the far end of a pipe: anybody's program may lay things into the folder.
func read(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &finalError{"it is not a regular file"}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &finalError{"it is not a regular file"}
	}
	if info.Size() > maxFile {
		return nil, &finalError{fmt.Sprintf("it has %d bytes, more than %d", info.Size(), maxFile)}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, &finalError{fmt.Sprintf("it has more than %d bytes", maxFile)}
	}
	return data, nil
}

// parse reads an event file. The version comes first: the fields of a later one may mean anything.
func parse(data []byte) (core.Envelope, error) {
	var e core.Envelope
	if len(data) == 0 {
		return e, fmt.Errorf("%w: it is empty", errParse)
	}
	var head struct {
		V *int `json:"v"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return e, fmt.Errorf("%w: %w", errParse, err)
	}
	switch {
	case head.V == nil:
		return e, fmt.Errorf("%w: it has no version", errParse)
	case *head.V > core.EnvelopeVersion:
		return e, &finalError{fmt.Sprintf("its version is %d, this tower reads %d: it was written by a newer one", *head.V, core.EnvelopeVersion)}
	case *head.V < 1:
		return e, &finalError{fmt.Sprintf("its version is %d", *head.V)}
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return core.Envelope{}, fmt.Errorf("%w: %w", errParse, err)
	}
	missing := ""
	switch {
	case e.EventID == "":
		missing = "event_id"
	case e.Agent == "":
		missing = "agent"
	case e.Event == "":
		missing = "event"
	case e.TS == 0:
		missing = "ts"
	}
	if missing != "" {
		return core.Envelope{}, fmt.Errorf("%w: it has no %s", errParse, missing)
	}
	if string(e.Payload) == "null" {
		e.Payload = nil
	}
	return e, nil
}
