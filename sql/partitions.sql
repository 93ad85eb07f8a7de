\i sql/include/fresh.psql
-- partitions with a column order each
CREATE TABLE p (id int, region text, v text) PARTITION BY LIST (region);
CREATE TABLE p_a PARTITION OF p FOR VALUES IN ('a');
CREATE TABLE p_b (v text, dropped int, region text, id int);
ALTER TABLE p_b DROP dropped;
ALTER TABLE p ATTACH PARTITION p_b FOR VALUES IN ('b');
CREATE TABLE p_sub PARTITION OF p FOR VALUES IN ('c', 'd') PARTITION BY RANGE (id);
CREATE TABLE p_sub_1 PARTITION OF p_sub FOR VALUES FROM (0) TO (100);
SELECT fencing.protect('p');
CREATE TABLE p_late PARTITION OF p FOR VALUES IN ('e');
SELECT rel, enabled, truncate_enabled FROM fencing.protected_tables ORDER BY rel::text;
INSERT INTO p VALUES (1, 'a', 'v', 100), (2, 'b', 'v', 100), (3, 'c', 'v', 100), (5, 'e', 'v', 100);
UPDATE p SET v = 'x', fence = 99 WHERE id = 1;
UPDATE p SET v = 'x', fence = 99 WHERE id = 2;
UPDATE p SET v = 'x', fence = 99 WHERE id = 3;
UPDATE p SET v = 'x' WHERE id = 5;
UPDATE p_b SET v = 'x', fence = 99;
UPDATE p_sub_1 SET v = 'x';
DELETE FROM p WHERE id = 2;
DELETE FROM p_sub WHERE id = 3;
UPDATE p SET v = 'y', fence = 101 RETURNING *;
-- the options of a partition are the parent's; called again, protect() mends the late one
SELECT fencing.protect('p_a', on_stale => 'skip');
SELECT fencing.protect('p', on_stale => 'skip');
SELECT rel, on_stale, enabled, truncate_enabled FROM fencing.protected_tables ORDER BY rel::text;
UPDATE p SET v = 'x', fence = 99 RETURNING *;
SELECT fencing.protect('p', on_stale => 'error');
-- TRUNCATE of one, and of all
TRUNCATE p_a;
TRUNCATE p;
TRUNCATE p_sub;
BEGIN; SELECT fencing.present(101); TRUNCATE p_a; SELECT count(*) FROM p; TRUNCATE p; SELECT count(*) FROM p; ROLLBACK;
BEGIN; SELECT fencing.present(100); TRUNCATE p; ROLLBACK;
-- rows that move: one UPDATE, whose DELETE and INSERT carry its token
UPDATE p SET region = 'b' WHERE id = 1;
UPDATE p SET region = 'b', fence = 100 WHERE id = 1;
UPDATE p SET region = 'b', fence = 102 WHERE id = 1 RETURNING tableoid::regclass, *;
UPDATE p SET region = 'c', fence = fence WHERE id = 1 RETURNING tableoid::regclass, *;
BEGIN; SELECT fencing.present(103); UPDATE p SET region = 'a' WHERE id = 1 RETURNING tableoid::regclass, *; COMMIT;
BEGIN; SELECT fencing.present(102); UPDATE p SET region = 'b' WHERE id = 1; ROLLBACK;
BEGIN; SELECT fencing.present(104); UPDATE p SET region = 'b', fence = 105 WHERE id = 1; ROLLBACK;
UPDATE p SET region = CASE region WHEN 'a' THEN 'b' WHEN 'b' THEN 'a' ELSE region END, fence = 200 RETURNING tableoid::regclass, *;
UPDATE p SET region = 'nowhere', fence = 200 WHERE id = 1;
-- an unfenced row moves without a token
INSERT INTO p VALUES (9, 'a', 'unfenced');
UPDATE p SET region = 'b' WHERE id = 9 RETURNING tableoid::regclass, *;
-- the mark of a move does not outlive it: the same row version, deleted by itself
BEGIN;
UPDATE p SET region = 'nowhere', fence = 200 WHERE id = 1;
ROLLBACK;
DELETE FROM p WHERE id = 1;
WITH u AS (UPDATE p SET fence = 200 WHERE id = 1 RETURNING id) DELETE FROM p USING u WHERE p.id = 2;
DELETE FROM p WHERE fence <= fencing.present(200) AND id = 1 RETURNING *;
-- skip and a move
SELECT fencing.protect('p', on_stale => 'skip');
UPDATE p SET region = 'e', fence = 1 WHERE id = 2 RETURNING *;
SELECT tableoid::regclass, * FROM p ORDER BY id;
SELECT fencing.protect('p', on_stale => 'warn');
UPDATE p SET region = 'e', fence = 1 WHERE id = 2 RETURNING tableoid::regclass, *;
SELECT fencing.protect('p', on_stale => 'error');
-- MERGE that moves rows
MERGE INTO p USING (VALUES (2, 'b')) s (id, region) ON p.id = s.id WHEN MATCHED THEN UPDATE SET region = s.region;
MERGE INTO p USING (VALUES (2, 'b')) s (id, region) ON p.id = s.id WHEN MATCHED THEN UPDATE SET region = s.region, fence = 201;
SELECT tableoid::regclass, * FROM p WHERE id = 2;
-- a guard of the partition alone, and unprotect
SELECT fencing.unprotect('p');
SELECT rel, on_stale, enabled, truncate_enabled FROM fencing.protected_tables ORDER BY rel::text;
UPDATE p SET v = 'free' WHERE id = 2 RETURNING v;
-- a row that is moved without a token is warned of once, and its key is not taken for vacated
CREATE TABLE warned (id int, part int, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE warned_1 PARTITION OF warned FOR VALUES IN (1);
CREATE TABLE warned_2 PARTITION OF warned FOR VALUES IN (2);
SELECT fencing.protect('warned', on_stale => 'warn', remember_deleted => true);
INSERT INTO warned VALUES (1, 1, 5);
UPDATE warned SET part = 2 WHERE id = 1;
SELECT tableoid::regclass, fence FROM warned;
-- a trigger of the destination does not lower the fence that a row was let go with
CREATE TABLE moved (id int, region text) PARTITION BY LIST (region);
CREATE TABLE moved_a PARTITION OF moved FOR VALUES IN ('a');
CREATE TABLE moved_b PARTITION OF moved FOR VALUES IN ('b');
SELECT fencing.protect('moved');
CREATE FUNCTION lower_fence() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.fence := 0; RETURN NEW; END';
CREATE TRIGGER lower BEFORE INSERT ON moved_b FOR EACH ROW EXECUTE FUNCTION lower_fence();
INSERT INTO moved VALUES (1, 'a', 100), (2, 'a', 100);
UPDATE moved SET region = 'b', fence = 101 WHERE id = 1;
MERGE INTO moved USING (VALUES (1)) s (id) ON moved.id = s.id WHEN MATCHED THEN UPDATE SET region = 'b', fence = 101;
WITH u AS (UPDATE moved SET region = 'b', fence = 101 WHERE id = 1 RETURNING 1) SELECT count(*) FROM u;
-- nor does one that moves other rows on the way
DROP TRIGGER lower ON moved_b;
CREATE TABLE other (LIKE moved) PARTITION BY LIST (region);
CREATE TABLE other_a PARTITION OF other FOR VALUES IN ('a');
CREATE TABLE other_b PARTITION OF other FOR VALUES IN ('b');
SELECT fencing.protect('other');
INSERT INTO other VALUES (1, 'a', 7);
CREATE FUNCTION move_other() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE other SET region = 'b', fence = 8;
	NEW.fence := 8;
	RETURN NEW;
END $$;
CREATE TRIGGER move_other BEFORE INSERT ON moved_b FOR EACH ROW EXECUTE FUNCTION move_other();
UPDATE moved SET region = 'b', fence = 101 WHERE id = 1;
DROP TRIGGER move_other ON moved_b;
UPDATE moved SET region = 'b', fence = 101 WHERE id = 1 RETURNING *;
SELECT tableoid::regclass, * FROM moved ORDER BY id;
SELECT tableoid::regclass, * FROM other;
-- skip cannot leave out a row on its way: the DELETE has been done
CREATE TABLE floored (k int PRIMARY KEY) PARTITION BY LIST (k);
CREATE TABLE floored_1 PARTITION OF floored FOR VALUES IN (1);
CREATE TABLE floored_2 PARTITION OF floored FOR VALUES IN (2);
SELECT fencing.protect('floored', on_stale => 'skip', remember_deleted => true);
INSERT INTO floored VALUES (1, 5), (2, 9);
BEGIN; SELECT fencing.present(9); TRUNCATE floored_2; COMMIT;
UPDATE floored SET k = 2, fence = 6;
MERGE INTO floored USING (VALUES (1)) s (k) ON floored.k = s.k WHEN MATCHED THEN UPDATE SET k = 2, fence = 6;
WITH u AS (UPDATE floored SET k = 2, fence = 6 RETURNING 1) SELECT count(*) FROM u;
DO $$ BEGIN UPDATE floored SET k = 2, fence = 6; END $$;
-- but an INSERT is left out
INSERT INTO floored VALUES (2, 6);
WITH i AS (INSERT INTO floored VALUES (2, 6) RETURNING 1) SELECT count(*) FROM i;
COPY floored FROM stdin;
2	6
\.
MERGE INTO floored USING (VALUES (2)) s (k) ON floored.k = s.k WHEN NOT MATCHED THEN INSERT VALUES (2, 6);
SELECT tableoid::regclass, * FROM floored;
-- a row whose arrival a trigger prevents leaves nothing to others of the statement
CREATE FUNCTION prevent() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER prevent BEFORE INSERT ON moved_b FOR EACH ROW EXECUTE FUNCTION prevent();
CREATE TABLE bystander (id int);
SELECT fencing.protect('bystander');
WITH u AS (UPDATE moved SET region = 'b', fence = 200 WHERE id = 2) INSERT INTO bystander VALUES (1, 3) RETURNING *;
DROP TRIGGER prevent ON moved_b;
-- a moved row that was warned of is warned of once, also under a token that is presented
SELECT fencing.protect('moved', on_stale => 'warn');
BEGIN;
SELECT fencing.present(50);
UPDATE moved SET region = 'a' WHERE id = 1 RETURNING *;
COMMIT;
-- each key is remembered with what was left under it
CREATE TABLE left_with (id int, k int, PRIMARY KEY (id, k)) PARTITION BY LIST (k);
CREATE TABLE left_with_1 PARTITION OF left_with FOR VALUES IN (1);
CREATE TABLE left_with_2 PARTITION OF left_with FOR VALUES IN (2);
SELECT fencing.protect('left_with', on_stale => 'warn', remember_deleted => true);
INSERT INTO left_with VALUES (1, 2, 20), (1, 1, 9);
DELETE FROM left_with WHERE fencing.present(20) = 20 AND k = 2;
UPDATE left_with SET k = 2, fence = 10 RETURNING *;
SELECT fencing.protect('left_with', on_stale => 'error');
INSERT INTO left_with VALUES (1, 1, 9);
INSERT INTO left_with VALUES (1, 1, 11) RETURNING *;
-- skip, and another table that is updated
CREATE TABLE plain (x int);
INSERT INTO plain VALUES (1);
WITH u AS (UPDATE plain SET x = 2 RETURNING x) INSERT INTO floored SELECT x, 6 FROM u;
SELECT tableoid::regclass, * FROM floored;
-- also a warned row that a trigger lowers as it arrives
CREATE TRIGGER lower BEFORE INSERT ON moved_b FOR EACH ROW EXECUTE FUNCTION lower_fence();
BEGIN; SELECT fencing.present(6); UPDATE moved SET region = 'b' WHERE id = 1 RETURNING *; COMMIT;
-- a row that arrives where no guard sees it is not taken for the next one that comes in
CREATE TABLE half (id int, part int, fence fencing.fence NOT NULL DEFAULT 0) PARTITION BY LIST (part);
CREATE TABLE half_1 PARTITION OF half FOR VALUES IN (1);
CREATE TABLE half_2 PARTITION OF half FOR VALUES IN (2);
SELECT fencing.protect('half_1');
INSERT INTO half VALUES (1, 1, 100), (2, 2, 50);
BEGIN; SELECT fencing.present(600); UPDATE half SET part = 3 - part RETURNING id, part, fence; ROLLBACK;
WITH u AS (UPDATE half SET part = 2, fence = 500 WHERE id = 1 RETURNING 1)
INSERT INTO half SELECT 7, 1, 300 FROM (SELECT count(*) FROM u) c RETURNING id, part, fence;
-- nor one that a trigger leaves out
SELECT fencing.protect('half');
CREATE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER leave_out BEFORE INSERT ON half_2 FOR EACH ROW EXECUTE FUNCTION leave_out();
WITH u AS (UPDATE half SET part = 2, fence = 500 WHERE id = 7 RETURNING 1)
INSERT INTO half SELECT 8, 1, 300 FROM (SELECT count(*) FROM u) c RETURNING id, part, fence;
-- a fence that is computed, as of a partition that 15 lets in
CREATE TABLE computed (id int, fence fencing.fence NOT NULL GENERATED ALWAYS AS (0::bigint::fencing.fence) STORED);
CREATE TRIGGER guarded BEFORE INSERT OR UPDATE OR DELETE ON computed FOR EACH ROW EXECUTE FUNCTION fencing.guard();
INSERT INTO computed VALUES (1);
-- rows that are routed take no memory till the end of the statement
CREATE TABLE routed (id int, part int, v text) PARTITION BY LIST (part);
CREATE TABLE routed_1 PARTITION OF routed FOR VALUES IN (1);
SELECT fencing.protect('routed');
WITH i AS (INSERT INTO routed SELECT n, 1, repeat('x', 500), 9 FROM generate_series(1, 20000) n RETURNING fence)
SELECT count(*), min(fence), (SELECT sum(total_bytes) < 5000000 FROM pg_backend_memory_contexts WHERE name = 'ExecutorState') AS small FROM i;
