package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tower/core"
)

// binds is how long after its request the token of a launch that led to nothing may still name the
// launch of a session: as long as the launcher's files are kept.
const binds = 14 * 24 * time.Hour

var launchColumns = []string{
	"token", "agent", "cwd", "name", "model", "sprint_node", "script_path", "prompt_path", "asked_by", "requested_at",
	"continues_asm_id", "expect_asm_id", "resumes", "home", "terminal", "boot_id", "pid", "proc_start", "tty", "window", "pane",
	"matched_asm_id", "matched_at", "expired", "ended_at", "failed",
}

func launchTargets(l *core.LaunchRecord) []any {
	return []any{
		textInto[string]{&l.Token, nil}, textInto[core.Agent]{&l.Agent, nil}, textInto[string]{&l.CWD, nil}, textInto[string]{&l.Name, nil},
		textInto[string]{&l.Model, nil}, textInto[string]{&l.SprintNode, nil}, textInto[string]{&l.ScriptPath, nil}, textInto[string]{&l.PromptPath, nil},
		textInto[string]{&l.AskedBy, nil}, instantInto{&l.RequestedAt},
		textInto[core.SessionID]{&l.Continues, nil}, textInto[core.SessionID]{&l.Expect, nil}, flagInto{&l.Resumes},
		textInto[string]{&l.Home, nil}, textInto[string]{&l.Terminal, nil},
		textInto[string]{&l.Proc.Boot, nil}, numberInto[int]{&l.Proc.PID}, numberInto[uint64]{&l.Proc.Start},
		textInto[string]{&l.TTY, nil}, textInto[string]{&l.Window, nil}, textInto[string]{&l.Pane, nil},
		textInto[core.SessionID]{&l.Matched, nil}, instantInto{&l.MatchedAt}, flagInto{&l.Expired},
		instantInto{&l.EndedAt}, textInto[string]{&l.Failed, nil},
	}
}

var upsertLaunch = fmt.Sprintf("INSERT INTO launches (%s) VALUES (%s) ON CONFLICT (token) DO UPDATE SET %s WHERE %s",
	strings.Join(launchColumns, ", "), marks(len(launchColumns)), assign(launchColumns[1:]), differ("launches", launchColumns[1:]))

func (w *writing) launches(list []core.LaunchRecord) error {
	for i := range list {
		l := &list[i]
		_, err := w.exec(upsertLaunch, l.Token, string(l.Agent), text(l.CWD), text(l.Name),
			text(l.Model), text(l.SprintNode), text(l.ScriptPath), text(l.PromptPath),
			text(l.AskedBy), instant(l.RequestedAt),
			text(l.Continues), text(l.Expect), l.Resumes,
			text(l.Home), text(l.Terminal),
			text(l.Proc.Boot), number(l.Proc.PID), bits(l.Proc.Start),
			text(l.TTY), text(l.Window), text(l.Pane),
			text(l.Matched), instant(l.MatchedAt), l.Expired,
			instant(l.EndedAt), text(l.Failed))
		if err != nil {
			return fmt.Errorf("launch %s: %w", l.Token, err)
		}
	}
	return nil
}

// openLaunches returns the launches that still matter, oldest first: those that a session may answer, neither
// matched nor ended and either waited for or requested so lately that their token still binds; and those that a
// run which is not closed came from.
func openLaunches(ctx context.Context, q queryer, at core.Instant) ([]core.LaunchRecord, error) {
	return readLaunches(ctx, q, "matched_asm_id IS NULL AND ended_at IS NULL AND (expired = 0 OR requested_at >= ?)"+
		" OR token IN (SELECT launch_token FROM runs WHERE ended_at IS NULL) ORDER BY requested_at, token",
		core.InstantOf(at.Time().Add(-binds)).String())
}

// Launches returns the launches requested last, at most limit, newest first.
func (d *DB) Launches(ctx context.Context, limit int) ([]core.LaunchRecord, error) {
	list, err := readLaunches(ctx, d.read, "true ORDER BY requested_at DESC, token DESC LIMIT ?", max(limit, 0))
	if err != nil {
		return nil, d.wrap("read launches", err)
	}
	return list, nil
}

func readLaunches(ctx context.Context, q queryer, where string, args ...any) ([]core.LaunchRecord, error) {
	rows, err := q.QueryContext(ctx, "SELECT "+strings.Join(launchColumns, ", ")+" FROM launches WHERE "+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []core.LaunchRecord
	var l core.LaunchRecord
	targets := launchTargets(&l)
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, rows.Err()
}
