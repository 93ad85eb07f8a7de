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
