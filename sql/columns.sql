\i sql/include/fresh.psql
CREATE TABLE t (a int, b text, id int PRIMARY KEY, v text);
SELECT fencing.protect('t');
INSERT INTO t VALUES (1, 'b', 1, 'v', 100);
-- columns dropped before it, and added after it (trap 29)
ALTER TABLE t DROP a;
UPDATE t SET v = 'x', fence = 99;
ALTER TABLE t ADD c bigint DEFAULT 5, ADD d text;
UPDATE t SET v = 'x', fence = 99;
UPDATE t SET v = 'y', fence = 101 RETURNING *;
ALTER TABLE t DROP b, DROP d;
UPDATE t SET v = 'x';
UPDATE t SET c = 7, fence = 102 RETURNING *;
-- rows from before a column was added
INSERT INTO t VALUES (2, 'v', 50);
ALTER TABLE t ADD e int DEFAULT 9;
UPDATE t SET v = 'e', fence = 51 WHERE id = 2 RETURNING *;
-- renamed, moved: the column, the table, the schema (trap 30)
ALTER TABLE t RENAME fence TO "Version";
UPDATE t SET v = 'x', "Version" = 49 WHERE id = 2;
UPDATE t SET v = 'x' WHERE id = 2;
ALTER TABLE t RENAME TO renamed;
UPDATE renamed SET "Version" = 49 WHERE id = 2;
CREATE SCHEMA other;
ALTER TABLE renamed SET SCHEMA other;
UPDATE other.renamed SET "Version" = 49 WHERE id = 2;
ALTER SCHEMA other RENAME TO elsewhere;
UPDATE elsewhere.renamed SET "Version" = 49 WHERE id = 2;
SELECT rel, fence_column, enabled, truncate_enabled FROM fencing.protected_tables;
SELECT fencing.protect('elsewhere.renamed', on_stale => 'skip');
UPDATE elsewhere.renamed SET "Version" = 49 WHERE id = 2 RETURNING *;
SELECT fencing.protect('elsewhere.renamed', on_stale => 'error');
-- rewritten
ALTER TABLE elsewhere.renamed ALTER c TYPE text;
VACUUM FULL elsewhere.renamed;
UPDATE elsewhere.renamed SET "Version" = 49 WHERE id = 2;
-- the type changed away: writes are refused, never let through
ALTER TABLE elsewhere.renamed ALTER "Version" DROP DEFAULT, ALTER "Version" TYPE bigint;
UPDATE elsewhere.renamed SET "Version" = 49 WHERE id = 2;
INSERT INTO elsewhere.renamed VALUES (3, 'x', 1);
DELETE FROM elsewhere.renamed;
TRUNCATE elsewhere.renamed;
SELECT rel, fence_column, enabled FROM fencing.protected_tables;
ALTER TABLE elsewhere.renamed ALTER "Version" TYPE fencing.fence;
UPDATE elsewhere.renamed SET "Version" = 49 WHERE id = 2;
-- dropped: the same
ALTER TABLE elsewhere.renamed DROP "Version";
UPDATE elsewhere.renamed SET v = 'x';
SELECT fencing.protect('elsewhere.renamed');
UPDATE elsewhere.renamed SET v = 'x', fence = 1 WHERE id = 2 RETURNING *;
-- NOT NULL taken off makes no difference
ALTER TABLE elsewhere.renamed ALTER fence DROP NOT NULL;
UPDATE elsewhere.renamed SET fence = NULL WHERE id = 2;
-- a copy of the definition is no protection, and is shown as such
CREATE TABLE copy (LIKE elsewhere.renamed INCLUDING ALL);
SELECT rel, fence_column, enabled FROM fencing.protected_tables ORDER BY rel::text;
CREATE TABLE as_select AS SELECT * FROM elsewhere.renamed;
SELECT rel, fence_column, enabled, truncate_enabled FROM fencing.protected_tables ORDER BY rel::text;
-- a resource column renamed: refused until the guard is told
CREATE TABLE bound (id int, account text);
SELECT fencing.protect('bound', resource_column => 'account');
INSERT INTO bound VALUES (1, NULL);
ALTER TABLE bound RENAME account TO konto;
INSERT INTO bound VALUES (1, NULL);
UPDATE bound SET id = 2;
DELETE FROM bound;
TRUNCATE bound;
SELECT fencing.protect('bound', resource_column => 'konto');
UPDATE bound SET id = 2;
ALTER TABLE bound DROP konto;
UPDATE bound SET id = 3;
-- a table of many columns, toasted values, defaults
CREATE TABLE wide (id int, big text);
ALTER TABLE wide ALTER big SET STORAGE EXTERNAL;
SELECT fencing.protect('wide');
INSERT INTO wide VALUES (1, repeat('x', 20000), 1);
UPDATE wide SET fence = 2 RETURNING length(big), fence;
UPDATE wide SET fence = 1;
BEGIN; SELECT fencing.present(3); UPDATE wide SET id = 2; COMMIT;
SELECT length(big), fence FROM wide;
DROP SCHEMA elsewhere CASCADE;
