package ledger

import (
	"context"
	"fmt"
	"strings"

	"tower/core"
)

var intentColumns = []string{"id", "action", "asm_id", "node_id", "token", "asked_by", "asked_at", "detail", "ended_at", "outcome"}

func intentTargets(i *core.Intent) []any {
	return []any{
		textInto[string]{&i.ID, nil}, textInto[core.CommandKind]{&i.Action, nil}, textInto[core.SessionID]{&i.Session, nil},
		textInto[string]{&i.Node, nil}, textInto[string]{&i.Token, nil}, textInto[string]{&i.AskedBy, nil}, instantInto{&i.AskedAt},
		textInto[string]{&i.Detail, nil}, instantInto{&i.EndedAt}, textInto[string]{&i.Outcome, nil},
	}
}

var upsertIntent = fmt.Sprintf("INSERT INTO intents (%s) VALUES (%s) ON CONFLICT (id) DO UPDATE SET %s WHERE %s",
	strings.Join(intentColumns, ", "), marks(len(intentColumns)), assign(intentColumns[1:]), differ("intents", intentColumns[1:]))

// intents keeps each as it is told last. One that does not say what was asked, by whom and when is no
// record of anything.
func (w *writing) intents(list []core.Intent) error {
	for k := range list {
		i := &list[k]
		if i.ID == "" || i.Action == "" {
			return fmt.Errorf("%w: intent without an id or an action", ErrInvalid)
		}
		_, err := w.exec(upsertIntent, i.ID, string(i.Action), text(i.Session), text(i.Node), text(i.Token),
			text(i.AskedBy), instant(i.AskedAt), text(i.Detail), instant(i.EndedAt), text(i.Outcome))
		if err != nil {
			return fmt.Errorf("intent %s: %w", i.ID, err)
		}
	}
	return nil
}

// Interrupt closes every intent that has no end as interrupted at the given time, and returns how many
// those were. The engine calls it once, at its start: whoever worked on them is gone.
func (d *DB) Interrupt(ctx context.Context, at core.Instant) (int, error) {
	if d.write == nil {
		return 0, errReader
	}
	if at == 0 {
		return 0, fmt.Errorf("interrupt intents: %w: no time is given", ErrInvalid)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.here(); err != nil {
		return 0, d.wrap("write", err)
	}
	r, err := d.write.ExecContext(ctx, "UPDATE intents SET ended_at = ?, outcome = ? WHERE ended_at IS NULL", at.String(), core.IntentInterrupted)
	if err != nil {
		return 0, d.wrap("interrupt intents", err)
	}
	n, err := r.RowsAffected()
	return int(n), d.wrap("interrupt intents", err)
}

// Intents returns what was asked for last, at most limit, newest first.
func (d *DB) Intents(ctx context.Context, limit int) ([]core.Intent, error) {
	rows, err := d.read.QueryContext(ctx, "SELECT "+strings.Join(intentColumns, ", ")+
		" FROM intents ORDER BY asked_at DESC, id DESC LIMIT ?", max(limit, 0))
	if err != nil {
		return nil, d.wrap("read intents", err)
	}
	defer rows.Close()
	var list []core.Intent
	var i core.Intent
	targets := intentTargets(&i)
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, d.wrap("read intents", err)
		}
		list = append(list, i)
	}
	return list, d.wrap("read intents", rows.Err())
}
