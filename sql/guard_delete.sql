\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
INSERT INTO t VALUES (0, 'unfenced');
INSERT INTO t VALUES (1, 'a', 100), (2, 'a', 100), (3, 'a', 100), (4, 'a', 100), (5, 'a', 100);
DELETE FROM t WHERE id = 0 RETURNING id;
DELETE FROM t WHERE id = 1;
-- as its own condition, in one statement
DELETE FROM t WHERE id = 1 AND fence <= fencing.present(99) RETURNING id;
DELETE FROM t WHERE id = 1 AND fence <= fencing.present(100) RETURNING id;
-- the token went with the statement
DELETE FROM t WHERE id = 2;
DELETE FROM t WHERE id = 2 AND fencing.present(99) > 0;
BEGIN;
SELECT fencing.present(101);
DELETE FROM t WHERE id = 2 RETURNING id;
DELETE FROM t USING (VALUES (3)) s (id) WHERE t.id = s.id RETURNING t.id;
COMMIT;
BEGIN;
SELECT fencing.present(99);
DELETE FROM t WHERE id = 4;
ROLLBACK;
SELECT * FROM t ORDER BY id;
DELETE FROM t WHERE fence = 100;
DELETE FROM t;
-- deleted and inserted anew: the row starts unfenced
DELETE FROM t WHERE fence <= fencing.present(100) RETURNING id;
INSERT INTO t VALUES (4, 'stale', 99) RETURNING *;
