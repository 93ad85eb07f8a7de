\i sql/include/fresh.psql
SELECT fencing.evict('never');
SELECT token AS t FROM fencing.acquire('a', '1 h', 'me', data => '{"x": 1}') \gset
SELECT fencing.evict('a') AS e \gset
SELECT :e > :t AS higher;
-- nobody's: neither the old token nor the new one holds it, and the lease is free
SELECT token = :e AS raised, state FROM fencing.leases;
SELECT fencing.hold('a', :t);
SELECT fencing.hold('a', :e);
SELECT fencing.renew('a', :t);
SELECT fencing.renew('a', :e);
SELECT fencing.release('a', :t);
SELECT fencing.release('a', :e);
SELECT token > :e AS higher, granted FROM fencing.acquire('a', '1 h', 'other');
-- not undone by ROLLBACK
SELECT token AS t FROM fencing.leases \gset
BEGIN; SELECT fencing.evict('a') > :t AS higher; ROLLBACK;
SELECT token > :t AS higher, state FROM fencing.leases;
-- of a released and of an expired lease
SELECT token AS t FROM fencing.acquire('b') \gset
SELECT fencing.release('b', :t);
SELECT fencing.evict('b') > :t AS higher;
SELECT token AS t FROM fencing.acquire('c', '1 ms') \gset
SELECT pg_sleep(0.01);
SELECT fencing.evict('c') > :t AS higher;
-- stale writes on a bound table
CREATE TABLE bound (id int PRIMARY KEY, r text);
SELECT fencing.protect('bound', resource_column => 'r');
SELECT token AS t FROM fencing.acquire('d') \gset
BEGIN; SELECT fencing.hold('d', :t) = :t AS ok; INSERT INTO bound VALUES (1, 'd'); COMMIT;
SELECT fencing.evict('d') > :t AS higher;
UPDATE bound SET id = 2, fence = :t;
UPDATE bound SET id = 2;
SELECT token AS t FROM fencing.acquire('d') \gset
UPDATE bound SET id = 2, fence = :t;
-- its own transaction's lease is not for it
BEGIN; SELECT granted FROM fencing.acquire('e'); SELECT fencing.evict('e'); ROLLBACK;
-- administrators only
CREATE ROLE regress_fencing_user;
SET ROLE regress_fencing_user;
SELECT fencing.evict('d');
SELECT fencing.forget('d');
SELECT fencing.new_epoch();
RESET ROLE;
GRANT EXECUTE ON FUNCTION fencing.evict(text), fencing.forget(text), fencing.new_epoch(bigint) TO regress_fencing_user;
SET ROLE regress_fencing_user;
SELECT fencing.evict('d') > :t AS higher;
SELECT fencing.forget('d');
SELECT fencing.new_epoch();
RESET ROLE;
REVOKE ALL ON FUNCTION fencing.evict(text), fencing.forget(text), fencing.new_epoch(bigint) FROM regress_fencing_user;
DROP ROLE regress_fencing_user;
