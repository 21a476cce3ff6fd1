INSERT INTO meta (key, value) VALUES ('seen', 'once') ON CONFLICT DO NOTHING;
INSERT INTO settings (key, value, changed_at) VALUES ('window', '800x600', '2026-11-30T19:32:37.042Z');
INSERT INTO sessions (key, asm_id, agent, agent_session_id, name, harness, hidden_by_hand, status, archived, turns, context_stale) VALUES
    (1, '00000000-0000-5000-8000-000000000001', 'claude', 'one', 'a name', 0, 0, 'live', 0, 1, 0),
    (2, '00000000-0000-5000-8000-000000000002', 'codex', 'two', NULL, 0, 1, 'lost', 1, 1, 0);
INSERT INTO runs (asm_id, boot_id, pid, proc_start, started_at, ended_at, shared) VALUES
    ('00000000-0000-5000-8000-000000000001', 'boot', 10, 1000, '2026-11-30T19:32:37.042Z', NULL, 0),
    ('00000000-0000-5000-8000-000000000002', 'boot', 11, 1001, '2026-11-30T19:32:37.042Z', '2026-11-30T19:32:38.042Z', 0);
INSERT INTO events (id, asm_id, agent, agent_session_id, event, kind, ts, payload, ingested_at) VALUES
    ('e1', '00000000-0000-5000-8000-000000000001', 'claude', 'one', 'Stop', 'stop', '2026-11-30T19:32:37.042Z', '{}', '2026-11-30T19:32:37.050Z');
INSERT INTO launches (token, agent, cwd, model, asked_by, requested_at, boot_id, pid, proc_start, matched_asm_id, matched_at, expired,
    expect_asm_id, resumes, home, terminal, tty, window, pane, ended_at, failed) VALUES
    ('t1', 'claude', '/w', 'm-1', 'page', '2026-11-30T19:32:37.042Z', 'boot', 12, 1002, NULL, NULL, 0,
        '00000000-0000-5000-8000-000000000003', 1, 'window', 'xterm', '/dev/pts/3', '0x1a', NULL, NULL, NULL),
    ('t2', 'codex', '/w', NULL, 'cli', '2026-11-30T19:32:38.042Z', 'boot', 13, 1003, NULL, NULL, 0,
        NULL, 0, 'tmux', 'tmux', '/dev/pts/4', NULL, '%1', '2026-11-30T19:32:39.042Z', 'It ended after 0.8 s.'),
    ('t3', 'claude', '/w', NULL, 'tray', '2026-11-30T19:32:40.042Z', 'boot', 10, 1000, '00000000-0000-5000-8000-000000000001', '2026-11-30T19:32:41.042Z', 0,
        NULL, 0, 'window', 'kitty', '/dev/pts/5', '7', NULL, NULL, NULL);
INSERT INTO intents (id, action, asm_id, node_id, token, asked_by, asked_at, detail, ended_at, outcome) VALUES
    ('i1', 'launch', NULL, NULL, 't1', 'page', '2026-11-30T19:32:37.042Z', NULL, NULL, NULL),
    ('i2', 'end', '00000000-0000-5000-8000-000000000002', NULL, NULL, 'tray', '2026-11-30T19:32:38.042Z', 'pid 11', '2026-11-30T19:32:39.042Z', 'done');
INSERT INTO import_state VALUES ('/t/1.jsonl', 'claude', '00000000-0000-5000-8000-000000000001', 1, 2, 3, 4, 5, 0, 1, 3, 7, 8, 0, NULL, x'01');
INSERT INTO turn_sources (origin, session, source, opened) VALUES (1, 1, '/t/1.jsonl', '2026-11-30T19:32:37.042Z'), (2, 2, '/t/2.jsonl', NULL);
INSERT INTO turns (session, uid, origin, at, kind, copy) VALUES (1, 100, 1, 1790000000123, 1, 0), (2, 100, 2, 1790000000123, 1, 1), (2, 101, 2, NULL, 2, 0);
INSERT INTO folders (origin, path, named) VALUES (1, '/p', 2);
INSERT INTO skills (origin, skill, runs) VALUES (1, 's', 1);
