\i sql/include/fresh.psql
-- rule 4: a value that differs from the row's, and another one presented
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, 'a', 100), (2, 'a', 0);
BEGIN;
SELECT fencing.present(102);
SAVEPOINT s;
UPDATE t SET fence = 101 WHERE id = 1;
ROLLBACK TO s;
UPDATE t SET fence = 103 WHERE id = 1;
ROLLBACK TO s;
UPDATE t SET fence = 1 WHERE id = 1;
ROLLBACK TO s;
-- 0 and NULL differ too
UPDATE t SET fence = 0 WHERE id = 1;
ROLLBACK TO s;
UPDATE t SET fence = NULL WHERE id = 1;
ROLLBACK TO s;
INSERT INTO t VALUES (3, 'a', 101);
ROLLBACK TO s;
-- the same, or the row's own: the token presented counts
UPDATE t SET fence = 102 WHERE id = 1 RETURNING *;
ROLLBACK TO s;
UPDATE t SET fence = fence WHERE id = 1 RETURNING *;
ROLLBACK TO s;
UPDATE t SET v = 'b' WHERE id = 1 RETURNING *;
ROLLBACK TO s;
-- so an ORM that writes whole rows back is fenced (trap 23)
UPDATE t SET v = 'orm', fence = 100 WHERE id = 1 RETURNING *;
ROLLBACK TO s;
UPDATE t SET v = 'orm', fence = 0 WHERE id = 2 RETURNING *;
COMMIT;
BEGIN;
SELECT fencing.present(99);
SAVEPOINT s;
UPDATE t SET v = 'stale orm', fence = 100 WHERE id = 1;
ROLLBACK TO s;
UPDATE t SET v = 'stale orm', fence = 102 WHERE id = 1;
ROLLBACK;
-- presented and stale, against assigned and stale
BEGIN;
SELECT fencing.present(100);
UPDATE t SET fence = 101 WHERE id = 2;
ROLLBACK;
SELECT * FROM t ORDER BY id;
