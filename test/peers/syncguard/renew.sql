\set k random(0, 10000/:n - 1) * :n + :client_id
BEGIN;
SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS now_ms \gset
SELECT * FROM syncguard.locks WHERE lock_id = 'H' || lpad(:k::text, 21, '0') FOR UPDATE;
\set exp :now_ms + 86400000
UPDATE syncguard.locks SET expires_at_ms = :exp::bigint WHERE key = 'held/' || :k::text;
COMMIT;
