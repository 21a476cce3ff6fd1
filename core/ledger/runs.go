package ledger

import (
	"context"
	"fmt"

	"tower/core"
)

const runColumns = "run_id, asm_id, boot_id, pid, proc_start, launch_token, wrapper_pid, started_at, ended_at, start_source, shared"

func runTargets(r *core.Run) []any {
	return []any{
		numberInto[int64]{&r.ID}, textInto[core.SessionID]{&r.Session, nil},
		textInto[string]{&r.Proc.Boot, nil}, numberInto[int]{&r.Proc.PID}, numberInto[uint64]{&r.Proc.Start},
		textInto[string]{&r.LaunchToken, nil}, numberInto[int]{&r.WrapperPID},
		instantInto{&r.StartedAt}, instantInto{&r.EndedAt}, textInto[string]{&r.StartSource, nil}, flagInto{&r.Shared},
	}
}

// upsertRun matches by session and process. What was known of a run's beginning stays when it is told
// again without it; its end is what was told last, so that a run can be open again.
const upsertRun = `INSERT INTO runs (asm_id, boot_id, pid, proc_start, launch_token, wrapper_pid, started_at, ended_at, start_source, shared)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (asm_id, coalesce(boot_id, ''), coalesce(pid, 0), coalesce(proc_start, 0)) DO UPDATE SET
		launch_token = coalesce(excluded.launch_token, launch_token),
		wrapper_pid = coalesce(excluded.wrapper_pid, wrapper_pid),
		started_at = coalesce(started_at, excluded.started_at),
		start_source = coalesce(start_source, excluded.start_source),
		ended_at = excluded.ended_at,
		shared = excluded.shared`

func (w *writing) runs(list []core.Run) error {
	for i := range list {
		r := &list[i]
		_, err := w.exec(upsertRun, string(r.Session), text(r.Proc.Boot), number(r.Proc.PID), bits(r.Proc.Start), text(r.LaunchToken),
			number(r.WrapperPID), instant(r.StartedAt), instant(r.EndedAt), text(r.StartSource), r.Shared)
		if err != nil {
			return fmt.Errorf("run of session %s: %w", r.Session, err)
		}
	}
	return nil
}

func readRuns(ctx context.Context, q queryer, where string, args ...any) ([]core.Run, error) {
	rows, err := q.QueryContext(ctx, "SELECT "+runColumns+" FROM runs WHERE "+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []core.Run
	var r core.Run
	targets := runTargets(&r)
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}
