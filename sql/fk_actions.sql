\i sql/include/fresh.psql
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE cascades (id int PRIMARY KEY, p int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE nulls (id int PRIMARY KEY, p int REFERENCES parent ON DELETE SET NULL ON UPDATE SET NULL);
CREATE TABLE defaults (id int PRIMARY KEY, p int DEFAULT 0 REFERENCES parent ON DELETE SET DEFAULT ON UPDATE SET DEFAULT);
INSERT INTO parent SELECT generate_series(0, 9);
SELECT fencing.protect('cascades'), fencing.protect('nulls'), fencing.protect('defaults');
INSERT INTO cascades VALUES (1, 1, 100), (4, 4, 0);
INSERT INTO nulls VALUES (2, 2, 100), (5, 5, 0);
INSERT INTO defaults VALUES (3, 3, 100), (6, 6, 0);
-- missing: the child is fenced
DELETE FROM parent WHERE id = 1;
DELETE FROM parent WHERE id = 2;
DELETE FROM parent WHERE id = 3;
UPDATE parent SET id = 11 WHERE id = 1;
UPDATE parent SET id = 12 WHERE id = 2;
UPDATE parent SET id = 13 WHERE id = 3;
-- stale
BEGIN; SELECT fencing.present(99); DELETE FROM parent WHERE id = 1; ROLLBACK;
BEGIN; SELECT fencing.present(99); DELETE FROM parent WHERE id = 2; ROLLBACK;
BEGIN; SELECT fencing.present(99); UPDATE parent SET id = 13 WHERE id = 3; ROLLBACK;
-- unfenced children
DELETE FROM parent WHERE id IN (4, 5, 6);
-- accepted, and the child takes the token
BEGIN;
SELECT fencing.present(101);
UPDATE parent SET id = 11 WHERE id = 1;
DELETE FROM parent WHERE id IN (2, 3);
COMMIT;
SELECT 'cascades', * FROM cascades UNION ALL SELECT 'nulls', * FROM nulls UNION ALL SELECT 'defaults', * FROM defaults ORDER BY 1, 2;
-- skip raises: a skipped child would be an orphan
SELECT fencing.protect('cascades', on_stale => 'skip'), fencing.protect('nulls', on_stale => 'skip'), fencing.protect('defaults', on_stale => 'skip');
INSERT INTO nulls VALUES (12, 7, 101);
INSERT INTO defaults VALUES (13, 8, 101);
BEGIN; SELECT fencing.present(100); DELETE FROM parent WHERE id = 11; ROLLBACK;
BEGIN; SELECT fencing.present(100); UPDATE parent SET id = 21 WHERE id = 11; ROLLBACK;
BEGIN; SELECT fencing.present(100); DELETE FROM parent WHERE id = 7; ROLLBACK;
BEGIN; SELECT fencing.present(100); DELETE FROM parent WHERE id = 8; ROLLBACK;
DELETE FROM parent WHERE id = 11;
-- but a plain DELETE of such a child is skipped
BEGIN; SELECT fencing.present(100); DELETE FROM cascades RETURNING *; ROLLBACK;
-- skip in the parent: its row is left out, and so is the action
SELECT fencing.protect('parent', on_stale => 'skip');
UPDATE parent SET fence = 200 WHERE id = 11;
BEGIN; SELECT fencing.present(199); DELETE FROM parent WHERE id = 11 RETURNING *; ROLLBACK;
-- warn lets it through
SELECT fencing.protect('cascades', on_stale => 'warn'), fencing.protect('parent', on_stale => 'error');
BEGIN; SELECT fencing.present(200); DELETE FROM parent WHERE id = 11; SELECT count(*) FROM cascades; ROLLBACK;
UPDATE cascades SET fence = 300;
BEGIN; SELECT fencing.present(200); DELETE FROM parent WHERE id = 11; SELECT count(*) FROM cascades; ROLLBACK;
-- deferred: the action comes at once all the same, the check at commit
CREATE TABLE deferred (id int REFERENCES parent ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
SELECT fencing.protect('deferred', on_stale => 'skip');
INSERT INTO deferred VALUES (9, 100);
BEGIN; SELECT fencing.present(99); DELETE FROM parent WHERE id = 9; ROLLBACK;
-- to itself, and over two steps
CREATE TABLE tree (id int PRIMARY KEY, up int REFERENCES tree ON DELETE CASCADE);
SELECT fencing.protect('tree', on_stale => 'skip');
INSERT INTO tree VALUES (1, NULL, 10), (2, 1, 10), (3, 2, 50);
BEGIN; SELECT fencing.present(20); DELETE FROM tree WHERE id = 1; ROLLBACK;
BEGIN; SELECT fencing.present(50); DELETE FROM tree WHERE id = 1; SELECT * FROM tree; ROLLBACK;
-- partitions of a protected child
CREATE TABLE pchild (id int, p int REFERENCES parent ON DELETE CASCADE) PARTITION BY RANGE (id);
CREATE TABLE pchild_1 PARTITION OF pchild DEFAULT;
SELECT fencing.protect('pchild', on_stale => 'skip');
INSERT INTO pchild VALUES (1, 0, 100);
BEGIN; SELECT fencing.present(99); DELETE FROM parent WHERE id = 0; ROLLBACK;
