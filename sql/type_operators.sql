\i sql/include/fresh.psql
CREATE TABLE t (id int, f fencing.fence NOT NULL, other bigint);
INSERT INTO t SELECT i, i % 7, i % 5 FROM generate_series(1, 100) i;
-- comparison with every integer type, both ways around, and with itself
SELECT f < 3::int2, f <= 3, f = 3::int8, f <> '3', f >= '3', f > f, 3 < f, 3::int2 >= f, other <= f, f BETWEEN 1 AND 3, f IN (1, 2, 3), f IS DISTINCT FROM 3
FROM t WHERE id = 3;
SELECT f = ANY ('{1,2,3}'), f = ANY (ARRAY[1,2,3]), f = ANY (ARRAY[3]::bigint[]), f = ANY (ARRAY[3]::fencing.fence[]), f = ANY ('{3}'::int2[]), f <> ALL ('{1,2}')
FROM t WHERE id = 3;
-- order, groups, minimum and maximum
SELECT DISTINCT f FROM t ORDER BY f DESC;
SELECT f, count(*) FROM t GROUP BY f HAVING f >= 5 ORDER BY f;
SELECT min(f), max(f), count(DISTINCT f), sum(f), greatest(f, 3::bigint) FROM t WHERE id = 4 GROUP BY f;
SELECT min(f), max(f) FROM t;
SELECT f FROM t WHERE id < 4 UNION SELECT other FROM t WHERE id < 4 ORDER BY 1;
SELECT f FROM t WHERE id < 10 EXCEPT SELECT f FROM t WHERE f > 2 ORDER BY 1;
SELECT count(*) FROM t a JOIN t b USING (f) WHERE a.id < 8 AND b.id < 8;
SELECT count(*) FROM t a JOIN t b ON a.f = b.other WHERE a.id < 8 AND b.id < 8;
SELECT id, rank() OVER (ORDER BY f), lag(f) OVER (PARTITION BY f ORDER BY id) FROM t WHERE id IN (1, 2, 8) ORDER BY id;
-- arrays, rows, ranges of it, JSON
SELECT '{1,0x2,3}'::fencing.fence[], ARRAY[1, 2]::fencing.fence[], array_agg(f ORDER BY f) FROM t WHERE id < 4;
SELECT '{1,-2}'::fencing.fence[];
SELECT ROW (f, other) < ROW (4::fencing.fence, 0) FROM t WHERE id = 3;
SELECT to_jsonb(f), row_to_json(t) FROM t WHERE id = 3;
SELECT f FROM jsonb_populate_record(NULL::t, '{"f": 12}');
SELECT f FROM jsonb_to_record('{"f": "0xc"}') AS r (f fencing.fence);
-- hash, merge and nested loop
SET enable_hashjoin = off; SET enable_nestloop = off;
SELECT count(*) FROM t a JOIN t b USING (f);
RESET enable_hashjoin; SET enable_mergejoin = off;
SELECT count(*) FROM t a JOIN t b USING (f);
