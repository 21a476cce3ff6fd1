-- The whole schema. Instants are ISO 8601 text in UTC with milliseconds; NULL is unknown, never 0 and
-- never ''. Flags are 0 or 1. The one exception is turns, a derived index of very many small rows:
-- integer session key, integer milliseconds since 1970.

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE settings (
    key        TEXT NOT NULL PRIMARY KEY,
    value      TEXT NOT NULL,
    changed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row a conversation. key is what turns and turn_sources refer to: unlike a bare rowid it
-- survives VACUUM.
CREATE TABLE sessions (
    key                  INTEGER PRIMARY KEY,
    asm_id               TEXT NOT NULL UNIQUE CHECK (asm_id <> ''),
    agent                TEXT NOT NULL CHECK (agent <> ''),
    agent_session_id     TEXT NOT NULL CHECK (agent_session_id <> ''),
    name                 TEXT,
    agent_name           TEXT, -- the name last seen inside the agent
    agent_title          TEXT,
    cwd                  TEXT,
    project              TEXT,
    primary_folder       TEXT,
    model                TEXT,
    transcript_path      TEXT,
    version              TEXT,
    source               TEXT,
    entrypoint           TEXT,
    kind                 TEXT,
    thread_source        TEXT,
    nested               INTEGER CHECK (nested IN (0, 1)),
    pid_shared           INTEGER CHECK (pid_shared IN (0, 1)),
    harness              INTEGER NOT NULL CHECK (harness IN (0, 1)),
    hidden_by_hand       INTEGER NOT NULL CHECK (hidden_by_hand IN (0, 1)),
    started_at           TEXT,
    last_seen            TEXT,
    ended_at             TEXT,
    status               TEXT NOT NULL CHECK (status IN ('starting', 'live', 'ended', 'lost', 'killed')),
    end_reason           TEXT,
    parent_asm_id        TEXT,
    follows_asm_id       TEXT,
    forked_from          TEXT,
    continues_asm_id     TEXT,
    resumed_from_asm_id  TEXT,
    resumed_by           TEXT,
    description          TEXT,
    tags                 TEXT,
    closeout_state       TEXT,
    archived             INTEGER NOT NULL CHECK (archived IN (0, 1)),
    first_message        TEXT,
    summary              TEXT,
    turns                INTEGER,
    context_tokens       INTEGER,
    context_window       INTEGER,
    context_stale        INTEGER NOT NULL CHECK (context_stale IN (0, 1)),
    UNIQUE (agent, agent_session_id)
) STRICT;

-- One row a process that drove a session. A run whose process nobody could tell has NULL there; the
-- index treats those of one session as the same run, which a plain UNIQUE would not.
CREATE TABLE runs (
    run_id       INTEGER PRIMARY KEY,
    asm_id       TEXT NOT NULL REFERENCES sessions (asm_id),
    boot_id      TEXT,
    pid          INTEGER,
    proc_start   INTEGER,
    launch_token TEXT,
    wrapper_pid  INTEGER,
    started_at   TEXT,
    ended_at     TEXT,
    start_source TEXT,
    shared       INTEGER NOT NULL CHECK (shared IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX runs_process ON runs (asm_id, coalesce(boot_id, ''), coalesce(pid, 0), coalesce(proc_start, 0));
CREATE INDEX runs_open ON runs (run_id) WHERE ended_at IS NULL;

CREATE TABLE events (
    id               TEXT NOT NULL PRIMARY KEY CHECK (id <> ''),
    asm_id           TEXT,
    agent            TEXT,
    agent_session_id TEXT,
    event            TEXT,
    kind             TEXT NOT NULL,
    ts               TEXT,
    payload          TEXT,
    ingested_at      TEXT NOT NULL
) STRICT;
CREATE INDEX events_session ON events (asm_id, ts);

CREATE TABLE launches (
    token            TEXT NOT NULL PRIMARY KEY CHECK (token <> ''),
    agent            TEXT NOT NULL,
    cwd              TEXT,
    name             TEXT,
    sprint_node      TEXT,
    script_path      TEXT,
    prompt_path      TEXT,
    requested_at     TEXT,
    boot_id          TEXT,
    pid              INTEGER,
    proc_start       INTEGER,
    matched_asm_id   TEXT,
    matched_at       TEXT,
    expired          INTEGER NOT NULL CHECK (expired IN (0, 1)),
    continues_asm_id TEXT
) STRICT;
CREATE INDEX launches_open ON launches (requested_at) WHERE matched_asm_id IS NULL AND expired = 0;

-- What was read of a transcript, and up to where. cursor_state stands last: the rows are listed
-- without it at every start.
CREATE TABLE import_state (
    source         TEXT NOT NULL PRIMARY KEY CHECK (source <> ''),
    agent          TEXT NOT NULL,
    asm_id         TEXT,
    device         INTEGER NOT NULL,
    inode          INTEGER NOT NULL,
    size           INTEGER NOT NULL,
    mtime_ns       INTEGER NOT NULL,
    ctime_ns       INTEGER NOT NULL,
    hot            INTEGER NOT NULL CHECK (hot IN (0, 1)),
    cursor_version INTEGER NOT NULL,
    cursor_offset  INTEGER NOT NULL,
    cursor_head    INTEGER NOT NULL,
    cursor_tail    INTEGER NOT NULL,
    bad_lines      INTEGER NOT NULL,
    unknown_types  TEXT,
    cursor_state   BLOB
) STRICT;

-- Which source told turns of which session, and when that source was opened. A session may stand in
-- several sources, a source may hold several sessions.
CREATE TABLE turn_sources (
    origin  INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (key),
    source  TEXT NOT NULL,
    opened  TEXT,
    UNIQUE (source, session)
) STRICT;
CREATE INDEX turn_sources_session ON turn_sources (session);

-- Every turn as every source tells it. copy = 0 marks the one telling that counts, and turns_owner
-- allows no second; the rule which one it is stands in turns.go. No foreign keys here: they cost a
-- look-up for each of very many rows, and rows of sessions and turn_sources are never deleted.
CREATE TABLE turns (
    session INTEGER NOT NULL,
    uid     INTEGER NOT NULL,
    origin  INTEGER NOT NULL,
    at      INTEGER,
    kind    INTEGER NOT NULL,
    copy    INTEGER NOT NULL CHECK (copy IN (0, 1)),
    PRIMARY KEY (session, uid, origin)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX turns_owner ON turns (uid) WHERE copy = 0;
CREATE INDEX turns_copy ON turns (uid) WHERE copy = 1;

CREATE TABLE folders (
    origin INTEGER NOT NULL REFERENCES turn_sources (origin),
    path   TEXT NOT NULL,
    named  INTEGER NOT NULL,
    PRIMARY KEY (origin, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE skills (
    origin INTEGER NOT NULL REFERENCES turn_sources (origin),
    skill  TEXT NOT NULL,
    runs   INTEGER NOT NULL,
    PRIMARY KEY (origin, skill)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_readings (
    id           INTEGER PRIMARY KEY,
    agent        TEXT NOT NULL,
    limit_id     TEXT NOT NULL,
    window_name  TEXT,
    minutes      INTEGER,
    used_percent REAL,
    resets_at    TEXT,
    state        TEXT NOT NULL,
    told_by      TEXT NOT NULL,
    read_at      TEXT NOT NULL,
    UNIQUE (agent, limit_id, read_at, told_by)
) STRICT;

CREATE TABLE alerts (
    id            INTEGER PRIMARY KEY,
    cause         TEXT NOT NULL,
    kind          TEXT NOT NULL,
    asm_id        TEXT,
    text          TEXT NOT NULL,
    line          TEXT,
    raised_at     TEXT NOT NULL,
    changed_at    TEXT NOT NULL,
    acked_at      TEXT,
    snoozed_until TEXT,
    withdrawn_at  TEXT
) STRICT;
CREATE UNIQUE INDEX alerts_cause ON alerts (cause) WHERE withdrawn_at IS NULL;

CREATE TABLE board_lists (
    list_id    TEXT NOT NULL PRIMARY KEY,
    role       TEXT NOT NULL UNIQUE CHECK (role IN ('plan', 'process', 'complete')),
    title      TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE TABLE board_cards (
    node_id    TEXT NOT NULL PRIMARY KEY,
    list_id    TEXT NOT NULL REFERENCES board_lists (list_id),
    position   REAL NOT NULL,
    text       TEXT NOT NULL,
    prompt     TEXT,
    created_at TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    removed_at TEXT
) STRICT;
CREATE INDEX board_cards_list ON board_cards (list_id, position) WHERE removed_at IS NULL;

CREATE TABLE sprint_links (
    node_id      TEXT NOT NULL PRIMARY KEY,
    asm_id       TEXT,
    origin       TEXT,
    title        TEXT,
    bound_at     TEXT,
    dropped      INTEGER NOT NULL CHECK (dropped IN (0, 1)),
    dropped_at   TEXT,
    completed    INTEGER NOT NULL CHECK (completed IN (0, 1)),
    completed_at TEXT
) STRICT;
CREATE INDEX sprint_links_session ON sprint_links (asm_id, bound_at);

CREATE TABLE mail (
    id           INTEGER PRIMARY KEY,
    mail_key     TEXT NOT NULL UNIQUE,
    sender       TEXT NOT NULL,
    recipient    TEXT NOT NULL,
    body         TEXT NOT NULL,
    written_at   TEXT NOT NULL,
    tried_at     TEXT,
    delivered_at TEXT,
    seen_at      TEXT
) STRICT;
CREATE INDEX mail_waiting ON mail (recipient, id) WHERE delivered_at IS NULL;

CREATE TABLE intents (
    id       TEXT NOT NULL PRIMARY KEY,
    action   TEXT NOT NULL,
    asm_id   TEXT,
    node_id  TEXT,
    token    TEXT,
    asked_by TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    detail   TEXT,
    ended_at TEXT,
    outcome  TEXT
) STRICT;
CREATE INDEX intents_open ON intents (asked_at) WHERE ended_at IS NULL;

-- The card a session is bound to, as columns beside it: the last binding counts.
CREATE VIEW session_sprints AS
SELECT s.asm_id,
       l.node_id AS sprint_node,
       l.origin  AS sprint_origin
FROM sessions AS s
LEFT JOIN sprint_links AS l ON l.node_id = (
    SELECT b.node_id FROM sprint_links AS b
    WHERE b.asm_id = s.asm_id
    ORDER BY b.bound_at DESC, b.node_id DESC
    LIMIT 1
);
