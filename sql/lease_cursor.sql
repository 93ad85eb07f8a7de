\i sql/include/fresh.psql
-- a cursor that fails in a savepoint loses its locks, and not what it did before: what a lease needs is kept
CREATE VIEW locked AS
    SELECT coalesce(relation::regclass::text, 'resource') AS what, mode FROM pg_locks
    WHERE pid = pg_backend_pid() AND (relation IN ('fencing.lease'::regclass, 'fencing.deadline'::regclass)
        OR locktype = 'advisory' AND objsubid = x'4602'::int) ORDER BY 1, 2;
\set fail 'FETCH c; SAVEPOINT s; FETCH c; ROLLBACK TO s; TABLE locked; COMMIT;'
SELECT token FROM fencing.acquire('r', '1 h', 'worker') \gset
BEGIN;
DECLARE c CURSOR FOR SELECT CASE g WHEN 1 THEN fencing.release('r', 1) ELSE 1 / (g - 2) = 0 END FROM generate_series(1, 2) g;
:fail
SELECT state FROM fencing.leases;
BEGIN;
DECLARE c CURSOR FOR SELECT CASE g WHEN 1 THEN (fencing.acquire('r', '1 h', 'worker')).granted ELSE 1 / (g - 2) = 0 END FROM generate_series(1, 2) g;
:fail
SELECT token, state FROM fencing.leases;
BEGIN;
DECLARE c CURSOR FOR SELECT CASE g WHEN 1 THEN fencing.hold('r', 2) = 2 ELSE 1 / (g - 2) = 0 END FROM generate_series(1, 2) g;
:fail
-- what was done in the savepoint goes with it
BEGIN;
DECLARE c CURSOR FOR SELECT (fencing.acquire('r', '1 h', 'worker')).granted;
SAVEPOINT s;
FETCH c;
ROLLBACK TO s;
TABLE locked;
COMMIT;
SELECT token, state FROM fencing.leases;
