\i sql/include/fresh.psql
-- attach and detach (trap 27): a protected table keeps its own guard beside its parent's
CREATE TABLE p (id int, region text) PARTITION BY LIST (region);
SELECT fencing.protect('p');
CREATE TABLE a (id int, region text);
SELECT fencing.protect('a');
INSERT INTO a VALUES (1, 'a', 100);
-- a protected table
ALTER TABLE p ATTACH PARTITION a FOR VALUES IN ('a');
SELECT rel, enabled, truncate_enabled FROM fencing.protected_tables ORDER BY rel::text;
UPDATE p SET id = 2, fence = 99;
UPDATE p SET id = 2, fence = 101 RETURNING *;
-- with options of its own
CREATE TABLE b (fence fencing.fence NOT NULL DEFAULT 0, id int, region text);
SELECT fencing.protect('b', on_stale => 'skip');
INSERT INTO b VALUES (100, 1, 'b');
ALTER TABLE p ATTACH PARTITION b FOR VALUES IN ('b');
SELECT rel, on_stale, enabled, truncate_enabled FROM fencing.protected_tables ORDER BY rel::text;
UPDATE p SET id = 2, fence = 99 WHERE region = 'b';
-- an unprotected one takes over the parent's guard
CREATE TABLE c (id int, region text, fence fencing.fence NOT NULL DEFAULT 0);
INSERT INTO c VALUES (1, 'c', 100);
ALTER TABLE p ATTACH PARTITION c FOR VALUES IN ('c');
SELECT rel, enabled, truncate_enabled FROM fencing.protected_tables ORDER BY rel::text;
UPDATE p SET id = 2, fence = 99 WHERE region = 'c';
SELECT fencing.protect('p');
SELECT rel, on_stale, enabled, truncate_enabled FROM fencing.protected_tables ORDER BY rel::text;
-- detached: shown as what it is
ALTER TABLE p DETACH PARTITION a;
ALTER TABLE p DETACH PARTITION c;
SELECT rel, enabled, truncate_enabled FROM fencing.protected_tables ORDER BY rel::text;
SELECT fencing.protect('a');
UPDATE a SET fence = 99;
ALTER TABLE p ATTACH PARTITION a FOR VALUES IN ('a');
UPDATE p SET id = 3, fence = 99 WHERE region = 'a';
ALTER TABLE p DETACH PARTITION a;
SELECT rel, enabled, truncate_enabled FROM fencing.protected_tables ORDER BY rel::text;
-- rows from and to an unprotected partition, of a parent that is not protected itself
CREATE TABLE q (id int, region text, fence fencing.fence NOT NULL DEFAULT 0) PARTITION BY LIST (region);
CREATE TABLE q_yes PARTITION OF q FOR VALUES IN ('yes');
CREATE TABLE q_no PARTITION OF q FOR VALUES IN ('no');
SELECT fencing.protect('q_yes');
SELECT rel, enabled FROM fencing.protected_tables WHERE rel::text LIKE 'q%' ORDER BY rel::text;
INSERT INTO q VALUES (1, 'yes', 100), (2, 'no', 100);
UPDATE q SET region = 'no', fence = 99 WHERE id = 1;
UPDATE q SET region = 'no' WHERE id = 1;
UPDATE q SET region = 'no', fence = 101 WHERE id = 1 RETURNING tableoid::regclass, *;
UPDATE q SET region = 'yes', fence = 50 WHERE id = 1 RETURNING tableoid::regclass, *;
BEGIN; SELECT fencing.present(60); UPDATE q SET region = 'no' WHERE id = 1 RETURNING tableoid::regclass, *; COMMIT;
BEGIN; SELECT fencing.present(60); UPDATE q SET region = 'yes' WHERE id = 1 RETURNING tableoid::regclass, *; ROLLBACK;
-- a protected partitioned table, attached as a whole
CREATE TABLE top (id int, region text) PARTITION BY LIST (region);
SELECT fencing.protect('top');
CREATE TABLE sub (id int, region text) PARTITION BY LIST (id);
CREATE TABLE sub_1 PARTITION OF sub FOR VALUES IN (1);
SELECT fencing.protect('sub');
ALTER TABLE top ATTACH PARTITION sub FOR VALUES IN ('a');
INSERT INTO top VALUES (1, 'a', 100);
UPDATE top SET fence = 99;
UPDATE sub SET fence = 101 RETURNING *;
SELECT rel, enabled FROM fencing.protected_tables WHERE rel::text ~ 'top|sub' ORDER BY rel::text;
-- two guards, and rows that move between them
CREATE TABLE m (id int, region text) PARTITION BY LIST (region);
SELECT fencing.protect('m');
CREATE TABLE m_a (id int, region text);
CREATE TABLE m_b (id int, region text);
SELECT fencing.protect('m_a'), fencing.protect('m_b', on_stale => 'warn');
ALTER TABLE m ATTACH PARTITION m_a FOR VALUES IN ('a');
ALTER TABLE m ATTACH PARTITION m_b FOR VALUES IN ('b');
INSERT INTO m VALUES (1, 'a', 100);
UPDATE m SET region = 'b', fence = 99;
UPDATE m SET region = 'b', fence = 101 RETURNING tableoid::regclass, *;
BEGIN; SELECT fencing.present(102); UPDATE m SET region = 'a' RETURNING tableoid::regclass, *; COMMIT;
UPDATE m SET region = 'b', fence = fence RETURNING tableoid::regclass, *;
-- the fence that a row brings along from an unprotected partition is no token of the statement
CREATE TABLE half (id int, r int, v text, fence fencing.fence NOT NULL DEFAULT 0) PARTITION BY LIST (r);
CREATE TABLE half_1 PARTITION OF half FOR VALUES IN (1);
CREATE TABLE half_2 PARTITION OF half FOR VALUES IN (2);
SELECT fencing.protect('half_2');
INSERT INTO half VALUES (1, 1, 'a', 10), (2, 1, 'a', 10), (3, 1, 'a', 10);
BEGIN; SELECT fencing.present(11); UPDATE half SET r = 2 WHERE id = 1 RETURNING *; COMMIT;
BEGIN; SELECT fencing.present(9); UPDATE half SET r = 2 WHERE id = 2; COMMIT;
UPDATE half SET r = 2 WHERE id = 3 RETURNING *;
-- two guards: one that warns does not launder a stale row for the other
CREATE TABLE strict (id int, region text, v text) PARTITION BY LIST (region);
SELECT fencing.protect('strict');
CREATE TABLE lax (id int, region text, v text);
SELECT fencing.protect('lax', on_stale => 'warn');
INSERT INTO lax VALUES (1, 'a', 'good', 100);
ALTER TABLE strict ATTACH PARTITION lax FOR VALUES IN ('a');
UPDATE strict SET v = 'stale', fence = 50;
SELECT fencing.protect('strict', on_stale => 'skip');
UPDATE strict SET v = 'stale', fence = 50;
CREATE TABLE alone (id int, v text);
SELECT fencing.protect('alone');
INSERT INTO alone VALUES (1, 'good', 100);
CREATE TRIGGER a BEFORE UPDATE ON alone FOR EACH ROW EXECUTE FUNCTION fencing.guard('on_stale=warn');
UPDATE alone SET v = 'stale', fence = 50;
ALTER TABLE alone DISABLE TRIGGER "~~fencing_guard";
UPDATE alone SET v = 'warned', fence = 50 RETURNING *;
-- a guard that a partition, or a child, has of its own stays, and what it guards
CREATE TABLE bound_part (id int, region text, tenant text) PARTITION BY LIST (region);
SELECT fencing.protect('bound_part');
CREATE TABLE bound_a (id int, region text, tenant text);
SELECT fencing.protect('bound_a', resource_column => 'tenant');
ALTER TABLE bound_part ATTACH PARTITION bound_a FOR VALUES IN ('a');
CREATE TABLE bound_b PARTITION OF bound_part FOR VALUES IN ('b');
SELECT token AS old FROM fencing.acquire('t', holder => 'h') \gset
SELECT token FROM fencing.acquire('t', holder => 'h');
SELECT fencing.protect('bound_part');
INSERT INTO bound_part VALUES (1, 'a', 't', :old);
SELECT rel, truncate_enabled FROM fencing.protected_tables WHERE rel::text LIKE 'bound_%' ORDER BY rel::text;
SELECT fencing.unprotect('bound_part');
INSERT INTO bound_part VALUES (1, 'a', 't', :old);
ALTER TABLE bound_part DETACH PARTITION bound_a;
SELECT rel, resource_column, enabled FROM fencing.protected_tables WHERE rel::text LIKE 'bound_%' ORDER BY rel::text;
CREATE TABLE family (id int);
CREATE TABLE like_it () INHERITS (family);
CREATE TABLE unlike_it () INHERITS (family);
SELECT fencing.protect('family');
SELECT fencing.protect('unlike_it', require_present => true);
SELECT fencing.protect('family', on_stale => 'skip');
SELECT rel, on_stale, require_present FROM fencing.protected_tables WHERE rel IN ('family'::regclass, 'like_it', 'unlike_it') ORDER BY rel::text;
-- a warning heeds what fires, and changes rows, alone
CREATE TABLE heeding (id int, v text);
SELECT fencing.protect('heeding', on_stale => 'warn');
INSERT INTO heeding VALUES (1, 'v', 10);
CREATE TRIGGER g BEFORE DELETE ON heeding FOR EACH ROW EXECUTE FUNCTION fencing.guard();
UPDATE heeding SET v = 'warned' RETURNING *;
CREATE TRIGGER h BEFORE UPDATE ON heeding FOR EACH ROW EXECUTE FUNCTION fencing.guard();
ALTER TABLE heeding ENABLE REPLICA TRIGGER h;
UPDATE heeding SET v = 'again' RETURNING *;
ALTER TABLE heeding ENABLE ALWAYS TRIGGER h;
UPDATE heeding SET v = 'refused';
-- a move with a warning is none for a partition that does not warn
CREATE TABLE mixed (id int, k int, v text, r text, fence fencing.fence NOT NULL DEFAULT 0) PARTITION BY LIST (k);
CREATE TABLE mixed_1 PARTITION OF mixed FOR VALUES IN (1);
CREATE TABLE mixed_2 PARTITION OF mixed FOR VALUES IN (2);
CREATE TABLE mixed_3 PARTITION OF mixed FOR VALUES IN (3);
SELECT fencing.protect('mixed_1', on_stale => 'warn'), fencing.protect('mixed_2'), fencing.protect('mixed_3', resource => 'm');
SELECT token FROM fencing.acquire('m') \gset m
INSERT INTO mixed VALUES (1, 1, 'x', NULL, 9);
BEGIN; SELECT fencing.present(5); UPDATE mixed SET k = 2, v = 'stale'; ROLLBACK;
UPDATE mixed SET k = 2, v = 'stale';
UPDATE mixed SET k = 2, v = 'stale', fence = 5;
UPDATE mixed SET k = 2, v = 'moved', fence = 9 RETURNING fence;
UPDATE mixed SET k = 1 WHERE fence = fencing.present(9);
BEGIN; SELECT fencing.present(10); UPDATE mixed SET k = 2, v = 'conflict', fence = 8; ROLLBACK;
BEGIN; SELECT fencing.present(10); UPDATE mixed SET k = 2, v = 'conflict', fence = 12; ROLLBACK;
UPDATE mixed SET k = 3, v = 'stale';
SELECT tableoid::regclass, * FROM mixed;
-- a move between partitions of different leases is a change of the resource
CREATE TABLE shards (id int, k int, v text, fence fencing.fence NOT NULL DEFAULT 0) PARTITION BY LIST (k);
CREATE TABLE shard_1 PARTITION OF shards FOR VALUES IN (1);
CREATE TABLE shard_2 PARTITION OF shards FOR VALUES IN (2);
SELECT fencing.protect('shard_1', resource => 's1'), fencing.protect('shard_2', resource => 's2');
SELECT token FROM fencing.acquire('s2') \gset low
SELECT token FROM fencing.acquire('s1') \gset high
INSERT INTO shards VALUES (1, 1, 'old', :hightoken);
BEGIN; SELECT fencing.hold('s1', :hightoken); UPDATE shards SET k = 2, v = 'taken by none'; ROLLBACK;
BEGIN; SELECT fencing.hold('s2', :lowtoken); UPDATE shards SET k = 2, v = 'let go by none'; ROLLBACK;
UPDATE shards SET k = 2, v = 'one token', fence = :lowtoken;
BEGIN;
SELECT fencing.hold('s1', :hightoken), fencing.hold('s2', :lowtoken);
UPDATE shards SET k = 2, v = 'moved' RETURNING v, fence;
MERGE INTO shards USING (VALUES (1)) w (i) ON id = i WHEN MATCHED THEN UPDATE SET k = 1, v = 'back';
TABLE shards;
COMMIT;
-- where several guards warn of a row that arrives, none takes it for a new one
CREATE TABLE twice (id int, k int, fence fencing.fence NOT NULL DEFAULT 0) PARTITION BY LIST (k);
CREATE TABLE twice_1 PARTITION OF twice FOR VALUES IN (1);
CREATE TABLE twice_2 PARTITION OF twice FOR VALUES IN (2);
SELECT fencing.protect('twice_2', on_stale => 'warn', resource => 's1');
SELECT fencing.protect('twice', on_stale => 'warn', resource => 's1');
BEGIN; SET LOCAL session_replication_role = replica; INSERT INTO twice VALUES (1, 1, 9000000000); COMMIT;
BEGIN;
SELECT fencing.hold('s1', :hightoken);
MERGE INTO twice USING (VALUES (1)) w (i) ON id = i WHEN MATCHED THEN UPDATE SET k = 2;
SELECT tableoid::regclass, * FROM twice;
COMMIT;
-- a partition's own guard can be changed, and is what protect() of it means
CREATE TABLE tree (id int, k int, l int) PARTITION BY LIST (k);
SELECT fencing.protect('tree');
CREATE TABLE branch (id int, k int, l int) PARTITION BY LIST (l);
SELECT fencing.protect('branch', on_stale => 'skip');
ALTER TABLE tree ATTACH PARTITION branch FOR VALUES IN (1);
CREATE TABLE leaf PARTITION OF branch FOR VALUES IN (1);
SELECT fencing.protect('branch', resource => 'm');
SELECT rel, truncate_enabled FROM fencing.protected_tables WHERE rel = 'leaf'::regclass;
-- TRUNCATE is judged by all that guards the rows
BEGIN; SELECT fencing.present(:mtoken); INSERT INTO tree VALUES (1, 1, 1); COMMIT;
SELECT fencing.release('m', :mtoken);
BEGIN; SELECT fencing.present(:mtoken); TRUNCATE tree; ROLLBACK;
-- what the parent guards stays guarded against TRUNCATE too
SELECT fencing.unprotect('branch');
SELECT rel, on_stale, enabled, truncate_enabled FROM fencing.protected_tables WHERE rel IN ('branch'::regclass, 'leaf') ORDER BY rel::text;
TRUNCATE leaf;
SELECT fencing.unprotect('leaf');
CREATE TABLE bound_top (id int, k int) PARTITION BY LIST (k);
SELECT fencing.protect('bound_top', resource => 'n');
CREATE TABLE unbound_part (id int, k int);
SELECT fencing.protect('unbound_part', on_stale => 'skip');
ALTER TABLE bound_top ATTACH PARTITION unbound_part FOR VALUES IN (1);
SELECT token FROM fencing.acquire('n', holder => 'h') \gset n
INSERT INTO bound_top VALUES (1, 1, :ntoken);
SELECT fencing.release('n', :ntoken);
SELECT granted FROM fencing.acquire('n', holder => 'h');
BEGIN; SELECT fencing.present(:ntoken); TRUNCATE bound_top; ROLLBACK;
