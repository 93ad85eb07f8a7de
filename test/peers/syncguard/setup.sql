-- The tables and indexes of the PostgreSQL backend of kriasoft/syncguard.
DROP SCHEMA IF EXISTS syncguard CASCADE;
CREATE SCHEMA syncguard;
CREATE TABLE syncguard.locks (
    key text PRIMARY KEY,
    lock_id text NOT NULL,
    expires_at_ms bigint NOT NULL,
    acquired_at_ms bigint NOT NULL,
    fence text NOT NULL,
    user_key text NOT NULL,
    expires_at_ts timestamptz GENERATED ALWAYS AS (to_timestamp(expires_at_ms / 1000.0)) STORED,
    acquired_at_ts timestamptz GENERATED ALWAYS AS (to_timestamp(acquired_at_ms / 1000.0)) STORED);
CREATE UNIQUE INDEX ON syncguard.locks (lock_id);
CREATE INDEX ON syncguard.locks (expires_at_ms);
CREATE TABLE syncguard.counters (fence_key text PRIMARY KEY, fence bigint NOT NULL DEFAULT 0, key_debug text);
INSERT INTO syncguard.locks (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
    SELECT 'held/' || g, 'H' || lpad(g::text, 21, '0'), t + 86400000, t, lpad('1', 15, '0'), 'held/' || g
    FROM generate_series(0, 9999) g, (SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS t) x;
INSERT INTO syncguard.locks (key, lock_id, expires_at_ms, acquired_at_ms, fence, user_key)
    SELECT 'hot', 'X' || lpad('0', 21, '0'), t + 86400000, t, lpad('1', 15, '0'), 'hot'
    FROM (SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS t) x;
-- Every name has been leased before, so that its counter is there.
INSERT INTO syncguard.counters
    SELECT 'fence_' || p || g, 1, p || g FROM generate_series(0, 9999) g, (VALUES ('held/'), ('free/')) v (p);
VACUUM ANALYZE syncguard.locks, syncguard.counters;
