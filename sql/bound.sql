\i sql/include/fresh.psql
-- rule 7: a table bound to one resource
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t', resource => 'job');
-- no record: a write without a token passes if F = 0, and any token is unknown
INSERT INTO t VALUES (1, 'a') RETURNING fence;
UPDATE t SET v = 'b' WHERE id = 1 RETURNING fence;
UPDATE t SET v = 'x', fence = 1;
INSERT INTO t VALUES (2, 'a', 1);
BEGIN; SELECT fencing.present(1); UPDATE t SET v = 'x'; ROLLBACK;
DELETE FROM t WHERE id = 1 RETURNING id;
INSERT INTO t VALUES (1, 'a'), (9, 'a');
SELECT token AS t FROM fencing.acquire('job', holder => 'me') \gset
-- leased: missing, unknown, current
UPDATE t SET v = 'x';
UPDATE t SET v = 'x', fence = 0;
INSERT INTO t VALUES (2, 'x');
DELETE FROM t WHERE id = 1;
TRUNCATE t;
UPDATE t SET v = 'x', fence = :t + 1;
INSERT INTO t VALUES (2, 'x', :t + 1);
BEGIN; SELECT fencing.present(:t + 1) IS NULL; UPDATE t SET v = 'x'; ROLLBACK;
UPDATE t SET v = 'c', fence = :t WHERE id = 1 RETURNING v, fence = :t AS fenced;
UPDATE t SET v = 'd', fence = fence WHERE id = 1 RETURNING v, fence = :t AS fenced;
INSERT INTO t VALUES (2, 'c', :t) RETURNING v, fence = :t AS fenced;
BEGIN;
SELECT fencing.present(:t) = :t AS ok;
UPDATE t SET v = 'e' WHERE id = 2 RETURNING v, fence = :t AS fenced;
INSERT INTO t VALUES (3, 'e') RETURNING v, fence = :t AS fenced;
DELETE FROM t WHERE id = 3 RETURNING id;
COMMIT;
BEGIN; SELECT fencing.hold('job', :t) = :t AS ok; UPDATE t SET v = 'f' WHERE id = 1 RETURNING v, fence = :t AS fenced; COMMIT;
-- granted anew: the grant itself is the fence, before the new holder wrote anything
SELECT token AS t2 FROM fencing.acquire('job', holder => 'me') \gset
UPDATE t SET v = 'x', fence = :t WHERE id = 1;
UPDATE t SET v = 'x', fence = fence WHERE id = 1;
INSERT INTO t VALUES (4, 'x', :t);
BEGIN; SELECT fencing.present(:t) = :t AS ok; SAVEPOINT s; UPDATE t SET v = 'x' WHERE id = 1; ROLLBACK TO s; DELETE FROM t WHERE id = 9; ROLLBACK TO s; TRUNCATE t; ROLLBACK;
UPDATE t SET v = 'g', fence = :t2 WHERE id = 1 RETURNING v, fence = :t2 AS fenced;
-- expired and not granted anew: still counts
SELECT token AS e FROM fencing.acquire('job', '1 ms', 'me') \gset
SELECT pg_sleep(0.01);
UPDATE t SET v = 'h', fence = :e WHERE id = 1 RETURNING v, fence = :e AS fenced;
-- released: lost, also for one that carries it in the statement
SELECT token AS r FROM fencing.acquire('job', holder => 'me') \gset
UPDATE t SET v = 'i', fence = :r WHERE id = 1 RETURNING v;
SELECT fencing.release('job', :r);
UPDATE t SET v = 'x', fence = :r WHERE id = 1;
UPDATE t SET v = 'x' WHERE id = 1;
UPDATE t SET v = 'x' WHERE id = 9;
-- released by this very transaction, after the write
SELECT token AS r FROM fencing.acquire('job', holder => 'me') \gset
BEGIN; UPDATE t SET v = 'j', fence = :r WHERE id = 1 RETURNING v; SELECT fencing.release('job', :r); COMMIT;
SELECT token AS r FROM fencing.acquire('job') \gset
BEGIN; SELECT fencing.release('job', :r); UPDATE t SET v = 'x', fence = :r WHERE id = 1; ROLLBACK;
SELECT fencing.release('job', :r);
-- forgotten: any token is unknown, and a write without one passes only if F = 0
SELECT fencing.forget('job');
UPDATE t SET v = 'x', fence = :r WHERE id = 1;
UPDATE t SET v = 'x' WHERE id = 1;
UPDATE t SET v = 'unfenced' WHERE id = 9 RETURNING *;
DELETE FROM t WHERE id = 1;
TRUNCATE t;
-- a row fence above the current grant, from before the binding
CREATE TABLE old (id int PRIMARY KEY);
SELECT fencing.protect('old');
INSERT INTO old VALUES (1, 9000000000);
SELECT fencing.protect('old', resource => 'late');
SELECT token AS l FROM fencing.acquire('late') \gset
UPDATE old SET id = 2, fence = :l;
-- acquire and the first write in one transaction
BEGIN;
SELECT token AS n FROM fencing.acquire('job') \gset
UPDATE t SET v = 'new', fence = :n WHERE id = 9 RETURNING v, fence = :n AS fenced;
COMMIT;
BEGIN;
SELECT token AS n FROM fencing.acquire('job2') \gset
ROLLBACK;
-- skip and warn
SELECT fencing.protect('t', on_stale => 'skip');
SELECT token AS k FROM fencing.acquire('skip', holder => 'me') \gset
SELECT fencing.protect('t', resource => 'skip');
SELECT token AS k2 FROM fencing.acquire('skip', holder => 'me') \gset
INSERT INTO t VALUES (20, 'x', :k) RETURNING id;
INSERT INTO t VALUES (20, 'x') RETURNING id;
INSERT INTO t VALUES (20, 'x', :k2 + 1) RETURNING id;
INSERT INTO t VALUES (20, 'x', :k2) RETURNING id;
UPDATE t SET v = 'y', fence = :k WHERE id = 20 RETURNING id;
SELECT fencing.protect('t', on_stale => 'warn');
UPDATE t SET v = 'warned', fence = :k WHERE id = 20 RETURNING id, v, fence = :k2 AS kept;
UPDATE t SET v = 'warned' WHERE id = 20 RETURNING id, v, fence = :k2 AS kept;
UPDATE t SET v = 'warned', fence = :k2 + 1 WHERE id = 20 RETURNING id, v, fence = :k2 AS kept;
INSERT INTO t VALUES (21, 'warned', :k) RETURNING id, v;
INSERT INTO t VALUES (22, 'warned') RETURNING id, v, fence;
