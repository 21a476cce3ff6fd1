package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"tower/core"
)

// EventRecord is an event as it was kept.
type EventRecord struct {
	ID       string          `json:"id"`
	Session  core.SessionID  `json:"asm_id"`
	Agent    core.Agent      `json:"agent"`
	Native   string          `json:"agent_session_id"`
	Name     string          `json:"event"` // the agent's own name of it
	Kind     core.EventKind  `json:"kind"`
	At       core.Instant    `json:"ts"`
	Payload  json.RawMessage `json:"payload"`
	Ingested core.Instant    `json:"ingested_at"`
}

const insertEvent = `INSERT INTO events (id, asm_id, agent, agent_session_id, event, kind, ts, payload, ingested_at)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`

// events keeps what is new and returns how many that were.
func (w *writing) events(list []core.Event) (int, error) {
	fresh, at := 0, now()
	for i := range list {
		e := &list[i]
		if e.ID == "" {
			return 0, fmt.Errorf("%w: event without an id", ErrInvalid)
		}
		n, err := w.exec(insertEvent, e.ID, text(e.Session()), text(e.Agent), text(e.Native), text(e.Name), string(e.Kind),
			instant(e.At), text(string(e.Raw)), at.String())
		if err != nil {
			return 0, err
		}
		fresh += int(n)
	}
	return fresh, nil
}

// KnownEvents tells which of the ids are kept already.
func (d *DB) KnownEvents(ctx context.Context, ids []string) (map[string]bool, error) {
	known := map[string]bool{}
	if len(ids) == 0 {
		return known, nil
	}
	list, _ := json.Marshal(ids) // strings cannot fail
	rows, err := d.read.QueryContext(ctx, "SELECT id FROM events WHERE id IN (SELECT value FROM json_each(?))", string(list))
	if err != nil {
		return nil, d.wrap("look up events", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, d.wrap("look up events", err)
		}
		known[id] = true
	}
	return known, d.wrap("look up events", rows.Err())
}

// Events returns the newest events of a session, at most limit, oldest first.
func (d *DB) Events(ctx context.Context, id core.SessionID, limit int) ([]EventRecord, error) {
	rows, err := d.read.QueryContext(ctx, `SELECT id, asm_id, agent, agent_session_id, event, kind, ts, payload, ingested_at
		FROM events WHERE asm_id = ? ORDER BY ts DESC, id DESC LIMIT ?`, string(id), limit)
	if err != nil {
		return nil, d.wrap("read events", err)
	}
	defer rows.Close()
	var list []EventRecord
	for rows.Next() {
		var e EventRecord
		var payload string
		err := rows.Scan(textInto[string]{&e.ID, nil}, textInto[core.SessionID]{&e.Session, nil}, textInto[core.Agent]{&e.Agent, nil},
			textInto[string]{&e.Native, nil}, textInto[string]{&e.Name, nil}, textInto[core.EventKind]{&e.Kind, nil}, instantInto{&e.At},
			textInto[string]{&payload, nil}, instantInto{&e.Ingested})
		if err != nil {
			return nil, d.wrap("read events", err)
		}
		if payload != "" {
			e.Payload = json.RawMessage(payload)
		}
		list = append(list, e)
	}
	slices.Reverse(list)
	return list, d.wrap("read events", rows.Err())
}
