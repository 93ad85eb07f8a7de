\i sql/include/fresh.psql
-- a renewal writes the row version that is there, and takes no transaction ID (trap 18)
SELECT token FROM fencing.acquire('a') \gset
SELECT ctid AS place, xmin AS version, renewed_1 AS renewed FROM fencing.deadline \gset
BEGIN;
SELECT fencing.renew('a', :token) > now() AS renewed;
SELECT fencing.renew('a', :token, ttl => '10 s') > now() AS renewed;
SELECT pg_current_xact_id_if_assigned();
ROLLBACK;
SELECT ctid = :'place' AND xmin = :'version'::xid AS same_version, renewed_1 > :'renewed' AS later FROM fencing.deadline;
-- nor does a refusal
BEGIN;
SELECT granted FROM fencing.acquire('a');
SELECT pg_current_xact_id_if_assigned();
COMMIT;
-- a grant leaves none there, either
SELECT fencing.release('a', :token);
SELECT granted FROM fencing.acquire('a');
SELECT ctid = :'place' AND xmin = :'version'::xid AS same_version FROM fencing.deadline;
