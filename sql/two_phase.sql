\i sql/include/fresh.psql
-- prepared transactions: on unbound tables only
SELECT setting = '0' AS off FROM pg_settings WHERE name = 'max_prepared_transactions' \gset
\if :off
\echo skipped: max_prepared_transactions is 0
\quit
\endif
CREATE TABLE t (id int PRIMARY KEY);
CREATE TABLE bound (id int PRIMARY KEY);
SELECT fencing.protect('t'), fencing.protect('bound', resource => 'free');
INSERT INTO t VALUES (1, 100);
SELECT token AS t FROM fencing.acquire('r') \gset
BEGIN; SELECT fencing.present(101); UPDATE t SET id = 2; PREPARE TRANSACTION 'fencing_1';
SELECT fencing.presented();
COMMIT PREPARED 'fencing_1';
TABLE t;
UPDATE t SET fence = 100;
BEGIN; UPDATE t SET fence = 102; PREPARE TRANSACTION 'fencing_2';
ROLLBACK PREPARED 'fencing_2';
TABLE t;
-- a grant, a hold, a bound write: refused
BEGIN; SELECT granted FROM fencing.acquire('x'); PREPARE TRANSACTION 'fencing_3';
BEGIN; SELECT fencing.hold('r', :t) = :t AS held; PREPARE TRANSACTION 'fencing_3';
BEGIN; INSERT INTO bound VALUES (1); PREPARE TRANSACTION 'fencing_3';
BEGIN; SELECT fencing.release('r', :t); PREPARE TRANSACTION 'fencing_3';
SELECT token AS f FROM fencing.acquire('f') \gset
SELECT fencing.release('f', :f);
BEGIN; SELECT fencing.forget('f'); PREPARE TRANSACTION 'fencing_3';
-- rolled back in a savepoint: not so
BEGIN; SAVEPOINT s; SELECT fencing.hold('r', :t) = :t AS held; ROLLBACK TO s; UPDATE t SET fence = 103; PREPARE TRANSACTION 'fencing_4';
COMMIT PREPARED 'fencing_4';
BEGIN; SAVEPOINT s; SELECT granted FROM fencing.acquire('x'); ROLLBACK TO s; UPDATE t SET fence = 104; PREPARE TRANSACTION 'fencing_5';
COMMIT PREPARED 'fencing_5';
-- a refused grant is none, and a renewal needs no commit
BEGIN; SELECT granted FROM fencing.acquire('r'); SELECT fencing.renew('r', :t) > now(); UPDATE t SET fence = 105; PREPARE TRANSACTION 'fencing_6';
COMMIT PREPARED 'fencing_6';
SELECT count(*) FROM pg_prepared_xacts;
SELECT resource, state FROM fencing.leases ORDER BY resource;
TABLE t;
