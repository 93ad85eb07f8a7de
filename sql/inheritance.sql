\i sql/include/fresh.psql
-- children of a protected table are written by what is said of the parent
CREATE TABLE parent (id int, v text);
CREATE TABLE child (extra int) INHERITS (parent);
CREATE TABLE grandchild () INHERITS (child);
SELECT fencing.protect('parent');
SELECT rel, fence_column, enabled, truncate_enabled FROM fencing.protected_tables ORDER BY rel::text;
INSERT INTO parent VALUES (1, 'p', 100);
INSERT INTO child (id, v, fence) VALUES (2, 'c', 100);
INSERT INTO grandchild (id, v, fence) VALUES (3, 'g', 100);
UPDATE parent SET v = 'x', fence = 99 WHERE id = 2;
UPDATE parent SET v = 'x' WHERE id = 3;
UPDATE child SET v = 'x', fence = 99;
DELETE FROM parent WHERE id = 3;
UPDATE parent SET v = 'y', fence = 101 RETURNING *;
UPDATE ONLY parent SET v = 'z', fence = 102 RETURNING *;
BEGIN; SELECT fencing.present(101); TRUNCATE ONLY child; TRUNCATE parent; ROLLBACK;
BEGIN; SELECT fencing.present(102); TRUNCATE parent; SELECT count(*) FROM parent; ROLLBACK;
-- a child made later is shown as unprotected
CREATE TABLE late () INHERITS (parent);
SELECT rel, enabled FROM fencing.protected_tables ORDER BY rel::text;
SELECT fencing.protect('parent', on_stale => 'skip');
SELECT rel, on_stale, enabled FROM fencing.protected_tables ORDER BY rel::text;
SELECT fencing.unprotect('parent');
SELECT rel, enabled FROM fencing.protected_tables ORDER BY rel::text;
-- a child of two protected parents is guarded for the other one, whatever becomes of the one
CREATE TABLE a (id int);
CREATE TABLE b (id int);
CREATE TABLE c () INHERITS (a, b);
SELECT fencing.protect('a'), fencing.protect('b');
INSERT INTO c VALUES (1, 5);
SELECT fencing.protect('a', on_stale => 'warn');
UPDATE b SET fence = 4;
SELECT fencing.unprotect('a');
UPDATE b SET fence = 4;
SELECT rel, on_stale, enabled, truncate_enabled FROM fencing.protected_tables WHERE rel::text IN ('a', 'b', 'c') ORDER BY rel::text;
SELECT fencing.unprotect('b');
SELECT rel, enabled FROM fencing.protected_tables WHERE rel::text IN ('a', 'b', 'c') ORDER BY rel::text;
-- but not if both are below the one
CREATE TABLE top (id int);
CREATE TABLE l () INHERITS (top);
CREATE TABLE r () INHERITS (top);
CREATE TABLE bottom () INHERITS (l, r);
SELECT fencing.protect('top');
SELECT fencing.protect('top', on_stale => 'warn');
SELECT rel, on_stale, enabled FROM fencing.protected_tables WHERE rel::text IN ('top', 'l', 'r', 'bottom') ORDER BY rel::text;
SELECT fencing.unprotect('top');
SELECT rel, enabled FROM fencing.protected_tables WHERE rel::text IN ('top', 'l', 'r', 'bottom') ORDER BY rel::text;
