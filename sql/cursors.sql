\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, 'a', 100), (2, 'b', 100);
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t ORDER BY id FOR UPDATE;
FETCH c;
SAVEPOINT s;
UPDATE t SET v = 'x', fence = 99 WHERE CURRENT OF c;
ROLLBACK TO s;
UPDATE t SET v = 'x' WHERE CURRENT OF c;
ROLLBACK TO s;
DELETE FROM t WHERE CURRENT OF c;
ROLLBACK TO s;
UPDATE t SET v = 'cursor', fence = 101 WHERE CURRENT OF c RETURNING *;
SELECT fencing.present(102);
FETCH c;
UPDATE t SET v = 'cursor' WHERE CURRENT OF c RETURNING *;
COMMIT;
BEGIN;
SELECT fencing.present(102);
DECLARE d CURSOR FOR SELECT * FROM t WHERE id = 1;
FETCH d;
DELETE FROM t WHERE CURRENT OF d RETURNING *;
COMMIT;
-- present() in a cursor counts when it is fetched
BEGIN;
DECLARE e CURSOR FOR SELECT fencing.present(103);
SELECT fencing.presented();
FETCH e;
SELECT fencing.presented();
UPDATE t SET v = 'f' RETURNING *;
COMMIT;
-- locked rows
BEGIN;
SELECT * FROM t FOR UPDATE;
SELECT * FROM t FOR SHARE;
UPDATE t SET fence = 104 RETURNING *;
COMMIT;
