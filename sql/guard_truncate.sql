\i sql/include/fresh.psql
CREATE TABLE t (id int PRIMARY KEY, v text);
CREATE TABLE plain (id int);
CREATE TABLE child (id int REFERENCES t);
SELECT fencing.protect('t');
-- no row is fenced
INSERT INTO t VALUES (1, 'a');
TRUNCATE t CASCADE;
-- missing, stale, equal, higher
INSERT INTO t VALUES (1, 'a', 100), (2, 'b', 0);
TRUNCATE t, child;
BEGIN; SELECT fencing.present(99); TRUNCATE t, child; ROLLBACK;
BEGIN; SELECT fencing.present(100); TRUNCATE t, child; SELECT count(*) FROM t; ROLLBACK;
BEGIN; SELECT fencing.present(101); TRUNCATE t, child; SELECT count(*) FROM t; ROLLBACK;
-- of several tables, and by CASCADE of another
TRUNCATE plain, t, child;
SELECT fencing.protect('child');
INSERT INTO child VALUES (1, 50);
BEGIN; SELECT fencing.present(100); TRUNCATE t CASCADE; ROLLBACK;
INSERT INTO t VALUES (3, 'c', 10);
INSERT INTO child VALUES (3, 500);
BEGIN; SELECT fencing.present(100); TRUNCATE t CASCADE; ROLLBACK;
BEGIN; SELECT fencing.present(500); TRUNCATE t CASCADE; ROLLBACK;
-- a row cannot be left out, so that skip raises
SELECT fencing.protect('t', on_stale => 'skip'), fencing.protect('child', on_stale => 'skip');
BEGIN; SELECT fencing.present(99); TRUNCATE t CASCADE; ROLLBACK;
TRUNCATE t CASCADE;
-- warn lets it through
SELECT fencing.protect('t', on_stale => 'warn'), fencing.protect('child', on_stale => 'warn');
BEGIN; SELECT fencing.present(99); TRUNCATE child; SELECT count(*) FROM child; ROLLBACK;
SELECT count(*) FROM t;
-- require_present
CREATE TABLE strict (id int);
SELECT fencing.protect('strict', require_present => true);
TRUNCATE strict;
BEGIN; SELECT fencing.present(1); INSERT INTO strict VALUES (1); COMMIT;
TRUNCATE strict;
BEGIN; SELECT fencing.present(1); TRUNCATE strict; COMMIT;
-- the rows of this very transaction count, and those that it deleted do not
CREATE TABLE own (id int);
SELECT fencing.protect('own');
BEGIN; INSERT INTO own VALUES (1, 7); TRUNCATE own; ROLLBACK;
BEGIN; INSERT INTO own VALUES (1, 7); DELETE FROM own WHERE fencing.present(7) = 7; TRUNCATE own; COMMIT;
