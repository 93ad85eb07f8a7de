\i sql/include/fresh.psql
-- a session remembers where it saw a lease's record, and is not misled when it is no longer there
SELECT token AS a FROM fencing.acquire('a') \gset
SELECT token AS b FROM fencing.acquire('b') \gset
SELECT fencing.renew('a', :a) > now() AS renewed;
-- moved
VACUUM FULL fencing.lease;
VACUUM FULL fencing.deadline;
SELECT fencing.renew('a', :a) > now() AS renewed;
SELECT fencing.renew('b', :b) > now() AS renewed;
SELECT fencing.release('a', :a);
SELECT fencing.release('a', :a);
-- a version that was never committed
BEGIN;
SELECT granted FROM fencing.acquire('a');
ROLLBACK;
SELECT state FROM fencing.leases WHERE resource = 'a';
BEGIN;
SAVEPOINT s;
SELECT granted FROM fencing.acquire('a');
ROLLBACK TO s;
SELECT granted, token > :a AS higher FROM fencing.acquire('a');
COMMIT;
SELECT token AS a FROM fencing.leases WHERE resource = 'a' \gset
-- another resource's row in its place
SELECT ctid AS place FROM fencing.lease WHERE resource = 'a' \gset
SELECT fencing.release('a', :a), fencing.forget('a');
VACUUM fencing.lease;
DO $$ BEGIN FOR i IN 1 .. 9 LOOP PERFORM fencing.acquire('c' || i); END LOOP; END $$;
SELECT resource <> 'a' AS reused FROM fencing.lease WHERE ctid = :'place';
SELECT fencing.renew('a', :a);
SELECT fencing.release('a', :a);
SELECT granted FROM fencing.acquire('a');
-- the end of the table cut off
SELECT fencing.evict(resource) > 0 AS evicted, fencing.forget(resource) FROM fencing.leases WHERE resource <> 'b';
SELECT fencing.release('b', :b), fencing.forget('b');
VACUUM (TRUNCATE) fencing.lease, fencing.deadline;
SELECT pg_relation_size('fencing.lease'), pg_relation_size('fencing.deadline');
SELECT fencing.renew('a', :a);
SELECT granted FROM fencing.acquire('a');
-- the issuer's record is found wherever it is
SELECT fencing.issue_token() AS before \gset
VACUUM FULL fencing.issuer;
SELECT fencing.issue_token() - :before AS later;
-- however often a lease changes hands, its record stays where there is room for it
CREATE PROCEDURE work() LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. 2000 LOOP
        PERFORM fencing.release('w' || i % 20, token) FROM fencing.acquire('w' || i % 20);
        COMMIT;
    END LOOP;
END
$$;
CALL work();
SELECT pg_relation_size('fencing.lease') < 10 * current_setting('block_size')::int AS small,
    pg_relation_size('fencing.lease_pkey') < 10 * current_setting('block_size')::int AS small;
DROP PROCEDURE work();
-- one entry in the lock table, whatever a transaction does with a resource
BEGIN;
SELECT token AS w FROM fencing.acquire('w') \gset
SELECT fencing.hold('w', :w) = :w AS held;
SELECT mode FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() ORDER BY 1;
SELECT count(DISTINCT (classid, objid, objsubid)) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();
COMMIT;
