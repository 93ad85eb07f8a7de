\i sql/include/fresh.psql
CREATE TABLE e (id int PRIMARY KEY, v text);
CREATE TABLE s (id int PRIMARY KEY, v text);
CREATE TABLE w (id int PRIMARY KEY, v text);
SELECT fencing.protect('e', on_stale => 'error'), fencing.protect('s', on_stale => 'skip'), fencing.protect('w', on_stale => 'warn');
SELECT rel, on_stale FROM fencing.protected_tables ORDER BY rel::text;
INSERT INTO e VALUES (1, 'a', 100), (2, 'a', 50), (3, 'a', 0);
INSERT INTO s SELECT * FROM e;
INSERT INTO w SELECT * FROM e;
-- skip leaves the row out: the client sees 0 rows
UPDATE s SET v = 'x', fence = 99 WHERE id = 1 RETURNING *;
UPDATE s SET v = 'x', fence = 60 RETURNING *;
BEGIN;
SELECT fencing.present(70);
UPDATE s SET v = 'y' RETURNING *;
DELETE FROM s RETURNING *;
COMMIT;
SELECT * FROM s ORDER BY id;
WITH n AS (UPDATE s SET fence = 1 RETURNING 1) SELECT count(*) FROM n;
DO $$
DECLARE n int;
BEGIN
	UPDATE s SET fence = 1 WHERE id = 1;
	GET DIAGNOSTICS n = ROW_COUNT;
	RAISE WARNING '%', n;
END $$;
-- a write without a token to a fenced row is an error under skip too
UPDATE s SET v = 'x' WHERE id = 1;
DELETE FROM s WHERE id = 1;
UPDATE s SET fence = 0 WHERE id = 1;
-- and so is a conflict
BEGIN;
SELECT fencing.present(101);
UPDATE s SET fence = 102 WHERE id = 1;
ROLLBACK;
UPDATE s SET fence = NULL WHERE id = 1;
-- warn lets the write through and keeps the higher fence
UPDATE w SET v = 'stale', fence = 99 WHERE id = 1 RETURNING *;
UPDATE w SET v = 'missing' WHERE id = 1 RETURNING *;
UPDATE w SET v = 'zero', fence = 0 WHERE id = 1 RETURNING *;
UPDATE w SET v = 'fine', fence = 101 WHERE id = 1 RETURNING *;
BEGIN;
SELECT fencing.present(102);
UPDATE w SET v = 'conflict', fence = 103 WHERE id = 1 RETURNING *;
UPDATE w SET v = 'conflict', fence = 5 WHERE id = 1 RETURNING *;
ROLLBACK;
BEGIN;
SELECT fencing.present(60);
UPDATE w SET v = 'presented' WHERE id = 1 RETURNING *;
DELETE FROM w WHERE id = 1 RETURNING *;
ROLLBACK;
DELETE FROM w WHERE id = 2 RETURNING *;
-- a NULL is never let through
UPDATE w SET fence = NULL WHERE id = 1;
INSERT INTO w VALUES (9, 'n', NULL);
SELECT * FROM w ORDER BY id;
-- the switch to error keeps what warn kept
SELECT fencing.protect('w', on_stale => 'error');
UPDATE w SET v = 'stale', fence = 99 WHERE id = 1;
UPDATE w SET v = 'missing' WHERE id = 1;
-- anything else
SELECT fencing.protect('w', on_stale => 'ignore');
SELECT fencing.protect('w', on_stale => '');
SELECT fencing.protect('w', on_stale => 'ERROR');
SELECT on_stale FROM fencing.protected_tables WHERE rel = 'w'::regclass;
-- a token that was never granted is warned of, and not kept
CREATE TABLE b (id int PRIMARY KEY);
SELECT fencing.protect('b', on_stale => 'warn', resource => 'b');
SELECT token FROM fencing.acquire('b');
INSERT INTO b VALUES (1, 999999) RETURNING *;
SELECT fencing.protect('b', on_stale => 'error');
UPDATE b SET fence = 1 RETURNING *;
-- nor is one that is stale lost
SELECT fencing.protect('b', on_stale => 'warn');
SELECT fencing.release('b', 1);
SELECT token FROM fencing.acquire('b', holder => 'h');
SELECT token FROM fencing.acquire('b', holder => 'h');
INSERT INTO b VALUES (2, 1) RETURNING *;
-- nor is one kept that was never granted, whichever warning it is
BEGIN;
SELECT fencing.present(3);
INSERT INTO b VALUES (3, 1000000) RETURNING *;
COMMIT;
BEGIN;
SELECT fencing.present(1000000);
UPDATE b SET fence = 2 WHERE id = 1 RETURNING *;
COMMIT;
