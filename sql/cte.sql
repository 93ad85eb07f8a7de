\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
CREATE TABLE moved (LIKE t);
SELECT fencing.protect('t'), fencing.protect('moved');
INSERT INTO t VALUES (1, 'a', 100), (2, 'b', 100), (3, 'c', 100), (4, 'd', 0);
-- each part carries its own token
WITH a AS (UPDATE t SET v = 'x', fence = 101 WHERE id = 1 RETURNING id)
UPDATE t SET v = 'x' WHERE id = 2;
WITH a AS (UPDATE t SET v = 'x' WHERE id = 1 RETURNING id)
UPDATE t SET v = 'x', fence = 101 WHERE id = 2;
WITH a AS (UPDATE t SET v = 'x', fence = fence WHERE id = 1 RETURNING id)
UPDATE t SET v = 'x' WHERE id = 2;
WITH a AS (UPDATE t SET v = 'x' WHERE id = 2 RETURNING id)
UPDATE t SET v = 'x', fence = fence WHERE id = 1;
WITH a AS (UPDATE t SET v = 'ab', fence = 101 WHERE id = 1 RETURNING *), b AS (UPDATE t SET v = 'ab', fence = 102 WHERE id = 2 RETURNING *)
SELECT * FROM a UNION ALL SELECT * FROM b ORDER BY 1;
WITH a AS (DELETE FROM t WHERE id = 3 RETURNING *) INSERT INTO moved SELECT * FROM a;
BEGIN; SELECT fencing.present(100);
WITH a AS (DELETE FROM t WHERE id = 3 RETURNING *) INSERT INTO moved SELECT * FROM a RETURNING *;
ROLLBACK;
WITH a AS (DELETE FROM t WHERE id = 4 RETURNING *) INSERT INTO moved SELECT * FROM a RETURNING *;
-- present() where the row's own condition must evaluate it, and where it does not count
WITH p AS (SELECT fencing.present(103) AS token) UPDATE t SET v = 'unused' WHERE id = 1;
WITH p AS (SELECT fencing.present(103) AS token) UPDATE t SET v = 'used' FROM p WHERE id = 1 AND fence <= p.token RETURNING t.*;
UPDATE t SET v = 'returning' WHERE id = 1 RETURNING fencing.present(104);
UPDATE t SET v = 'sub' WHERE id = 1 AND fence <= (SELECT fencing.present(104)) RETURNING *;
INSERT INTO t VALUES (1, 'arm') ON CONFLICT (id) DO UPDATE SET v = excluded.v WHERE t.fence <= fencing.present(105) RETURNING *;
INSERT INTO t VALUES (9, 'arm') ON CONFLICT (id) DO UPDATE SET v = excluded.v WHERE t.fence <= fencing.present(105) RETURNING *;
INSERT INTO t SELECT 10, 'select' WHERE fencing.present(105) = 105 RETURNING *;
-- the same row twice in one statement: the first one counts
WITH a AS (UPDATE t SET v = 'first', fence = 106 WHERE id = 1) UPDATE t SET v = 'second', fence = 107 WHERE id = 1;
SELECT id, fence >= 106 FROM t WHERE id = 1;
