\i sql/include/fresh.psql
-- NULL is no token: what a refused acquire() returns must not pass (rule 6, trap 21)
CREATE TABLE t (id int PRIMARY KEY, fence fencing.fence);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, NULL);
INSERT INTO t VALUES (1, 5);
UPDATE t SET fence = NULL WHERE id = 1;
SELECT fencing.present(NULL);
DELETE FROM t WHERE fence <= fencing.present(NULL);
BEGIN;
SELECT fencing.present(NULL);
ROLLBACK;
INSERT INTO t VALUES (2, NULL) ON CONFLICT DO NOTHING;
INSERT INTO t VALUES (1, 6) ON CONFLICT (id) DO UPDATE SET fence = NULL;
SELECT * FROM t;
SELECT fencing.acquire(NULL);
SELECT fencing.hold('r', NULL);
SELECT fencing.hold(NULL, 1);
SELECT fencing.renew('r', NULL);
SELECT fencing.renew(NULL, 1);
SELECT fencing.release('r', NULL);
SELECT fencing.release(NULL, 1);
SELECT fencing.evict(NULL);
SELECT fencing.forget(NULL);
SELECT fencing.safe_window(NULL);
SELECT fencing.safe_window('1 s', NULL);
SELECT fencing.safe_window('1 s', 0, NULL);
SELECT fencing.heartbeat_interval(NULL);
SELECT fencing.protect(NULL);
SELECT fencing.unprotect(NULL);
SELECT fencing.presented();
-- a NULL from before the guard is no fence
CREATE TABLE old (id int, fence fencing.fence);
INSERT INTO old VALUES (1, NULL), (2, NULL);
SELECT fencing.protect('old');
UPDATE old SET id = 3 WHERE id = 1;
UPDATE old SET fence = 7 WHERE id = 2 RETURNING *;
UPDATE old SET fence = 6 WHERE id = 2;
DELETE FROM old WHERE id = 1;
TABLE old ORDER BY id;
-- and a row written without a guard meanwhile
ALTER TABLE old DISABLE TRIGGER USER;
UPDATE old SET fence = NULL;
ALTER TABLE old ENABLE TRIGGER USER;
UPDATE old SET fence = 1 RETURNING *;
