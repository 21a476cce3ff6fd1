package ledger

// HiddenSQL is 1 for a session that does not count, else 0, over a row of sessions named s. It is the
// twin of core.Session.HiddenWhy; a property test compares the two on rows of this very table.
const HiddenSQL = `(s.hidden_by_hand = 1
	OR s.nested IS 1
	OR coalesce(s.kind, '') IN ('subagent', 'headless', 'export')
	OR coalesce(s.thread_source, 'user') <> 'user'
	OR s.harness = 1
	OR (s.status IN ('ended', 'lost', 'killed') AND s.name IS NULL AND coalesce(s.turns, 0) <= 1))`
