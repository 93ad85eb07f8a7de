\i sql/include/fresh.psql
-- only present() and hold() carry a token, for tables that an ORM writes whole rows to (trap 23)
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t', require_present => true);
INSERT INTO t VALUES (1, 'a');
INSERT INTO t VALUES (1, 'a', 100);
BEGIN;
SELECT fencing.present(100);
INSERT INTO t VALUES (1, 'a') RETURNING *;
INSERT INTO t VALUES (2, 'a', 100), (3, 'a', 0) RETURNING *;
COMMIT;
-- no token, or one in the statement
UPDATE t SET v = 'x' WHERE id = 1;
UPDATE t SET v = 'x', fence = fence WHERE id = 1;
UPDATE t SET v = 'x', fence = 100 WHERE id = 1;
UPDATE t SET v = 'x', fence = 101 WHERE id = 1;
UPDATE t SET v = 'x', fence = 0 WHERE id = 1;
DELETE FROM t WHERE id = 1;
-- presented; the statement gives the row's own value or the presented one
BEGIN;
SELECT fencing.present(101);
SAVEPOINT s;
UPDATE t SET v = 'b' WHERE id = 1 RETURNING *;
UPDATE t SET v = 'c', fence = 100 WHERE id = 2 RETURNING *;
UPDATE t SET v = 'd', fence = 101 WHERE id = 3 RETURNING *;
SAVEPOINT s;
-- any other value is none
UPDATE t SET v = 'x', fence = 100 WHERE id = 1;
ROLLBACK TO s;
UPDATE t SET v = 'x', fence = 102 WHERE id = 1;
ROLLBACK TO s;
INSERT INTO t VALUES (4, 'x', 102);
ROLLBACK TO s;
DELETE FROM t WHERE id = 3 RETURNING *;
COMMIT;
BEGIN;
SELECT fencing.present(100);
UPDATE t SET v = 'stale' WHERE id = 1;
ROLLBACK;
DELETE FROM t WHERE id = 1 AND fence <= fencing.present(101) RETURNING *;
-- hold() presents
SELECT token AS held FROM fencing.acquire('r') \gset
BEGIN;
SELECT fencing.hold('r', :held) = :held AS held;
INSERT INTO t VALUES (5, 'held') RETURNING fence = :held AS ok;
COMMIT;
-- an unfenced row from before
CREATE TABLE old (id int);
INSERT INTO old VALUES (1);
SELECT fencing.protect('old', require_present => true);
UPDATE old SET id = 2;
DELETE FROM old;
BEGIN; SELECT fencing.present(1); UPDATE old SET id = 2 RETURNING *; COMMIT;
-- skip and warn
SELECT fencing.protect('old', on_stale => 'skip');
UPDATE old SET id = 3;
UPDATE old SET id = 3, fence = 2;
SELECT fencing.protect('old', on_stale => 'warn');
UPDATE old SET id = 3 RETURNING *;
UPDATE old SET id = 4, fence = 2 RETURNING *;
INSERT INTO old VALUES (5, 7) RETURNING *;
INSERT INTO old VALUES (6) RETURNING *;
-- taken off again
SELECT fencing.protect('old', require_present => false, on_stale => 'error');
UPDATE old SET fence = 9 WHERE id = 4 RETURNING *;
