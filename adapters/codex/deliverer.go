package codex

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"tower/adapters/jsonl"
	"tower/adapters/rosqlite"
	"tower/core"
)

// longestQueued is the longest text, in bytes, that goes through the queue. The command takes a text as an
// argument only, and one argument holds 131,071 bytes, its own name included.
const longestQueued = 120_000

// Deliver returns the command that puts a text into the thread's queue, from where the window (or the
// daemon) takes it as the next prompt: at once into one of the daemon's threads, within ten seconds into a
// window's own, at the end of the turn while one runs. It neither touches what stands in the composer nor
// starts the daemon, and the text stays as it is to the byte: nothing in it is a command.
//
// A thread without a rollout has no queue. After a turn that was interrupted the queue rests until another
// turn has been given by hand, so then the text has to be typed.
func (a *Adapter) Deliver(s core.Session, x core.Sighting, text string) (core.Launch, bool) {
	switch {
	case !core.IsUUID(s.Native), x.Native != s.Native, x.Transcript == "",
		len(text) > longestQueued, text == "", strings.IndexByte(text, 0) >= 0,
		interrupted(x.Transcript):
		return core.Launch{}, false
	}
	l := core.Launch{
		Argv:   []string{"codex", "queue", "--thread", s.Native, "--message=" + text},
		Dir:    x.CWD,
		Unset:  scrub(),
		NullIn: true,
	}
	if l.Dir == "" {
		l.Dir = s.CWD
	}
	if info, err := os.Stat(l.Dir); err != nil || !info.IsDir() {
		l.Dir = a.info.Root // the thread's own folder is gone; the command needs none
	}
	l.Set = a.home()
	return l, true
}

// interrupted tells whether the last turn that a rollout tells of was broken off.
func interrupted(path string) bool {
	broken := false
	err := newest(context.Background(), path, func(r jsonl.Record) bool {
		if !jsonl.Is(r.Get("type"), "event_msg") {
			return true
		}
		switch string(first(r.Get("payload"))) {
		case "turn_aborted":
			broken = true
			return false
		case "task_started", "turn_started", "task_complete", "turn_complete":
			return false
		}
		return true
	})
	return err == nil && broken
}

// Delivered tells whether the thread's rollout holds the text as a prompt given since then, or its queue
// as one that waits for its turn.
func (a *Adapter) Delivered(ctx context.Context, s core.Session, text string, since core.Instant) (bool, error) {
	// The queue first: looked at the other way round, a text that goes from one to the other in between
	// would be in neither.
	waits, err := a.queued(ctx, s.Native, text, since)
	if err != nil || waits {
		return waits, err
	}
	return a.Typed(ctx, s, text, since)
}

// queued tells whether a text waits in a thread's queue.
func (a *Adapter) queued(ctx context.Context, thread, text string, since core.Instant) (waits bool, err error) {
	path := newestDB(a.info.Root, "queue_")
	if path == "" {
		return false, nil
	}
	err = rosqlite.Read(ctx, path, func(ctx context.Context, db *sql.DB) error {
		waits = false
		rows, err := db.QueryContext(ctx, "SELECT payload_json FROM queued_items WHERE thread_id = ? AND created_at_ms >= ?", thread, int64(since))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var payload []byte
			if err := rows.Scan(&payload); err != nil {
				return err
			}
			waits = waits || composed(texts(jsonl.Get(payload, "UserInput", "content"), "\n")) == composed(text)
		}
		return rows.Err()
	})
	if err != nil {
		return false, fmt.Errorf("read queue: %w", err)
	}
	return waits, nil
}
