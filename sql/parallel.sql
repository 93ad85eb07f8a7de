\i sql/include/fresh.psql
-- parallel plans: what is read may be, what is guarded is not
CREATE TABLE t (id int PRIMARY KEY, v int);
SELECT fencing.protect('t');
CREATE TABLE big (id int, v int);
INSERT INTO big SELECT g, g FROM generate_series(1, 20000) g;
ANALYZE big;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
INSERT INTO t SELECT id, v, 100 FROM big WHERE v % 1000 = 0;
UPDATE t SET v = s.v, fence = 101 FROM (SELECT id, sum(v) AS v FROM big GROUP BY id) s WHERE s.id = t.id;
UPDATE t SET v = s.v, fence = 100 FROM (SELECT id, sum(v) AS v FROM big GROUP BY id) s WHERE s.id = t.id;
UPDATE t SET v = s.v FROM (SELECT id, sum(v) AS v FROM big GROUP BY id) s WHERE s.id = t.id;
BEGIN;
SELECT fencing.present(102);
DELETE FROM t WHERE id IN (SELECT id FROM big WHERE v > 10000);
SELECT count(*), max(fence) FROM t;
COMMIT;
-- present() in a statement keeps it serial
DELETE FROM t WHERE fence <= fencing.present(103) AND id IN (SELECT id FROM big);
SELECT count(*) FROM t;
-- and so do hold() and acquire()
SELECT granted, token FROM big, LATERAL fencing.acquire('r' || big.id) WHERE v = 1;
-- also where somebody says that they are safe: a worker's commit would forget them
SELECT granted, token FROM fencing.acquire('r');
CREATE FUNCTION claims(call text) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS 'DECLARE n bigint; BEGIN EXECUTE call INTO n; RETURN n; END';
SELECT count(*) FROM big WHERE claims('SELECT fencing.hold(''r'', 1)') = id;
SELECT count(*) FROM big WHERE claims('SELECT fencing.present(1)') = id;
SELECT count(*) FROM big WHERE claims('SELECT fencing.release(''r'', 1)::int') = id;
CREATE FUNCTION presented_there() RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN fencing.presented(); END';
SELECT count(*) FROM big WHERE presented_there() = id;
