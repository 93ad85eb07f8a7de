BEGIN;
SELECT pg_advisory_xact_lock(hashtext('hot'));
SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS now_ms \gset
SELECT * FROM syncguard.locks WHERE key = 'hot';
COMMIT;
