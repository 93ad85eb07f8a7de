\set k random(0, 10000/:n - 1) * :n + :client_id
\set r random(1, 9000000000000000000)
BEGIN;
SELECT pg_advisory_xact_lock(hashtext('free/' || :k::text));
SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS now_ms \gset
SELECT * FROM syncguard.locks WHERE key = 'free/' || :k::text;
INSERT INTO syncguard.counters VALUES ('fence_free/' || :k::text, 0, 'free/' || :k::text)
    ON CONFLICT (fence_key) DO NOTHING;
UPDATE syncguard.counters SET fence = fence + 1 WHERE fence_key = 'fence_free/' || :k::text RETURNING fence \gset
\set exp :now_ms + 30000
INSERT INTO syncguard.locks (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
    VALUES ('free/' || :k::text, lpad(:r::text, 22, 'R'), :exp::bigint, :now_ms::bigint,
            lpad(:fence::text, 15, '0'), 'free/' || :k::text)
    ON CONFLICT (key) DO UPDATE SET
        lock_id = excluded.lock_id, expires_at_ms = excluded.expires_at_ms,
        acquired_at_ms = excluded.acquired_at_ms, fence = excluded.fence, user_key = excluded.user_key;
COMMIT;
BEGIN;
SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS now_ms \gset
SELECT * FROM syncguard.locks WHERE lock_id = lpad(:r::text, 22, 'R') FOR UPDATE;
DELETE FROM syncguard.locks WHERE key = 'free/' || :k::text;
COMMIT;
