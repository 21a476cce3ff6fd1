// Package inbox is the folder through which hook calls reach the tower: the hook writes one file for
// each call, the tower drains them. It promises that a file is whole or not there, that none is lost
// (it ends in the dated archive or, when nobody can read it, in the folder of bad ones), and that no
// file, however broken, hostile or half gone, stops the others. The hook and the launcher write, the
// engine drains; the hook's speed forbids anything but the standard library here. It never judges
// what an event means, never waits for a disk, and removes only files whose names it gave itself.
//
// # Life of a file
//
//	inbox/<unix ms>-<event id>.json.tmp        being written; never read
//	inbox/<unix ms>-<event id>.json            to be drained
//	processed/<UTC date>/<the same name>       applied; pruned after the days of retention
//	bad/<the same name>                        for a person to look at; never pruned
package inbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tower/core"
)

const (
	suffix    = ".json"
	tmpSuffix = ".json.tmp"
)

// ErrPayload is what Write returns for a payload that is not one JSON value. Nothing is written then.
var ErrPayload = errors.New("payload is not JSON")

// Write puts an envelope into the inbox dir, which it makes if it has to, and returns the file's
// name. The payload is kept byte for byte. The file appears whole or, on an error, not at all; it is
// not flushed to the disk, because that would cost every turn of every agent more than all the rest,
// and what a power cut takes the transcript still has.
func Write(dir string, e *core.Envelope) (name string, err error) {
	if !core.IsUUID(e.EventID) {
		return "", fmt.Errorf("write event: its id %q is not a UUID", e.EventID)
	}
	data, err := encode(e)
	if err != nil {
		return "", fmt.Errorf("write event: %w", err)
	}
	name = strconv.FormatInt(int64(e.TS), 10) + "-" + e.EventID + suffix
	tmp := filepath.Join(dir, strings.TrimSuffix(name, suffix)+tmpSuffix)
	err = create(tmp, data)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = create(tmp, data)
		}
	}
	if err != nil {
		return "", fmt.Errorf("write event: %w", err)
	}
	if err := rename(tmp, filepath.Join(dir, name)); err != nil {
		os.Remove(tmp)
		return "", fmt.Errorf("write event: %w", err)
	}
	return name, nil
}

// ours tells whether Write gives files such a name, with the suffix taken off. Nothing else is ever
// removed.
func ours(stem string) bool {
	ms, id, ok := strings.Cut(stem, "-")
	if !ok || ms == "" || !core.IsUUID(id) {
		return false
	}
	for _, c := range ms {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
