-- What a launch needs beside its request: the model and who asked, the session it must become, and what
-- the launcher told of its home before it became the agent. home is where it was opened (window, tmux),
-- window the terminal's own id of it. A launch may end without a session; failed says why.

ALTER TABLE launches ADD COLUMN model TEXT;
ALTER TABLE launches ADD COLUMN asked_by TEXT;
ALTER TABLE launches ADD COLUMN expect_asm_id TEXT;
ALTER TABLE launches ADD COLUMN resumes INTEGER NOT NULL DEFAULT 0 CHECK (resumes IN (0, 1));
ALTER TABLE launches ADD COLUMN home TEXT;
ALTER TABLE launches ADD COLUMN terminal TEXT;
ALTER TABLE launches ADD COLUMN tty TEXT;
ALTER TABLE launches ADD COLUMN window TEXT;
ALTER TABLE launches ADD COLUMN pane TEXT;
ALTER TABLE launches ADD COLUMN ended_at TEXT;
ALTER TABLE launches ADD COLUMN failed TEXT;

-- An expired launch may still be bound by its token, so expiry leaves it in the index.
DROP INDEX launches_open;
CREATE INDEX launches_open ON launches (requested_at) WHERE matched_asm_id IS NULL AND ended_at IS NULL;
CREATE INDEX launches_newest ON launches (requested_at, token);
CREATE INDEX intents_newest ON intents (asked_at, id);
