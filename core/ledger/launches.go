package ledger

import (
	"context"
	"fmt"
	"strings"

	"tower/core"
)

var launchColumns = []string{
	"token", "agent", "cwd", "name", "sprint_node", "script_path", "prompt_path", "requested_at",
	"boot_id", "pid", "proc_start", "matched_asm_id", "matched_at", "expired", "continues_asm_id",
}

func launchTargets(l *core.LaunchRecord) []any {
	return []any{
		textInto[string]{&l.Token, nil}, textInto[core.Agent]{&l.Agent, nil}, textInto[string]{&l.CWD, nil}, textInto[string]{&l.Name, nil},
		textInto[string]{&l.SprintNode, nil}, textInto[string]{&l.ScriptPath, nil}, textInto[string]{&l.PromptPath, nil}, instantInto{&l.RequestedAt},
		textInto[string]{&l.Proc.Boot, nil}, numberInto[int]{&l.Proc.PID}, numberInto[uint64]{&l.Proc.Start},
		textInto[core.SessionID]{&l.Matched, nil}, instantInto{&l.MatchedAt}, flagInto{&l.Expired}, textInto[core.SessionID]{&l.Continues, nil},
	}
}

var upsertLaunch = fmt.Sprintf("INSERT INTO launches (%s) VALUES (%s) ON CONFLICT (token) DO UPDATE SET %s WHERE %s",
	strings.Join(launchColumns, ", "), marks(len(launchColumns)), assign(launchColumns[1:]), differ("launches", launchColumns[1:]))

func (w *writing) launches(list []core.LaunchRecord) error {
	for i := range list {
		l := &list[i]
		_, err := w.exec(upsertLaunch, l.Token, string(l.Agent), text(l.CWD), text(l.Name), text(l.SprintNode), text(l.ScriptPath),
			text(l.PromptPath), instant(l.RequestedAt), text(l.Proc.Boot), number(l.Proc.PID), bits(l.Proc.Start),
			text(l.Matched), instant(l.MatchedAt), l.Expired, text(l.Continues))
		if err != nil {
			return fmt.Errorf("launch %s: %w", l.Token, err)
		}
	}
	return nil
}

// openLaunches returns the launches that wait for their session, oldest first.
func openLaunches(ctx context.Context, q queryer) ([]core.LaunchRecord, error) {
	rows, err := q.QueryContext(ctx, "SELECT "+strings.Join(launchColumns, ", ")+
		" FROM launches WHERE matched_asm_id IS NULL AND expired = 0 ORDER BY requested_at, token")
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
