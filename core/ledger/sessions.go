package ledger

import (
	"fmt"
	"strings"

	"tower/core"
)

// sessionColumns are the columns of sessions in the order of bindSession and of sessionTargets. The
// first three identify the row and never change.
var sessionColumns = []string{
	"asm_id", "agent", "agent_session_id",
	"name", "agent_name", "agent_title", "cwd", "project", "primary_folder", "model", "transcript_path", "version",
	"source", "entrypoint", "kind", "thread_source", "nested", "pid_shared", "harness", "hidden_by_hand",
	"started_at", "last_seen", "ended_at", "status", "end_reason",
	"parent_asm_id", "follows_asm_id", "forked_from", "continues_asm_id", "resumed_from_asm_id", "resumed_by",
	"description", "tags", "closeout_state", "archived", "first_message", "summary",
	"context_tokens", "context_window", "context_stale", "turns",
}

func bindSession(s *core.Session) []any {
	return []any{
		string(s.ID), string(s.Agent), s.Native,
		text(s.Name), text(s.AgentName), text(s.AgentTitle), text(s.CWD), text(s.Project), text(s.Folder), text(s.Model), text(s.Transcript), text(s.Version),
		text(s.Source), text(s.Entrypoint), text(s.Class), text(s.ThreadSource), maybeFlag(s.Nested), maybeFlag(s.PIDShared), s.Harness, s.ByHand,
		instant(s.StartedAt), instant(s.LastSeen), instant(s.EndedAt), string(s.Status), text(s.EndReason),
		text(s.Parent), text(s.Follows), text(s.ForkedFrom), text(s.Continues), text(s.ResumedFrom), text(s.ResumedBy),
		text(s.Description), tags(s.Tags), text(s.Closeout), s.Archived, text(s.FirstMessage), text(s.Summary),
		maybe(s.ContextTokens), maybe(s.ContextWindow), s.ContextStale, maybe(s.Turns),
	}
}

func sessionTargets(s *core.Session, p pool) []any {
	return []any{
		textInto[core.SessionID]{&s.ID, nil}, textInto[core.Agent]{&s.Agent, p}, textInto[string]{&s.Native, nil},
		textInto[string]{&s.Name, nil}, textInto[string]{&s.AgentName, nil}, textInto[string]{&s.AgentTitle, nil}, textInto[string]{&s.CWD, p}, textInto[string]{&s.Project, p},
		textInto[string]{&s.Folder, p}, textInto[string]{&s.Model, p}, textInto[string]{&s.Transcript, nil}, textInto[string]{&s.Version, p},
		textInto[string]{&s.Source, p}, textInto[string]{&s.Entrypoint, p}, textInto[core.Class]{&s.Class, p}, textInto[string]{&s.ThreadSource, p},
		maybeFlagInto{&s.Nested}, maybeFlagInto{&s.PIDShared}, flagInto{&s.Harness}, flagInto{&s.ByHand},
		instantInto{&s.StartedAt}, instantInto{&s.LastSeen}, instantInto{&s.EndedAt}, textInto[core.Status]{&s.Status, p}, textInto[string]{&s.EndReason, p},
		textInto[core.SessionID]{&s.Parent, nil}, textInto[core.SessionID]{&s.Follows, nil}, textInto[core.SessionID]{&s.ForkedFrom, nil},
		textInto[core.SessionID]{&s.Continues, nil}, textInto[core.SessionID]{&s.ResumedFrom, nil}, textInto[string]{&s.ResumedBy, p},
		textInto[string]{&s.Description, nil}, jsonInto{&s.Tags}, textInto[core.Closeout]{&s.Closeout, p}, flagInto{&s.Archived},
		textInto[string]{&s.FirstMessage, nil}, textInto[string]{&s.Summary, nil},
		maybeInto{&s.ContextTokens}, maybeInto{&s.ContextWindow}, flagInto{&s.ContextStale}, maybeInto{&s.Turns},
	}
}

// upsertSession writes a whole row by asm_id. Once a source has told turns of the session, their
// number is the ledger's to say and the row's own is not looked at.
var upsertSession = fmt.Sprintf(`INSERT INTO sessions (%s) VALUES (%s)
	ON CONFLICT (asm_id) DO UPDATE SET %s, turns = CASE
		WHEN EXISTS (SELECT 1 FROM turn_sources WHERE session = sessions.key) THEN sessions.turns
		ELSE excluded.turns END
	WHERE %s`,
	strings.Join(sessionColumns, ", "), marks(len(sessionColumns)),
	assign(sessionColumns[3:len(sessionColumns)-1]), differ("sessions", sessionColumns[3:]))

func (w *writing) sessions(list []core.Session) error {
	for i := range list {
		s := &list[i]
		if _, err := w.exec(upsertSession, bindSession(s)...); err != nil {
			return fmt.Errorf("session %s: %w", s.ID, err)
		}
	}
	return nil
}

// marks returns n parameter marks.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// assign returns the SET list of an upsert that takes the new value of each column.
func assign(columns []string) string {
	var b strings.Builder
	for i, c := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c + " = excluded." + c)
	}
	return b.String()
}

// differ returns a condition that holds when one of the columns would change, so that writing what is
// there already writes nothing.
func differ(table string, columns []string) string {
	return fmt.Sprintf("(%s.%s) IS NOT (excluded.%s)", table, strings.Join(columns, ", "+table+"."), strings.Join(columns, ", excluded."))
}
